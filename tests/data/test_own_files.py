"""Datasets in a user's own files."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.scripts import run_script
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.own_files import columns_of, rows_in, split_of

FRAME = pd.DataFrame(
    {"review": [f"text {n}, \"quoted\"" for n in range(40)], "title": [f"title {n}" for n in range(40)],
     "mood": ["glad", "sad", "sad", "cross"] * 10}
)  # fmt: skip
WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
}


def entry(path, **options) -> dict:
    return {"path": path, "text": "review", "label": "mood", "test_share": 0.25} | options


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_same_rows(kind, tmp_path):
    path = tmp_path / f"mine.{kind}"
    WRITERS[kind](FRAME, path)
    train, labels = split_of(entry(str(path)), "mine", "train", None, 0)
    test, _ = split_of(entry(str(path)), "mine", "test", None, 0)
    assert labels == ["cross", "glad", "sad"] and (len(train), len(test)) == (30, 10)
    rows = {row["id"].partition("-")[2]: row for row in train.to_pylist() + test.to_pylist()}
    assert len(rows) == 40 and not set(train["text"].to_pylist()) & set(test["text"].to_pylist())
    for number, row in rows.items():
        assert row["text"] == FRAME["review"][int(number)] and labels[row["label"]] == FRAME["mood"][int(number)]
    # stratified: as in the whole, a half of the labels is "sad"
    assert test["label"].to_pylist().count(2) == 5
    assert rows_in(entry(str(path)), "train") == pytest.approx(30, abs=1)


def test_a_sample_keeps_the_test_rows_apart(tmp_path):
    FRAME.to_csv(tmp_path / "mine.csv", index=False)
    given = entry(str(tmp_path / "mine.csv"))
    test = set(split_of(given, "mine", "test", None, 0)[0]["text"].to_pylist())
    for seed in range(5):
        assert not test & set(split_of(given, "mine", "train", 12, seed)[0]["text"].to_pylist())


def test_files_of_splits_share_their_labels(tmp_path):
    paths = {"train": str(tmp_path / "a.csv"), "dev": str(tmp_path / "b.jsonl")}
    FRAME.assign(mood=[2, 10] * 20).to_csv(paths["train"], index=False)
    FRAME.assign(mood=[10, 3] * 20).to_json(paths["dev"], orient="records", lines=True)
    train, labels = split_of(entry(paths), "mine", "train", None, 0)
    dev, same = split_of(entry(paths), "mine", "dev", None, 0)
    assert labels == same == ["2", "3", "10"]  # by their numbers
    assert train["label"].to_pylist()[:2] == [0, 2] and dev["label"].to_pylist()[:2] == [2, 1]


def test_a_csv_is_read_as_it_is_written(tmp_path):
    """01 is no number, NA is no hole; names in brackets are no pattern of names."""
    path = tmp_path / "mine [1].csv"
    path.write_text("review,mood\nNA,01\nnull,1.10\n3,NA\nNone,01\n")
    table, labels = split_of(entry(str(path), test_share=0.5), "mine", "train", None, 0)
    rest, _ = split_of(entry(str(path), test_share=0.5), "mine", "test", None, 0)
    assert labels == ["01", "1.10", "NA"]
    assert sorted(table["text"].to_pylist() + rest["text"].to_pylist()) == ["3", "NA", "None", "null"]


def test_columns_are_known_before_any_job(tmp_path):
    for kind, write in WRITERS.items():
        write(FRAME, tmp_path / f"mine.{kind}")
        assert columns_of(tmp_path / f"mine.{kind}") == list(FRAME.columns)
    (tmp_path / "no.jsonl").write_text("[1, 2")
    with pytest.raises(UserError, match="cannot be read as jsonl"):
        columns_of(tmp_path / "no.jsonl")


def test_names_that_read_like_numbers_have_one_order(tmp_path):
    names = ["nan", "2", "b", "inf", "10", "-1", "NaN", "a"]
    for number, order in enumerate((names, names[::-1], sorted(names))):
        path = tmp_path / f"{number}.csv"
        path.write_text("review,mood\n" + "".join(f"text {name},{name}\n" for name in order))
        _, labels = split_of(entry(str(path)), "mine", "train", None, 0)
        assert labels == ["-1", "2", "10", "NaN", "a", "b", "inf", "nan"]


def test_columns_are_joined_pairs_are_two_texts_and_labels_may_be_left_out(tmp_path):
    FRAME.to_csv(tmp_path / "mine.csv", index=False)
    both = entry(str(tmp_path / "mine.csv"), text=["title", "review"], text_pair="mood")
    row = split_of(both, "mine", "train", None, 0)[0].to_pylist()[0]
    number = row["id"].partition("-")[2]
    assert row["text"].startswith(f"title {number} text {number}") and row["text_pair"] in ("glad", "sad", "cross")
    plain = {key: value for key, value in both.items() if key not in ("label", "text_pair")}
    table, labels = split_of(plain, "mine", "train", None, 0)
    assert labels == [] and set(table["label"].to_pylist()) == {0} and table["text_pair"].null_count == len(table)


@pytest.mark.parametrize(
    "text, changed, said",
    [
        ("review,mood\na,glad\nb,sad\n", {"text": "reveiw"}, "has no column 'reveiw' (did you mean 'review'?)"),
        ("review,mood\na,glad\nb,\n", {}, "row 2: column 'mood' is empty"),
        ("review,mood\na,glad\n ,sad\n,sad\n", {}, "row 2: column 'review' is empty (2 such rows)"),
        ("review,mood\na,glad\nb,glad\n", {}, "column 'mood' has 1 different labels"),
        ('review,mood\n"a,glad\n', {}, "cannot be read as csv"),
    ],
)
def test_a_fault_is_one_line_that_names_it(text, changed, said, tmp_path):
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(UserError) as caught:
        split_of(entry(str(tmp_path / "mine.csv"), **changed), "mine", "train", None, 0)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_the_script_writes_a_dataset_of_ours(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.lib.base.logs.report_at_exit", lambda: None)
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in FRAME.to_dict("records")))
    params = SimpleNamespace(entry=entry(str(path)), dataset="mine", split="test", rows=None, seed=0)
    job = SimpleNamespace(output=[str(tmp_path / "test.parquet")], log=[str(tmp_path / "log")], params=params)
    run_script("scripts/read_own_dataset", job)
    table, info = read_dataset(tmp_path / "test.parquet")
    assert info["labels"] == ["cross", "glad", "sad"] and info["kind"] == "text" and len(table) == 10
