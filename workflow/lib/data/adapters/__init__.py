"""From files as their publishers lay them out to rows of our kinds (see datasets.py).

An adapter is a module here with a function `table(files, entry, split, seed, rows) -> pa.Table`. A dataset of a new
layout needs one more of them in ADAPTERS and a few lines in config/datasets.yaml. `rows` matters only to those that do
not use every source row.
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
from workflow.lib.data.adapters.drawing import drawn
from workflow.lib.data.adapters.parquet import count_rows
from workflow.lib.data.adapters.sampling import take

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
SAMPLES_ITSELF = {"sentences"}  # they choose their `rows` while reading
# probes must not be asked for the very trees that a parser was tuned on: merchant2020's codes are of training rows
TAKES_FROM_END = {"tree_edges"}


def adapt(files: list[Path], entry: dict, *, dataset: str, split: str, seed: int, rows: int | None) -> pa.Table:
    """Rows of the entry's kind; `rows` of them if a number is given, all (in the source's order) if not."""
    name, wanted = entry["adapter"], entry["splits"][split]
    if name not in ADAPTERS:
        raise UserError(f"dataset {dataset}: unknown adapter '{name}'{nearest(name, list(ADAPTERS))}")
    table = ADAPTERS[name](files, entry, split, seed, rows)
    if "part" in wanted:
        start, stop = wanted["part"]
        table = table.slice(start, max(stop - start, 0))
    if "drawn" in wanted:
        table = drawn(table, **wanted["drawn"])
    found, expected = count_rows(files) if name in SAMPLES_ITSELF else table.num_rows, wanted.get("rows")
    if expected and found != expected:
        message = (
            "dataset %s, split %s: %s rows found where the whole split has %s; a sample's numbers are not the paper's"
        )
        log.warning(message, dataset, split, f"{found:,}", f"{expected:,}")
    if rows is not None and table.num_rows < rows:
        log.warning("dataset %s, split %s: %d rows asked for, %d there", dataset, split, rows, table.num_rows)
    if rows is None or name in SAMPLES_ITSELF:
        return table
    return take(table, rows, seed, from_end=name in TAKES_FROM_END)
