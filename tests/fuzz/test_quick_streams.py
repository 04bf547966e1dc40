"""What `conftest` puts in place of `load_dataset` reads, and fails, as that does."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.fuzz.conftest import asked_of_datasets, of_the_builder

FILES = {
    "a.txt": b"one\r\n\xc5\x81\xc3\xb3d\xc5\xba\n\n",
    "a.gz": gzip.compress(b"one\ntwo"),
    "cut.gz": gzip.compress(b"one\ntwo")[:-9],
    "latin.txt": b"\xff\n",
    "empty.txt": b"",
    "a.parquet": None,
    "no.parquet": b"PAR1",
}


@pytest.mark.parametrize("name", FILES)
def test_both_ways_to_a_stream_are_the_same(tmp_path, name):
    file, builder = tmp_path / name, "parquet" if name.endswith("parquet") else "text"
    if name == "a.parquet":
        pq.write_table(pa.table({"a": ["x", None], "b": [1, 2]}), file)
    else:
        file.write_bytes(FILES[name])

    def outcome(stream):
        try:
            rows = stream()
            return rows.features, list(rows)
        except Exception as error:
            return type(error), str(error)

    quick = outcome(lambda: of_the_builder(builder, file, tmp_path))
    assert quick == outcome(lambda: asked_of_datasets(builder, file))
