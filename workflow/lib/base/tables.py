"""Tidy result tables: one Parquet file per analysis, read as a pandas frame, written atomically."""

import logging
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError, brief
from workflow.lib.base.files import whole_file
from workflow.lib.base.markdown import markdown_row
from workflow.lib.base.parquet import DAMAGE, METADATA_KEY, READING, WRITING, about_in, sealed


def write_table(rows: list[dict] | pd.DataFrame, path: str | Path, **constants: object) -> None:
    """Write rows as Parquet; `constants` become leading columns (model=…, dataset=…)."""
    frame = pd.DataFrame(rows)
    for position, (name, value) in enumerate(constants.items()):
        frame.insert(position, name, value)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with whole_file(path) as beside:
        pq.write_table(table.cast(sealed(table.schema, {"rows": len(frame)})), beside, **WRITING)


def read_table(path: str | Path) -> pd.DataFrame:
    try:
        table = pq.read_table(path, partitioning=None, **READING)
        if METADATA_KEY in (table.schema.metadata or {}):  # else of an older version
            about_in(table.schema)
        return table.to_pandas()
    except DAMAGE as error:
        raise UserError(f"{path} cannot be read as Parquet ({brief(error)}); delete it and run again") from error


def read_tables(paths: list[str]) -> pd.DataFrame:
    """Several tables of one analysis, concatenated."""
    return pd.concat([read_table(path) for path in paths], ignore_index=True)


def tables_of(inputs) -> dict[str, pd.DataFrame]:
    """The inputs of a rule that are lists of analysis tables, by name."""
    named = {name: files for name, files in inputs.items() if not isinstance(files, str)}
    return {
        name: read_tables(files)
        for name, files in named.items()
        if len(files) and all(str(path).endswith(".parquet") for path in files)
    }


def write_text_tables(frame: pd.DataFrame, csv: str | Path, markdown: str | Path, digits: int = 2) -> None:
    """Write a paper's table as CSV with all digits and as rounded Markdown.

    A column `x_sd` is the spread of column `x`: Markdown shows both in one cell, as 93.7 ± 0.2.
    """
    with whole_file(csv) as beside:
        frame.to_csv(beside, index=False)
    columns = [name for name in frame.columns if not (name.endswith("_sd") and name[:-3] in frame.columns)]
    lines = [list(map(str, columns)), ["---"] * len(columns)]
    for _, row in frame.iterrows():
        lines.append([_cell(row[name], row.get(f"{name}_sd"), digits) for name in columns])
    with whole_file(markdown) as beside:
        beside.write_text("".join(f"{markdown_row(line)}\n" for line in lines))
    logging.getLogger("table").info("%d rows of %s", len(frame), ", ".join(map(str, columns)))


def _cell(value: object, spread: object, digits: int) -> str:
    if value is None or value != value:
        return "–"
    if not isinstance(value, float):
        return str(value)
    has_spread = isinstance(spread, float) and spread == spread
    return f"{value:.{digits}f}" + (f" ± {spread:.{digits}f}" if has_spread else "")
