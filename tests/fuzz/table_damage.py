"""Damage to tables: columns and cells that are absent, swapped, of another type or value; then to the Parquet file.

A table is a list of (name, values), so that a name may stand there twice.
"""

import datetime
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.fuzz.damage import damaged, damages
from tests.fuzz.text_damage import BYTES

DAY = datetime.datetime(2020, 1, 1)
ODD = [
    None,
    "",
    " ",
    "x",
    "1",
    "\0",
    "a\nb",
    0,
    1,
    -1,
    7,
    2**40,
    1.0,
    1.5,
    math.nan,
    math.inf,
    True,
    b"\xff",
    b"x",
    DAY,
]
ODD += [[], [1], [None], ["x"], [1.5, 2.5], {"a": 1}, [[1]], [{"a": 1}]]
AS = [
    *(str, lambda value: [value], lambda value: {"a": value}, lambda value: str(value).encode(), lambda _: None),
    *(
        lambda _: 1,
        lambda _: 1.5,
        lambda _: math.nan,
        lambda _: True,
        lambda _: DAY,
        lambda _: b"\xff\xfe",
        lambda _: [],
    ),
]


def on_columns(change):
    def damage(table: list[tuple[str, list]], at: int, what: int) -> list[tuple[str, list]]:
        table = [(name, list(values)) for name, values in table]
        if table:
            change(table, at % len(table), what)
        return table

    damage.__name__ = change.__name__
    return damage


@on_columns
def drop_column(table, at, what):
    del table[at]


@on_columns
def rename_column(table, at, what):
    table[at] = (["x", "", table[at][0] + "s", table[what % len(table)][0]][what % 4], table[at][1])


@on_columns
def repeat_column(table, at, what):
    table.append(table[at])


@on_columns
def swap_columns(table, at, what):
    other = what % len(table)
    (one, values), (two, others) = table[at], table[other]
    table[at], table[other] = (one, others), (two, values)


@on_columns
def retype(table, at, what):
    name, values = table[at]
    table[at] = name, [AS[what % len(AS)](value) for value in values]


@on_columns
def odd_cell(table, at, what):
    if values := table[at][1]:
        values[what // len(ODD) % len(values)] = ODD[what % len(ODD)]


@on_columns
def swap_cells(table, at, what):
    if values := table[at][1]:
        values[0], values[what % len(values)] = values[what % len(values)], values[0]


@on_columns
def drop_row(table, at, what):
    for _, values in table:
        del values[what % 3 : what % 3 + 1]


@on_columns
def no_rows(table, at, what):
    for _, values in table:
        values.clear()


CELLS = (odd_cell, odd_cell, swap_cells, swap_columns, drop_row)
TABLES = (*CELLS, drop_column, rename_column, repeat_column, retype, retype, no_rows)
# most files are whole: a reader refuses most others at once
FILES = st.tuples(damages(*TABLES), damages(*BYTES, most=2, often=4))


def array_of(values: list, like: pa.DataType | None) -> pa.Array:
    for given in (like, None):
        try:
            return pa.array(values, given)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            continue
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def write(file: Path, table: list[tuple[str, list]], chosen: tuple, types: dict, metadata=None) -> pa.Table:
    """Write the damaged file; returns the table that it had before its bytes were damaged."""
    on_table, on_bytes = chosen
    left = damaged(table, on_table)
    arrays = [array_of(values, types.get(name)) for name, values in left]
    made = pa.Table.from_arrays(arrays, schema=pa.schema([(n, a.type) for (n, _), a in zip(left, arrays)], metadata))
    pq.write_table(made, file, compression="none", use_dictionary=False, write_statistics=False)
    file.write_bytes(damaged(file.read_bytes(), on_bytes))
    return made
