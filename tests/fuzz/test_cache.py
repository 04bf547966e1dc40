"""Activation caches, damaged on disk: vectors are those of the file, of the width and type that it states."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.fuzz import table_damage
from tests.fuzz.damage import damaged, damages, fuzzed
from tests.fuzz.json_damage import JSON
from workflow.lib.activations import cache

WIDTH = 3
VECTORS = np.arange(12, dtype=np.float32).reshape(4, WIDTH)
EXAMPLE, UNIT = [0, 0, 1, 1], [0, 1, 0, 1]
WORDS = {name: pa.int32() for name in ("example", "unit", "word")}


def written(file: Path) -> tuple[bytes, pa.Table]:
    writer = cache.LayerWriter(file, WIDTH, "float32", {"model": "0", "dataset": "toy"})
    writer.write(np.array(EXAMPLE), np.array(UNIT), VECTORS)
    writer.close()
    return file.read_bytes(), pq.read_table(file)


def damage(file: Path, whole: bytes, table: pa.Table, chosen) -> None:
    """As it was written, or with its columns or metadata damaged; then its bytes."""
    on_table, of_metadata, on_bytes = chosen
    if on_table or of_metadata:
        about = damaged([json.loads(table.schema.metadata[b"tunescope"])], of_metadata)
        schema = table.schema.with_metadata({"tunescope": json.dumps(about[0] if about else None)})
        arrays = [column.combine_chunks() for column in table.columns]
        if on_table:
            columns = damaged([(name, table[name].to_pylist()) for name in table.column_names], on_table)
            types = {field.name: field.type for field in table.schema}
            arrays = [table_damage.array_of(values, types.get(name)) for name, values in columns]
            fields = [
                pa.field(n, a.type, nullable=a.null_count > 0 or pa.types.is_null(a.type))
                for (n, _), a in zip(columns, arrays)
            ]
            schema = pa.schema(fields, schema.metadata)
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), file, compression="none")
        whole = file.read_bytes()
    file.write_bytes(damaged(whole, on_bytes))


CHOSEN = st.tuples(
    damages(*table_damage.TABLES, most=2, often=2),
    damages(*JSON, most=2, often=2),
    damages(*table_damage.BYTES, most=2, often=2),
)


def test_vectors_and_units(tmp_path):
    file = tmp_path / "toy.parquet"
    whole, table = written(file)

    def read(chosen):
        damage(file, whole, table, chosen)
        return cache.read_about(file), cache.read_vectors(file), cache.read_units(file)

    def check(chosen, result):
        about, vectors, (example, unit) = result
        assert vectors.dtype == about["dtype"] and example.dtype == unit.dtype == np.int32
        assert vectors.shape == (len(example), about["width"]) and len(example) == len(unit)
        plain = pq.ParquetFile(file).read().to_pydict()
        assert np.array_equal(vectors, np.array(plain["vector"], vectors.dtype).reshape(vectors.shape), equal_nan=True)
        assert (plain["example"], plain["unit"]) == (example.tolist(), unit.tolist())

    fuzzed(CHOSEN, read, check)


def test_words(tmp_path):
    folder = tmp_path / "toy"
    folder.mkdir()
    written(cache.layer_file(folder, 0))
    table = [("example", EXAMPLE), ("unit", UNIT), ("word", [0, 1, -1, 0])]

    def read(chosen):
        table_damage.write(cache.words_file(folder), table, chosen, WORDS)
        return cache.read_words(folder)

    def check(chosen, words):
        plain = pq.ParquetFile(cache.words_file(folder)).read(columns=["word"])
        assert plain.column_names == ["word"] and words.dtype == np.int32
        assert len(words) == len(EXAMPLE) and plain["word"].to_pylist() == words.tolist()

    fuzzed(table_damage.FILES, read, check)
