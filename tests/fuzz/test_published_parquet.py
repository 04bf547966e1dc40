"""The Parquet files of published datasets, with wrong columns, types, cells and bytes: texts, questions, relations."""

import json
import re

import pyarrow as pa
from hypothesis import strategies as st

from tests.fuzz import table_damage
from tests.fuzz.damage import fuzzed
from tests.fuzz.published import rows_of, spans_lie_within

LABELS = ["no", "yes"]
ANSWERS = pa.struct({"text": pa.list_(pa.string()), "answer_start": pa.list_(pa.int32())})
METADATA = [  # what the Hub stores of a label's names: right, absent, garbled
    {"huggingface": json.dumps({"info": {"features": {"label": {"names": LABELS, "_type": "ClassLabel"}}}})},
    *(None, None),
    {"huggingface": json.dumps({"info": {"features": {"label": {"names": LABELS[::-1], "_type": "ClassLabel"}}}})},
    {"huggingface": json.dumps({"info": {"features": {"label": {"names": [1, 2], "_type": "ClassLabel"}}}})},
    {"huggingface": json.dumps({"info": {"features": {"label": {"names": 3, "_type": "Class"}}}})},
    {"huggingface": json.dumps({"info": {"features": {"sentence": {"dtype": "int32", "_type": "Value"}}}})},
    {"huggingface": json.dumps({"info": {"features": [1]}})},
    *({"huggingface": "[1"}, {"huggingface": "[1]"}, {"huggingface": b"\xff"}),
]
MADE = st.tuples(table_damage.FILES, st.sampled_from(METADATA))


def of_file(made: pa.Table, *names: str) -> list[tuple]:
    assert all(made.column_names.count(name) == 1 for name in names)
    return list(zip(*(made.column(made.column_names.index(name)).to_pylist() for name in names)))


def test_texts(tmp_path):
    file = tmp_path / "toy.parquet"
    table = [("sentence", [" a ", "b", "ł c"]), ("label", [0, 1, 0]), ("more", ["d", "", "f"]), ("idx", [5, 6, 7])]
    options = {"text": ["sentence", "more"], "label": "label", "id": "idx"}

    def read(drawn):
        made = table_damage.write(file, table, drawn[0], {}, drawn[1])
        return made, rows_of(file, "text", "text", labels=LABELS, options=options)

    def check(drawn, result):
        made, rows = result
        assert drawn[1] not in METADATA[3:5] and all(0 <= row["label"] < 2 for row in rows)
        assert len({row["id"] for row in rows}) == len(rows)
        if drawn[0][1]:
            return  # of damaged bytes: values may be other values, as such files have no checksums
        plain = of_file(made, "sentence", "more", "label", "idx")
        assert [(row["id"], row["text"], row["label"]) for row in rows] == [
            (f"train-{idx}", f"{text.strip()} {more.strip()}".strip(), label) for text, more, label, idx in plain
        ]
        assert all(type(label) is int and type(idx) in (int, str) for *_, label, idx in plain)

    fuzzed(MADE, read, check)


def test_questions(tmp_path):
    file, context = tmp_path / "toy.parquet", "  Ogród 🐻 Saski stands in Warsaw. "
    answers = [{"text": ["Saski"], "answer_start": [10]}, {"text": ["Warsaw", "in Warsaw"], "answer_start": [26, 23]}]
    table = [("id", ["q0", "q1"]), ("question", [" Where? ", "Which?"]), ("context", [context] * 2)]
    table += [("answers", answers)]

    def read(drawn):
        made = table_damage.write(file, table, drawn[0], {"answers": ANSWERS}, drawn[1])
        return made, rows_of(file, "questions", "qa")

    def check(drawn, result):
        made, rows = result
        assert len({row["id"] for row in rows}) == len(rows)
        for row in rows:
            for answer in row["answers"]:
                start = answer["start"]
                assert start >= 0 and row["context"][start : start + len(answer["text"])] == answer["text"]
        if not drawn[0][1]:
            for row, (key, question, context, found) in zip(rows, of_file(made, *(n for n, _ in table)), strict=True):
                assert type(key) in (int, str) and row["id"] == f"train-{key}" and row["context"] == context
                assert row["question"] == question.strip()
                plain = list(zip(found["text"], found["answer_start"], strict=True))
                assert [(a["text"], a["start"]) for a in row["answers"]] == plain and row["answers"]

    fuzzed(MADE, read, check)


def test_relations(tmp_path):
    file, marked = tmp_path / "toy.parquet", ["The <e1>fire</e1> caused <e2>smoke</e2>.", "<e2>a b</e2> and <e1>c</e1>"]
    table = [("sentence", marked), ("relation", [0, 1]), ("more", ["<e1>a</e1>", "<e1>a</e1> <e2>b</e2>"])]

    def read(drawn):
        made = table_damage.write(file, table, drawn[0], {}, drawn[1])
        return made, rows_of(file, "relations", "spans", labels=LABELS)

    def check(drawn, result):
        made, rows = result
        assert all(map(spans_lie_within, rows)) and all(len(row["targets"]) == 1 for row in rows)
        assert all(row["targets"][0]["labels"][0] in LABELS for row in rows)
        if not drawn[0][1]:
            for row, (text, number) in zip(rows, of_file(made, "sentence", "relation"), strict=True):
                target = row["targets"][0]
                assert type(number) is int and target["labels"] == [LABELS[number]]
                assert "".join(row["words"]) == "".join(re.sub("</?e[12]>", "", text).split())
                for n in "12":
                    inside = re.search(f"<e{n}>(.*)</e{n}>", text, re.DOTALL)[1]
                    covered = row["words"][target[f"start{n}"] : target[f"end{n}"]]
                    assert "".join(covered) == "".join(inside.split())

    fuzzed(MADE, read, check)


def test_sentences_of_articles(tmp_path):
    file, options = tmp_path / "toy.parquet", {"id": "id", "text": "text", "min_words": 2, "max_words": 6}
    articles = [
        "Heading\nOne is here. Two is here too. No",
        "Only this one is here.\n• item",
        "First of all. A last one.",
    ]
    table = [("id", ["a", "b", "c"]), ("text", articles), ("title", ["x", "y", "z"])]

    def read(drawn):
        made = table_damage.write(file, table, drawn[0], {}, drawn[1])
        return made, rows_of(file, "sentences", "text", options=options, rows=4)

    def check(drawn, result):
        made, rows = result
        assert 0 < len(rows) <= 4 and len({row["id"] for row in rows}) == len(rows)
        assert all(2 <= len(row["text"].split()) <= 6 and row["label"] == 0 for row in rows)
        if not drawn[0][1]:
            of_id = {f"train-{key}": text for key, text in of_file(made, "id", "text") if type(key) in (int, str)}
            assert all(row["text"] in " ".join(of_id[row["id"].rpartition("-")[0]].split()) for row in rows)
            assert len(of_id) == made.num_rows

    fuzzed(MADE, read, check)
