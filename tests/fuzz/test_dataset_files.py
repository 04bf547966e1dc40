"""Our own datasets, damaged on disk: another table, other metadata, other bytes.

A bit that changes inside a value is not noticed, as the files have no checksums; all that can be seen is checked.
"""

import json

import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from tests.fuzz import table_damage
from tests.fuzz.damage import damaged, damages, fuzzed
from tests.fuzz.json_damage import JSON
from workflow.lib.data.dataset_files import SCHEMAS, read_dataset

SPAN = {"start1": 0, "end1": 1, "start2": None, "end2": None, "labels": ["NP"]}
ROWS = {
    "text": [{"id": n, "text": f"text {n}", "text_pair": None, "label": 1} for n in "abc"],
    "qa": [{"id": n, "question": "Who?", "context": "Ann", "answers": [{"text": "Ann", "start": 0}]} for n in "ab"],
    "treebank": [{"id": n, "words": ["Go"], "upos": ["VERB"], "head": [0], "deprel": ["root"]} for n in "ab"],
    "spans": [{"id": n, "words": ["Dogs", "bark"], "targets": [SPAN]} for n in "ab"],
}


def test_datasets(tmp_path):
    file = tmp_path / "toy.parquet"

    def read(drawn):
        kind, chosen, of_metadata = drawn
        info = {"dataset": "toy", "split": "train", "kind": kind, "labels": ["NP", "VP"], "rows": len(ROWS[kind])}
        metadata = {"tunescope": json.dumps(damaged([info], of_metadata)[:1])[1:-1]}
        table = [(name, [row[name] for row in ROWS[kind]]) for name in SCHEMAS[kind].names]
        types = {field.name: field.type for field in SCHEMAS[kind]}
        made = table_damage.write(file, table, chosen, types, metadata)
        return made, *read_dataset(file)

    def check(drawn, result):
        made, table, info = result
        assert table.schema.names == SCHEMAS[info["kind"]].names and table.num_rows == info["rows"]
        assert table.schema.types == SCHEMAS[info["kind"]].types
        rows = table.to_pylist()  # every byte of a text is text
        assert drawn[1][1] or rows == made.to_pylist()

    some = damages(*JSON, most=1, often=2)
    fuzzed(st.tuples(st.sampled_from(list(ROWS)), table_damage.FILES, some), read, check)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_whole_datasets_are_read(tmp_path, kind):
    made = pq.read_table  # the reader above is only worth fuzzing if it reads what is whole
    file = tmp_path / "toy.parquet"
    types = {field.name: field.type for field in SCHEMAS[kind]}
    table = [(name, [row[name] for row in ROWS[kind]]) for name in SCHEMAS[kind].names]
    metadata = {"tunescope": json.dumps({"kind": kind, "rows": len(ROWS[kind])})}
    table_damage.write(file, table, ([], []), types, metadata)
    assert read_dataset(file)[0].to_pylist() == ROWS[kind] == made(file).to_pylist()
