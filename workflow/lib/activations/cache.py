"""The activation cache: one folder per model and dataset, one Parquet file per layer.

Columns: example (row of the dataset), unit (which word or token of it), vector (a fixed-size list of float32 or
float16, which pandas, polars, DuckDB and `datasets` open as numbers). The metadata name model, dataset and layer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError, brief
from workflow.lib.base.parquet import DAMAGE, READING, WRITING, about_in, sealed

GROUP_BYTES = 4 << 20  # size of the vectors in a row group
ROWS_READ = 4096  # per batch: pyarrow's default of 65,536 took more than twice as long (60,000 x 768)


def layer_file(folder: str | Path, layer: int) -> Path:
    """Path of a layer's file. Layer 0 is the input of the first block, layers 1..L are the blocks' outputs."""
    return Path(folder) / f"layer-{layer:02d}.parquet"


def layer_files(folder: str | Path) -> dict[int, Path]:
    """Files of the stored layers by layer number, in order. Only layers that some analysis reads are stored."""
    paths = {path.stem.removeprefix("layer-"): path for path in sorted(Path(folder).glob("layer-*.parquet"))}
    files = {int(number): path for number, path in paths.items() if number.isdecimal()}
    layers = list(files)
    if not files or len(files) < len(paths) or layers != list(range(layers[0], layers[-1] + 1)):
        raise UserError(f"{folder} does not hold consecutive layers of an activation cache; delete it and run again")
    return files


def last_layer_file(folder: str | Path) -> Path:
    return list(layer_files(folder).values())[-1]


def _schema(width: int, dtype: np.dtype, about: dict) -> pa.Schema:
    number = pa.from_numpy_dtype(dtype)
    vector = pa.list_(pa.field("element", number, nullable=False), width)
    fields = [("example", pa.int32()), ("unit", pa.int32()), ("vector", vector)]
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in fields])
    return sealed(schema, about | {"dtype": dtype.name, "width": width})


class LayerWriter:
    """Writes one layer, row group by row group."""

    def __init__(self, path: Path, width: int, dtype: str, about: dict):
        self.dtype, self.width = np.dtype(dtype), width
        self.group_rows = max(1, GROUP_BYTES // (width * self.dtype.itemsize))
        self.schema = _schema(width, self.dtype, about)
        # activations do not compress, and a dictionary or statistics would only cost time
        self.writer = pq.ParquetWriter(
            path, self.schema, compression="none", use_dictionary=False, write_statistics=False, **WRITING
        )

    def write(self, example: np.ndarray, unit: np.ndarray, vectors: np.ndarray) -> None:
        flat = pa.array(np.ascontiguousarray(vectors, dtype=self.dtype).reshape(-1))
        lists = pa.FixedSizeListArray.from_arrays(flat, type=self.schema.field("vector").type)
        columns = [pa.array(example, pa.int32()), pa.array(unit, pa.int32()), lists]
        self.writer.write_batch(pa.record_batch(columns, schema=self.schema), row_group_size=self.group_rows)

    def close(self) -> None:
        self.writer.close()


@contextmanager
def _opened(path: str | Path) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path, **READING) as file:
            yield file
    except DAMAGE as error:
        reason = brief(error) or type(error).__name__
        raise UserError(f"{path} is no readable activation file ({reason}); delete its folder and run again") from error


def _about(file: pq.ParquetFile) -> dict:
    """The metadata, after a check that the columns are those that they describe."""
    about = about_in(file.schema_arrow)
    if not file.schema_arrow.equals(_schema(about["width"], np.dtype(about["dtype"]), {})):
        raise ValueError("its columns are not those of its metadata")
    return about


def _checked(table: pa.Table, n_rows: int) -> pa.Table:
    """Arrow reads fewer rows, or nulls, from some damaged files; NumPy would make other numbers of them."""
    table.validate(full=True)
    if table.num_rows != n_rows or any(column.null_count for column in table.columns):
        raise ValueError(f"{table.num_rows} rows where it should have {n_rows}, or nulls among them")
    return table


def read_about(path: str | Path) -> dict:
    """The file's metadata: model digest, dataset digest, layer, unit, dtype, width."""
    with _opened(path) as file:
        return _about(file)


def read_vectors(path: str | Path) -> np.ndarray:
    """(units, width) vectors, ordered by example and unit."""
    with _opened(path) as file:
        about = _about(file)
        vectors = np.empty((file.metadata.num_rows, about["width"]), dtype=about["dtype"])
        start = 0
        for batch in file.iter_batches(ROWS_READ, columns=["vector"]):
            part = batch.column(0).flatten().to_numpy(zero_copy_only=False)
            vectors[start : start + len(batch)] = part.reshape(-1, about["width"])
            start += len(batch)
        if start != len(vectors):
            raise ValueError(f"{start} rows where it should have {len(vectors)}")
        return vectors


def read_units(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Columns `example` and `unit`, row for row with `read_vectors`."""
    with _opened(path) as file:
        _about(file)  # fails if the file is not an activation cache
        table = _checked(file.read(columns=["example", "unit"]), file.metadata.num_rows)
        return table["example"].to_numpy(), table["unit"].to_numpy()


def words_file(folder: str | Path) -> Path:
    return Path(folder) / "words.parquet"


def write_words(folder: str | Path, example: np.ndarray, unit: np.ndarray, word: np.ndarray) -> None:
    """Store the word of each cached token, row for row with the layers (-1: none)."""
    columns = {"example": example, "unit": unit, "word": word}
    pq.write_table(
        pa.table({name: pa.array(column, pa.int32()) for name, column in columns.items()}),
        words_file(folder),
        **WRITING,
    )


def read_words(folder: str | Path) -> np.ndarray:
    """Index of each cached token's word within its example, row for row with `read_vectors`; -1: no word."""
    path, layer = words_file(folder), last_layer_file(folder)
    with _opened(path) as file:
        if file.schema_arrow.field("word").type != pa.int32():
            raise ValueError("its words are not numbered")
        word = _checked(file.read(columns=["word"]), file.metadata.num_rows)["word"].to_numpy()
    with _opened(layer) as file:
        n_rows = file.metadata.num_rows
    if len(word) != n_rows:
        raise UserError(f"{path} has {len(word)} rows where the layers have {n_rows}; delete its folder and run again")
    return word
