"""Datasets in a user's own files: CSV, TSV, JSON lines or Parquet, read by `datasets`, labels by name.

`path` is one file, of which `test_share` becomes the test split, or a file for each split. Labels are numbered in the
order of their names, over all files, so that they are the same in every split.
"""

import csv
import json
import math
import tempfile
from functools import cache
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.base.paths import local
from workflow.lib.data.dataset_files import SCHEMAS

if TYPE_CHECKING:
    from datasets import Dataset

READERS = {".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}
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
        with path.open(newline="", encoding="utf-8") as file:
            if READERS[path.suffix] == "csv":
                return next(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","), [])
            return list(json.loads(file.readline() or "{}"))
    except (ValueError, TypeError, csv.Error, pa.ArrowException) as error:
        raise UserError(f"{path} cannot be read as {path.suffix[1:]}: {str(error).splitlines()[0]}") from error


def read(path: Path) -> "Dataset":
    """Nothing of it is run or kept in a cache of `datasets`."""
    from datasets import Dataset, Features, Value
    from datasets.exceptions import DatasetGenerationError

    kind = READERS.get(path.suffix)
    if kind is None:
        raise UserError(f"{path}: unknown kind of file; one of {', '.join(READERS)}")
    # as it is written: no guess that 01 is a number, or that NA is nothing
    options = {}
    if kind == "csv":
        features = Features(dict.fromkeys(columns_of(path), Value("string")))
        options = {"features": features, "keep_default_na": False, "sep": "\t" if path.suffix == ".tsv" else ","}
    with tempfile.TemporaryDirectory() as folder:
        try:
            load = getattr(Dataset, f"from_{kind}")
            return load(escape(str(path)), cache_dir=folder, keep_in_memory=True, **options)
        except (DatasetGenerationError, OSError, ValueError, pa.ArrowException) as error:
            why = str(error.__cause__ or error).splitlines()[0]
            raise UserError(f"{path} cannot be read as {path.suffix[1:]}: {why}") from error


def texts(rows: "Dataset", columns: list[str], path: Path) -> list[str]:
    """One column, or several joined by a space."""
    for name in columns:
        if name not in rows.column_names:
            raise UserError(f"{path} has no column '{name}'{nearest(name, rows.column_names)}")
    found = [" ".join(str(part).strip() for part in parts if part is not None)
             for parts in zip(*(rows[name] for name in columns))]  # fmt: skip
    if empty := [number for number, text in enumerate(found, 1) if not text]:
        raise UserError(f"{path}, row {empty[0]}: column '{columns[0]}' is empty ({len(empty)} such rows)")
    return found


def labelled(entry: dict, dataset: str) -> tuple[dict[str, "Dataset"], list[str]]:
    """The rows of every file under our columns' names, and the names of the labels (none without a column of them)."""
    from datasets import Dataset

    paths = entry["path"] if isinstance(entry["path"], dict) else {"all": entry["path"]}
    found, named = {}, {}
    for split, path in ((split, local(path)) for split, path in paths.items()):
        rows = read(path)
        columns = {"text": entry["text"]} | ({"text_pair": entry["text_pair"]} if "text_pair" in entry else {})
        made = {key: texts(rows, names if isinstance(names, list) else [names], path) for key, names in columns.items()}
        made["text_pair"] = made.get("text_pair", [None] * len(rows))
        named[split] = texts(rows, [entry["label"]], path) if "label" in entry else []
        found[split] = Dataset.from_dict(made | {"row": list(range(len(rows)))})
    labels = sorted({name for names in named.values() for name in names}, key=_by_number)
    if "label" in entry and len(labels) < 2:
        raise UserError(f"dataset {dataset}: column '{entry['label']}' has {len(labels)} different labels")
    numbers = {name: number for number, name in enumerate(labels)}
    for split, rows in found.items():
        found[split] = rows.add_column("label", [numbers[name] for name in named[split]] or [0] * len(rows))
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
