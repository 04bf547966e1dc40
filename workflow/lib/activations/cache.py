"""The activation cache: one Parquet file per layer, written in one pass and bounded memory, read without decoding.

A vector is stored as fixed-size binary (its float32 or float16 bytes), not as a list: Parquet writes a level for every
element of a list, and reading those back costs five times numpy.load (Arrow issue 34510). A row group's vectors are one
plain page, which `read_vectors` copies as it is; `vectors_as_lists` shows them as a fixed-size list of floats.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError

METADATA_KEY = b"tunescope"
GROUP_BYTES = 1 << 20  # of vectors in a row group: written in pieces of 12 MB the same bytes took six times as long
ONE_PAGE = 1 << 30  # bytes and rows: a row group is never cut into pages
LONGEST_HEADER = 200  # bytes


def layer_file(folder: str | Path, layer: int) -> Path:
    """Layer 0 = what enters the first block, 1..L = the blocks' outputs."""
    return Path(folder) / f"layer-{layer:02d}.parquet"


def layer_files(folder: str | Path) -> list[Path]:
    files = sorted(Path(folder).glob("layer-*.parquet"))
    if not files or files != [layer_file(folder, layer) for layer in range(len(files))]:
        raise UserError(f"{folder} does not hold layers 0..L of an activation cache; delete it and run again")
    return files


def cache_of(folder: str | Path, model: str) -> Path:
    """A model's place in a folder of caches; `model`: <encoder>/<how it was tuned>."""
    return Path(folder) / model.partition("/")[2]


def caches_of_both(folders, tuned: str) -> tuple[Path, Path]:
    """Caches of the encoder that a model was tuned from, and of the model; `folders` has `base` and `tuned`."""
    return cache_of(folders.base, f"{tuned.partition('/')[0]}/pretrained"), cache_of(folders.tuned, tuned)


class LayerWriter:
    """Writes one layer, row group by row group."""

    def __init__(self, path: Path, width: int, dtype: str, about: dict):
        self.dtype = np.dtype(dtype)
        self.group_rows = max(1, GROUP_BYTES // (width * self.dtype.itemsize))
        self.schema = pa.schema(
            [
                pa.field("example", pa.int32(), nullable=False),
                pa.field("unit", pa.int32(), nullable=False),
                pa.field("vector", pa.binary(width * self.dtype.itemsize), nullable=False),
            ],
            metadata={METADATA_KEY: json.dumps(about | {"dtype": dtype, "width": width})},
        )
        # activations do not compress, and dictionary or statistics would only cost time
        plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        self.writer = pq.ParquetWriter(path, self.schema, data_page_size=ONE_PAGE, max_rows_per_page=ONE_PAGE, **plain)

    def write(self, example: np.ndarray, unit: np.ndarray, vectors: np.ndarray) -> None:
        held = pa.py_buffer(np.ascontiguousarray(vectors, dtype=self.dtype))
        column = pa.FixedSizeBinaryArray.from_buffers(self.schema.field("vector").type, len(vectors), [None, held])
        rows = [pa.array(example, pa.int32()), pa.array(unit, pa.int32()), column]
        self.writer.write_batch(pa.record_batch(rows, schema=self.schema), row_group_size=self.group_rows)

    def close(self) -> None:
        self.writer.close()


def unreadable(path: str | Path, error: Exception) -> UserError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return UserError(f"{path} is no readable activation file ({reason}); delete its folder and run again")


def _about(schema: pa.Schema) -> dict:
    return json.loads((schema.metadata or {})[METADATA_KEY])


def _open(path: str | Path, columns: list[str]) -> tuple[pa.Table, dict]:
    try:
        table = pq.read_table(path, columns=columns, memory_map=True, partitioning=None)
        return table, _about(table.schema)
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise unreadable(path, error) from error


def read_about(path: str | Path) -> dict:
    """What the file says of itself: model digest, dataset digest, layer, unit, dtype, width."""
    try:
        return _about(pq.read_schema(path))
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise unreadable(path, error) from error


def read_vectors(path: str | Path) -> np.ndarray:
    """(units, width) in the order of examples and units: one copy from the file's pages, as numpy.load makes."""
    try:
        with pq.ParquetFile(path) as file:
            about = _about(file.schema_arrow)
            groups = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
            at = file.schema_arrow.get_field_index("vector")
        whole = np.empty((sum(group.num_rows for group in groups), about["width"]), dtype=about["dtype"])
        start = 0
        # plain reads, as numpy.load's, because a memory map pays for every page that is touched
        with open(path, "rb", buffering=0) as content:
            for group in groups:
                part = whole[start : start + group.num_rows]
                content.seek(first_byte(group.column(at), part.nbytes))
                if content.readinto(part) != part.nbytes:
                    raise ValueError("it ends within a vector")
                start += group.num_rows
        return whole
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise unreadable(path, error) from error


def first_byte(column, size: int) -> int:
    """Where the values of a column chunk begin: plain bytes of one page, behind a header of a few dozen bytes."""
    header = column.total_compressed_size - size
    if column.compression != "UNCOMPRESSED" or column.has_dictionary_page or not 0 < header <= LONGEST_HEADER:
        raise ValueError("vectors are not stored as one plain page per row group")
    return column.data_page_offset + header


def read_units(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """(example, unit) of every row of `read_vectors`."""
    table, _ = _open(path, ["example", "unit"])
    return table["example"].to_numpy(), table["unit"].to_numpy()


def words_file(folder: str | Path) -> Path:
    return Path(folder) / "words.parquet"


def write_words(folder: str | Path, example: np.ndarray, unit: np.ndarray, word: np.ndarray) -> None:
    """Beside layers of tokens: the word that each token is a piece of, row for row (-1: none)."""
    columns = {"example": example, "unit": unit, "word": word}
    pq.write_table(
        pa.table({name: pa.array(column, pa.int32()) for name, column in columns.items()}), words_file(folder)
    )


def read_words(folder: str | Path) -> np.ndarray:
    """The word of every row of `read_vectors`, counted within its example; -1 where a token belongs to none."""
    path = words_file(folder)
    try:
        word = pq.read_table(path, columns=["word"], partitioning=None)["word"].to_numpy()
        n_rows = pq.read_metadata(layer_file(folder, 0)).num_rows
    except (pa.ArrowException, OSError) as error:
        raise unreadable(path, error) from error
    if len(word) != n_rows:
        raise UserError(f"{path} has {len(word)} rows where the layers have {n_rows}; delete its folder and run again")
    return word


def vectors_as_lists(path: str | Path) -> pa.ChunkedArray:
    """The vectors as Arrow fixed-size lists of floats over the same memory."""
    table, about = _open(path, ["vector"])
    kind = pa.from_numpy_dtype(np.dtype(about["dtype"]))
    chunks = [
        pa.FixedSizeListArray.from_arrays(
            pa.Array.from_buffers(kind, len(chunk) * about["width"], [None, chunk.buffers()[1]]), about["width"]
        )
        for chunk in table["vector"].chunks
    ]
    return pa.chunked_array(chunks)
