"""Columns of a user's file, as they are written: no guess that 01 is a number, 2020-01-01 a date, or NA nothing.

A row that does not fit is an error that names its line. Readers that guess shift a row with a field too many, fill one
with a field too few, and drop a column whose name stands there twice.
"""

import csv
import io
import math
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError, brief, nearest
from workflow.lib.data.strict_json import parsed

READERS = {".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}
csv.field_size_limit(sys.maxsize)  # a text may be a book


def columns_read(path: Path, names: list[str]) -> dict[str, list[str | None]]:
    """These columns, each value as text; None: nothing there."""
    if path.suffix not in READERS:
        raise UserError(f"{path}: unknown kind of file; one of {', '.join(READERS)}")
    return {"csv": _of_csv, "json": _of_json, "parquet": _of_parquet}[READERS[path.suffix]](path, names)


def text_of(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise unreadable(path, f"no utf-8 text ({error.reason})", line) from error


def unreadable(path: Path, why: object, line: int | None = None) -> UserError:
    where = f", line {line}," if line else ""
    return UserError(f"{path}{where} cannot be read as {path.suffix[1:]}: {brief(why)}")


def _of_csv(path: Path, names: list[str]) -> dict[str, list[str]]:
    lines = csv.reader(io.StringIO(text_of(path), newline=""), delimiter=separator(path), strict=True)
    try:
        header = next(lines, [])
        _check(path, header, names)
        rows = []
        for row in lines:
            if not row or (len(row) == 1 and row[0] and not row[0].strip()):
                continue  # an empty line
            if len(row) != len(header):
                raise unreadable(path, f"{len(row)} fields where the first line names {len(header)}", lines.line_num)
            rows.append(row)
    except csv.Error as error:
        raise unreadable(path, error, lines.line_num) from error
    places = [header.index(name) for name in names]
    return {name: [row[place] for row in rows] for name, place in zip(names, places)}


def separator(path: Path) -> str:
    return "\t" if path.suffix == ".tsv" else ","


def _of_json(path: Path, names: list[str]) -> dict[str, list[str | None]]:
    found, known = {name: [] for name in names}, {}
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = parsed(line)
            if not isinstance(record, dict):
                raise ValueError("no record with names and values, as {...}")
            for name, values in found.items():
                values.append(as_text(record.get(name), name))
        except ValueError as error:
            raise unreadable(path, error, number) from error
        known |= dict.fromkeys(record)
    _check(path, list(known), names)
    return found


def _of_parquet(path: Path, names: list[str]) -> dict[str, list[str | None]]:
    try:
        with pq.ParquetFile(path) as file:
            _check(path, file.schema_arrow.names, names)
            table = file.read(columns=names)
        table.validate(full=True)  # else bytes that are no text are met later
        return {name: [as_text(value, name) for value in table[name].to_pylist()] for name in names}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise unreadable(path, error) from error


def as_text(value: object, name: str) -> str | None:
    if isinstance(value, list | dict | tuple | bytes) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"column '{name}' holds {value!r}, which is neither text nor a number")
    return None if value is None else str(value)


def _check(path: Path, there: list[str], names: list[str]) -> None:
    for name in names:
        if there.count(name) != 1:
            what = "two columns" if name in there else "no column"
            raise UserError(f"{path} has {what} '{name}'{'' if name in there else nearest(name, there)}")
