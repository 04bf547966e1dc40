"""JSON lines of edge probing, damaged as text and as values."""

import json

from hypothesis import strategies as st

from tests.fuzz.damage import damaged, damages, fuzzed
from tests.fuzz.json_damage import JSON
from tests.fuzz.published import rows_of, spans_lie_within
from tests.fuzz.text_damage import TEXT

PAIRS = [
    {"text": "Ian ate  ice", "targets": [{"span1": [1, 2], "span2": [0, 1], "label": "A0"}], "info": {"id": 1}},
    {"text": "Nothing here", "targets": []},
    {"text": "It went away", "targets": [{"span1": [1, 2], "span2": [0, 1], "label": ["A0", "A1"]}]},
]
SINGLE = [{"text": "in New York", "targets": [{"span1": [1, 3], "label": "GPE"}, {"span1": [0, 1], "label": []}]}]
RECORDS = {"span-pair": PAIRS, "span": SINGLE}
CHOSEN = st.tuples(damages(*JSON), damages(*TEXT, most=1, often=4))


def written(records, chosen) -> bytes:
    values, text = chosen
    return damaged("".join(f"{json.dumps(record)}\n" for record in damaged(records, values)).encode(), text)


def test_edges(tmp_path):
    file = tmp_path / "toy.json"

    def read(drawn):
        shape, chosen = drawn
        file.write_bytes(written(RECORDS[shape], chosen))
        return rows_of(file, "edges", "spans", shape=shape)

    def check(drawn, rows):
        shape, chosen = drawn
        lines = written(RECORDS[shape], chosen).decode("utf-8-sig").replace("\r", "\n").split("\n")
        plain = [json.loads(line) for line in lines if line.strip()]
        expected = [(f"train-{n}", record) for n, record in enumerate(plain) if record["targets"]]
        assert [row["id"] for row in rows] == [key for key, _ in expected] and all(map(spans_lie_within, rows))
        assert all(type(record["text"]) is str and type(record["targets"]) in (list, type(None)) for record in plain)
        for row, (_, record) in zip(rows, expected):
            assert row["words"] == record["text"].split()
            for target, source in zip(row["targets"], record["targets"], strict=True):
                assert [target["start1"], target["end1"]] == source["span1"]
                second = source.get("span2") if shape == "span-pair" else [None, None]
                assert [target["start2"], target["end2"]] == second
                assert target["labels"] == ([source["label"]] if type(source["label"]) is str else source["label"])

    fuzzed(st.tuples(st.sampled_from(list(RECORDS)), CHOSEN), read, check)
