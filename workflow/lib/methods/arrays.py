"""Vectors in a user's own files, for methods on the command line: `.npz`, or Parquet.

.npz      arrays X, y, …; those of further rows have an ending: X_test, y_test
Parquet   a column `vector` (lists of numbers) becomes X, `label` y, others keep their names; where there is a column
          `split`, rows of `train` have names without an ending, others that of their split
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from workflow.lib.base.errors import UserError, brief

RENAMED = {"vector": "X", "label": "y"}


def read_arrays(path: Path, needed: tuple[str, ...], endings: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Arrays by name. `endings`: of further rows; where a file has any array of an ending, it must have all."""
    if not path.is_file():
        raise UserError(f"{path} cannot be read: there is no such file")
    wanted = [f"{name}{ending}" for ending in ("", *endings) for name in needed]
    arrays = _of_parquet(path) if path.suffix == ".parquet" else _of_npz(path, wanted)
    parts = [ending for ending in ("", *endings) if not ending or any(f"{name}{ending}" in arrays for name in needed)]
    missing = [f"{name}{ending}" for ending in parts for name in needed if f"{name}{ending}" not in arrays]
    if missing:
        raise UserError(f"{path} lacks {' and '.join(missing)}")
    return arrays


def _of_npz(path: Path, wanted: list[str]) -> dict[str, np.ndarray]:
    try:
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.ndarray):
            with file:
                return {name: file[name] for name in wanted if name in file}
    except Exception as error:  # damaged archives give errors of any kind, and NumPy takes a non-archive for a pickle
        raise UserError(f"{path} cannot be read: it must be an .npz file of plain arrays, or .parquet") from error
    raise UserError(f"{path} holds a single array; give an .npz file with {', '.join(wanted[:2])}")


def _of_parquet(path: Path) -> dict[str, np.ndarray]:
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, partitioning=None)
        table.validate(full=True)
        frame = table.to_pandas().rename(columns=RENAMED)
        if len(set(frame.columns)) < len(frame.columns):
            raise ValueError("two columns have one name")
        splits = frame.pop("split") if "split" in frame else None
        if splits is not None and not splits.map(lambda split: isinstance(split, str)).all():
            raise ValueError("a row's split is no text")
        found = {}
        for split in ["train"] if splits is None else splits.unique():
            rows = frame if splits is None else frame[splits == split]
            ending = "" if split == "train" else f"_{split}"
            for name in rows.columns:
                values = rows[name].to_numpy()
                found[f"{name}{ending}"] = np.stack(values) if name == "X" else values
        return found
    except Exception as error:  # of pyarrow, pandas and NumPy, each of its own kinds
        raise UserError(f"{path} cannot be read as Parquet with vectors: {brief(error)}") from error


def points(arrays: dict[str, np.ndarray], path: Path, ending: str = "") -> np.ndarray:
    """X, checked: one finite vector per row."""
    with np.errstate(over="ignore"):
        x = numbers(arrays[f"X{ending}"], f"{path}: X{ending}").astype(np.float32, copy=False)
    if x.ndim != 2 or not np.isfinite(x).all():  # as float32: larger numbers have become infinite
        raise UserError(f"{path}: X{ending} must be a table of finite numbers, a row for each vector")
    return x


def numbers(x: np.ndarray, what: str) -> np.ndarray:
    """Real and finite: casts would drop imaginary parts, and count the days of dates."""
    if x.dtype.kind not in "fiu" or not x.size or not np.isfinite(x).all():
        raise UserError(f"{what} must be a table of finite numbers, a row for each vector")
    return x


def labels(arrays: dict[str, np.ndarray], name: str, path: Path) -> np.ndarray:
    """One per row, checked: whole or finite numbers, or texts; an absent label would be one that is called nan,
    and NumPy's texts lose zeros at their end."""
    y = arrays[name]
    if y.dtype.kind == "S":
        with suppress(UnicodeDecodeError):  # bytes that are no text are refused below
            y = np.char.decode(y, "utf-8")
    if y.dtype.kind in "OT" and all(isinstance(label, str) and "\0" not in label for label in y.flat):
        y = y.astype(str)
    if y.ndim != 1 or y.dtype.kind not in "iubfU" or (y.dtype.kind == "f" and not np.isfinite(y).all()):
        raise UserError(f"{path}: {name} must be a list of numbers or texts, one for each row")
    return y


@contextmanager
def named(*paths: Path) -> Iterator[None]:
    """Around code that knows arrays only: its errors name the files."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{' and '.join(map(str, paths))}: {error}") from error


def run_command(
    method: str, about: str, report_of: Callable[[argparse.Namespace], dict], add: Callable, arguments: list[str] | None
) -> int:
    """Parse, compute, print: a summary of lines, or all as JSON. An error is one line."""
    parser = argparse.ArgumentParser(prog=f"python -m workflow.lib.methods.{method}", description=about)
    add(parser)
    parser.add_argument("--json", action="store_true", help="print everything as JSON instead of a summary")
    options = parser.parse_args(arguments)
    try:
        report = report_of(options)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    lines = report.pop("lines")
    print(json.dumps(report) if options.json else "\n".join(lines))
    return 0
