"""Vectors in a user's own files, for methods on the command line: `.npz`, or Parquet.

.npz      arrays X, y, …; those of further rows have an ending: X_test, y_test
Parquet   a column `vector` (lists of numbers) becomes X, `label` y, others keep their names; where there is a column
          `split`, rows of `train` have names without an ending, others that of their split
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from workflow.lib.base.errors import UserError

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
        if isinstance(file, np.ndarray):
            raise UserError(f"{path} holds a single array; give an .npz file with {', '.join(wanted[:2])}")
        with file:
            return {name: file[name] for name in wanted if name in file}
    except (OSError, ValueError, EOFError, BadZipFile) as error:  # NumPy assumes that a non-archive is a pickle
        raise UserError(f"{path} cannot be read: it must be an .npz file of plain arrays, or .parquet") from error


def _of_parquet(path: Path) -> dict[str, np.ndarray]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        frame = pq.read_table(path, partitioning=None).to_pandas().rename(columns=RENAMED)
        splits = frame.pop("split") if "split" in frame else None
        found = {}
        for split in ["train"] if splits is None else splits.unique():
            rows = frame if splits is None else frame[splits == split]
            ending = "" if split == "train" else f"_{split}"
            for name in rows.columns:
                values = rows[name].to_numpy()
                found[f"{name}{ending}"] = np.stack(values) if name == "X" else values
        return found
    except (pa.ArrowException, ValueError) as error:
        raise UserError(f"{path} cannot be read as Parquet with vectors: {str(error).splitlines()[0]}") from error


def points(arrays: dict[str, np.ndarray], path: Path, ending: str = "") -> np.ndarray:
    """X, checked: one finite vector per row."""
    x = arrays[f"X{ending}"]
    if x.ndim != 2 or not np.issubdtype(x.dtype, np.number) or not np.isfinite(x).all():
        raise UserError(f"{path}: X{ending} must be a table of finite numbers, a row for each vector")
    return x.astype(np.float32, copy=False)


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
