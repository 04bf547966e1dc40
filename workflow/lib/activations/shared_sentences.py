"""Datasets that annotate the same sentences share a cache: each different sentence passes through a model once.

Such a cache has an example for each sentence, with the tokens that are inside a span of any of the datasets;
rows.parquet beside the layers says which example each row of each dataset is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError
from workflow.lib.base.parquet import DAMAGE, READING, WRITING
from workflow.lib.data.labelled_units import words_in_spans


@dataclass(frozen=True)
class Sentences:
    table: pa.Table  # id, words
    inside: list[np.ndarray]  # of each sentence, the words inside any span
    rows: dict[str, np.ndarray]  # by dataset, the sentence of each row


def merged(tables: Mapping[str, pa.Table]) -> Sentences:
    """The different sentences of some datasets of kind `spans`, in the order in which they come up."""
    number: dict[tuple[str, ...], int] = {}
    ids, inside, rows = [], [], {}
    for dataset, table in tables.items():
        of_rows = []
        for id, words, wanted in zip(table["id"].to_pylist(), table["words"].to_pylist(), words_in_spans(table)):
            at = number.setdefault(tuple(words), len(number))
            if at == len(ids):
                ids.append(id)
                inside.append(wanted)
            else:
                inside[at] = np.union1d(inside[at], wanted)
            of_rows.append(at)
        rows[dataset] = np.array(of_rows, dtype=np.int64)
    return Sentences(pa.table({"id": ids, "words": [list(words) for words in number]}), inside, rows)


def rows_file(folder: str | Path) -> Path:
    return Path(folder) / "rows.parquet"


def write_rows(folder: str | Path, rows: Mapping[str, np.ndarray]) -> None:
    names = np.repeat(list(rows), [len(of_dataset) for of_dataset in rows.values()])
    table = pa.table({"dataset": names, "example": np.concatenate(list(rows.values()))})
    pq.write_table(table, rows_file(folder), **WRITING)


def read_rows(folder: str | Path, dataset: str) -> np.ndarray:
    """The example of each row of a dataset."""
    path = rows_file(folder)
    try:
        table = pq.read_table(path, partitioning=None, **READING)
        examples = table.filter(pc.equal(table["dataset"], dataset))["example"].to_numpy()
    except DAMAGE as error:
        raise UserError(f"{path} cannot be read; delete its folder and run again") from error
    if not len(examples):
        raise UserError(f"{path} has no rows of {dataset}; delete its folder and run again")
    return examples
