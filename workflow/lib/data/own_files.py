"""Datasets in a user's own files: CSV, TSV, JSON lines or Parquet, labels by name.

`path` is one file, of which `test_share` becomes the test split, or a file for each split. Labels are numbered in the
order of their names, over all files, so that they are the same in every split.
"""

import csv
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError
from workflow.lib.base.paths import local
from workflow.lib.data.dataset_files import SCHEMAS
from workflow.lib.data.own_rows import READERS, columns_read, separator, unreadable
from workflow.lib.data.strict_json import parsed

if TYPE_CHECKING:
    from datasets import Dataset

SPLIT_SEED = 0  # of train and test: not the config's, so that another sample of rows has the same test rows


def files_of(entry: dict) -> list[str]:
    paths = entry["path"]
    return [str(local(path)) for path in (paths.values() if isinstance(paths, dict) else [paths])]


def rows_in(entry: dict, split: str) -> int:
    """About how many, without reading them: for forecasts."""
    paths = entry["path"]
    path = local(paths[split] if isinstance(paths, dict) else paths)
    share = 1.0 if isinstance(paths, dict) else entry["test_share"] if split == "test" else 1 - entry["test_share"]
    return round(_lines(path, path.stat().st_mtime) * share)


@cache
def _lines(path: Path, time: float) -> int:
    """Rows of a file; `time`: of its last change, so that it is counted again after one."""
    if path.suffix == ".parquet":
        return pq.read_metadata(path).num_rows
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def columns_of(path: Path) -> list[str]:
    """Names of a file's columns, from its beginning."""
    try:
        if path.suffix == ".parquet":
            return pq.read_schema(path).names
        with path.open(newline="", encoding="utf-8-sig") as file:
            if READERS[path.suffix] == "csv":
                return next(csv.reader(file, delimiter=separator(path), strict=True), [])
            return list(parsed(file.readline().strip() or "{}"))
    except (ValueError, TypeError, csv.Error, OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from error


def texts(columns: dict[str, list[str | None]], names: list[str], path: Path) -> list[str]:
    """One column, or several joined by a space."""
    found = [" ".join(part.strip() for part in parts if part is not None)
             for parts in zip(*(columns[name] for name in names))]  # fmt: skip
    if empty := [number for number, text in enumerate(found, 1) if not text]:
        raise UserError(f"{path}, row {empty[0]}: column '{names[0]}' is empty ({len(empty)} such rows)")
    return found


def labelled(entry: dict, dataset: str) -> tuple[dict[str, "Dataset"], list[str]]:
    """The rows of every file under our columns' names, and the names of the labels (none without a column of them)."""
    from datasets import Dataset

    paths = entry["path"] if isinstance(entry["path"], dict) else {"all": entry["path"]}
    found, named = {}, {}
    for split, path in ((split, local(path)) for split, path in paths.items()):
        names = {key: entry[key] for key in ("text", "text_pair", "label") if key in entry}
        names = {key: given if isinstance(given, list) else [given] for key, given in names.items()}
        columns = columns_read(path, list(dict.fromkeys(name for given in names.values() for name in given)))
        made = {key: texts(columns, given, path) for key, given in names.items()}
        if not made["text"]:
            raise UserError(f"{path} has no rows")
        named[split] = made.pop("label", [])
        found[split] = {"text_pair": [None] * len(made["text"])} | made
    labels = sorted({name for names in named.values() for name in names}, key=_by_number)
    if "label" in entry and len(labels) < 2:
        raise UserError(f"dataset {dataset}: column '{entry['label']}' has {len(labels)} different labels")
    numbers = {name: number for number, name in enumerate(labels)}
    for split, rows in found.items():
        n = len(rows["text"])
        columns = {name: pa.array(values, pa.string()) for name, values in rows.items()}
        columns |= {"row": list(range(n)), "label": [numbers[name] for name in named[split]] or [0] * n}
        # else all bytes are hashed for a fingerprint
        found[split] = Dataset(pa.table(columns), fingerprint=f"{dataset}/{split}")
    return found, labels


def _by_number(name: str) -> tuple:
    """Numbers by their size, then names. `nan`, which has no place among numbers, is a name: every split is read by a
    process of its own, and must find the same order."""
    try:
        number = float(name)
    except ValueError:
        number = math.nan
    return (0, number, name) if math.isfinite(number) else (1, 0.0, name)


def split_of(entry: dict, dataset: str, split: str, rows: int | None, seed: int) -> tuple[pa.Table, list[str]]:
    """A split in our kind `text`: all of it, or a stratified sample of `rows`."""
    from workflow.lib.data.adapters.choosing import sample

    found, labels = labelled(entry, dataset)
    if isinstance(entry["path"], dict):
        chosen = found[split]
    else:
        # stratified, with labels mixed throughout: the test rows are the first of this order
        mixed = sample(found["all"], len(found["all"]), SPLIT_SEED)
        n_test = round(len(mixed) * entry["test_share"])
        chosen = mixed.select(range(n_test) if split == "test" else range(n_test, len(mixed)))
    chosen = sample(chosen, rows, seed) if rows is not None else chosen
    kept = [f"{split}-{row}" for row in chosen["row"]]
    table = pa.table({"id": kept, "text": chosen["text"][:], "text_pair": pa.array(chosen["text_pair"][:], pa.string()),
                      "label": chosen["label"][:]})  # fmt: skip
    return table.cast(SCHEMAS["text"]), labels
