"""Parquet files as the Hub lays them out, with errors that name the file."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError, nearest


def open_parquet(file: Path, columns: list[str]) -> pq.ParquetFile:
    try:
        opened = pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error
    for column in columns:
        if column not in (names := opened.schema_arrow.names):
            raise UserError(f"{file} has no column '{column}'{nearest(column, names)}")
    return opened


def read_batches(files: list[Path], columns: list[str]) -> Iterator[pa.RecordBatch]:
    """The columns of several files, a few thousand rows at a time: Wikipedia does not fit into memory."""
    for file in files:
        opened = open_parquet(file, columns)
        try:
            yield from opened.iter_batches(batch_size=4096, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(file, error) from error


def count_rows(files: list[Path]) -> int:
    return sum(open_parquet(file, []).metadata.num_rows for file in files)


def _unreadable(file: Path, error: Exception) -> UserError:
    return UserError(f"{file} is no readable Parquet: {str(error).splitlines()[0]}; delete it and fetch it again")
