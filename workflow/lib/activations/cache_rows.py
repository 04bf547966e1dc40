"""Some vectors of an activation file: only their own bytes are read, however many others the file holds."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.activations.cache import first_byte, read_about, unreadable


def read_rows(path: str | Path, rows: np.ndarray) -> np.ndarray:
    """The rows of `read_vectors` that have these numbers, in this order, as they are stored (float32 or float16)."""
    about = read_about(path)
    vectors = np.empty((len(rows), about["width"]), dtype=about["dtype"])
    try:
        # plain reads, not a memory map: around every row that is touched a map counts sixteen pages as memory in use
        with open(path, "rb", buffering=0) as content:
            for vector, start in zip(vectors, _starts(path, np.asarray(rows), about["width"] * vectors.itemsize)):
                content.seek(start)
                if content.readinto(vector) != vector.nbytes:
                    raise ValueError("it ends within a vector")
        return vectors
    except (pa.ArrowException, OSError, ValueError) as error:
        raise unreadable(path, error) from error


def _starts(path: str | Path, rows: np.ndarray, n_bytes: int) -> list[int]:
    """Where in the file each of the rows begins."""
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        column = file.schema_arrow.get_field_index("vector")
    first = np.cumsum([0] + [group.num_rows for group in groups])
    if len(rows) and not 0 <= rows.min() <= rows.max() < first[-1]:
        raise ValueError(f"{first[-1]} rows, of which {rows.min()} to {rows.max()} were asked for")
    pages = np.array([first_byte(group.column(column), group.num_rows * n_bytes) for group in groups])
    of_group = np.searchsorted(first, rows, side="right") - 1
    return (pages[of_group] + (rows - first[of_group]) * n_bytes).tolist() if len(rows) else []
