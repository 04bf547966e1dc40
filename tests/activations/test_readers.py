"""A cache opened as numbers by tools that know nothing of this workflow."""

from collections.abc import Callable
from pathlib import Path

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests import tiny
from workflow.lib.activations.cache import layer_file, read_units, read_vectors
from workflow.lib.activations.extraction import extract
from workflow.lib.activations.units import units_of
from workflow.lib.encoders.tokenization import encode

datasets.disable_progress_bars()
TEXTS = ["the cat sat on the mat", "a dog", "unbelievably", "the dog and the cat sat"] * 5
COLUMNS = ["example", "unit", "vector"]


def by_pandas(path: Path, _: Path) -> list[np.ndarray]:
    frame = pd.read_parquet(path)
    return [np.stack(frame[name]) for name in COLUMNS]


def by_polars(path: Path, _: Path) -> list[np.ndarray]:
    frame = pl.read_parquet(path)
    return [frame[name].to_numpy() for name in COLUMNS]


def by_duckdb(path: Path, _: Path) -> list[np.ndarray]:
    frame = duckdb.sql(f"SELECT * FROM '{path}'").df()
    return [np.stack(frame[name]) for name in COLUMNS]


def by_datasets(path: Path, cache: Path) -> list[np.ndarray]:
    rows = datasets.load_dataset("parquet", data_files=str(path), cache_dir=str(cache), split="train")
    return [rows.with_format("numpy")[name][:] for name in COLUMNS]


@pytest.fixture(scope="module", params=["float32", "float16"])
def cached(request, tmp_path_factory) -> tuple[Path, str]:
    """The last layer of words, in several row groups."""
    folder, tokenizer = tmp_path_factory.mktemp(request.param), tiny.wrapped(tiny.wordpiece(), 40)
    table = pa.table({"id": TEXTS, "text": TEXTS, "text_pair": pa.nulls(len(TEXTS), pa.string())})
    encoded = encode(table, {"kind": "text"}, tokenizer, 40, by_word=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workflow.lib.activations.cache.GROUP_BYTES", 1024)
        how = {"layers": "last", "dtype": request.param}
        extract(tiny.encoder(), encoded, units_of("word", encoded), folder, {"unit": "word"}, **how)
    return layer_file(folder, 2), request.param


@pytest.mark.parametrize("read", [by_pandas, by_polars, by_duckdb, by_datasets])
def test_others_read_the_same_numbers(cached, tmp_path, read: Callable):
    path, dtype = cached
    example, unit, vectors = read(path, tmp_path)
    assert np.array_equal(vectors, read_vectors(path)) and vectors.shape == (75, 16)
    assert all(map(np.array_equal, (example, unit), read_units(path)))
    # DuckDB has no half precision, and `datasets` gives float32 where NumPy is asked for: nothing is lost by that
    assert vectors.dtype == (dtype if read in (by_pandas, by_polars) else "float32")


def test_the_files_are_of_several_row_groups_and_no_null_is_allowed(cached):
    path, _ = cached
    file = pa.parquet.ParquetFile(path)
    assert file.num_row_groups > 1
    assert not any(field.nullable for field in file.schema_arrow)


def test_rows_are_found_by_their_columns(cached):
    """What a user would ask: the vector of the second word of the last text."""
    path, _ = cached
    vector = duckdb.sql(f"SELECT vector FROM '{path}' WHERE example = 19 AND unit = 1").fetchall()[0][0]
    wanted = pl.scan_parquet(path).filter(pl.col("example") == 19, pl.col("unit") == 1).collect()["vector"].to_numpy()
    assert np.array_equal(np.array(vector), wanted[0]) and np.array_equal(vector, read_vectors(path)[-5])
