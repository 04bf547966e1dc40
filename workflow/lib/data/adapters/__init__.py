"""Adapters convert published files to rows of the normalised kinds (see dataset_files.py).

An adapter is a module here with a function `table(files, entry, split, seed, rows) -> pa.Table`. A dataset with a new
layout needs a new adapter in ADAPTERS and a few lines in config/datasets.yaml. Only adapters that do not use every
source row need `rows`.
"""

import logging
from pathlib import Path

import pyarrow as pa

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.data.adapters import (
    conllu,
    edges,
    label_lines,
    prepositions,
    questions,
    relations,
    sentences,
    text,
    tree_edges,
)
from workflow.lib.data.adapters.choosing import drawn, sample
from workflow.lib.data.adapters.reading import first_line

log = logging.getLogger(__name__)

ADAPTERS = {
    "text": text.table,
    "sentences": sentences.table,
    "conllu": conllu.table,
    "prepositions": prepositions.table,
    "label_lines": label_lines.table,
    "questions": questions.table,
    "relations": relations.table,
    "edges": edges.table,
    "tree_edges": tree_edges.table,
}
CHECKS = {"conllu": conllu.check_line, "edges": edges.check_line}  # of files that users bring, before any job
SAMPLES_ITSELF = {"sentences"}  # adapters that choose their `rows` while reading
# probes must not use the same trees as a fine-tuned parser: description lengths are computed on training rows
TAKES_FROM_END = {"tree_edges"}


def adapt(files: list[Path], entry: dict, *, dataset: str, split: str, seed: int, rows: int | None) -> pa.Table:
    """A table of the entry's kind: a sample of `rows`, or all rows in the source's order (None)."""
    from datasets import Dataset

    name, wanted = entry["adapter"], entry["splits"][split]
    if name not in ADAPTERS:
        raise UserError(f"dataset {dataset}: unknown adapter '{name}'{nearest(name, list(ADAPTERS))}")
    table = ADAPTERS[name](files, entry, split, seed, rows)
    chosen = Dataset(table.combine_chunks(), fingerprint=f"{dataset}/{split}")  # else all bytes are hashed for one
    if "part" in wanted:
        chosen = chosen.select(range(len(chosen))[slice(*wanted["part"])])
    if "drawn" in wanted:
        chosen = drawn(chosen, **wanted["drawn"])
    if wanted.get("rows", len(chosen)) != len(chosen):
        message = (
            "dataset %s, split %s: %s rows found where the whole split has %s; a sample's numbers are not the paper's"
        )
        log.warning(message, dataset, split, f"{len(chosen):,}", f"{wanted['rows']:,}")
    if rows is not None and len(chosen) < rows:
        log.warning("dataset %s, split %s: %d rows asked for, %d there", dataset, split, rows, len(chosen))
    if rows is not None and name not in SAMPLES_ITSELF:
        chosen = sample(chosen, rows, seed, from_end=name in TAKES_FROM_END)
    return chosen.with_format("arrow")[:]


def check_beginning(file: Path, entry: dict) -> None:
    """Is its first line one of the entry's format?"""
    if entry["adapter"] in CHECKS:
        CHECKS[entry["adapter"]](file, *first_line(file), entry)
