"""The dataset contract: what is written reads back, the same rows give the same bytes, bad rows are named."""

import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import SCHEMAS, read_dataset, write_dataset

TREE = {"words": ["Dogs", "bark", "."], "upos": ["NOUN", "VERB", "PUNCT"], "deprel": ["nsubj", "root", "punct"]}
SPAN = {"start1": 0, "end1": 1, "start2": None, "end2": None, "labels": ["NP"]}
ROWS = {
    "text": [
        {"id": "a", "text": "Good – très bien.", "text_pair": None, "label": 1},
        {"id": "b", "text": "", "text_pair": None, "label": 0},
    ],
    "qa": [
        {"id": "a", "question": "Who?", "context": "Ann left.", "answers": [{"text": "Ann", "start": 0}]},
        {"id": "b", "question": "Why?", "context": "Ann left.", "answers": []},
    ],
    "treebank": [{"id": "a", **TREE, "head": [2, 0, 2]}],
    "spans": [
        {"id": "a", "words": ["Dogs", "bark"], "targets": [SPAN, SPAN | {"start2": 1, "end2": 2, "labels": []}]},
        {"id": "b", "words": ["Dogs"], "targets": []},
    ],
}
LABELS = {"text": ["no", "yes"], "qa": [], "treebank": [], "spans": ["NP", "VP"]}


def write(path, rows, kind, **changes):
    words = {"dataset": "toy", "split": "train", "kind": kind, "labels": LABELS.get(kind, []), "source": "by hand"}
    return write_dataset(path, rows, **(words | changes))


@pytest.mark.parametrize("kind", SCHEMAS)
def test_written_rows_read_back(tmp_path, kind):
    info = write(tmp_path / "deep" / "x.parquet", ROWS[kind], kind)
    table, read_info = read_dataset(tmp_path / "deep" / "x.parquet")
    assert table.to_pylist() == ROWS[kind]
    assert table.schema.equals(SCHEMAS[kind])
    assert read_info == info
    assert info.keys() == {"dataset", "split", "kind", "labels", "source", "rows", "digest"}
    assert info["rows"] == len(ROWS[kind]) and len(info["digest"]) == 64


@pytest.mark.parametrize("kind", SCHEMAS)
def test_same_rows_give_same_bytes_however_they_are_cut(tmp_path, kind):
    rows = [{**ROWS[kind][0], "id": str(n)} for n in range(10)]
    pieces = [pa.Table.from_pylist(part, schema=SCHEMAS[kind]) for part in (rows[:1], rows[1:7], rows[7:])]
    padded = pa.concat_tables([pieces[0], *pieces, pieces[0]]).slice(1, 10)
    write(tmp_path / "rows", rows, kind)
    write(tmp_path / "table", padded, kind)
    assert (tmp_path / "rows").read_bytes() == (tmp_path / "table").read_bytes()


def test_digest_tells_contents_apart_but_not_names(tmp_path):
    def digest(rows, **changes):
        return write(tmp_path / "x", rows, "text", **changes)["digest"]

    first, second = ROWS["text"]
    assert digest([first, second]) == digest([first, second], split="test", source="elsewhere")
    others = [digest([second, first]), digest([first]), digest([first, second], labels=["a", "b"])]
    assert len({digest([first, second]), *others}) == 4


def test_a_table_may_have_more_columns_and_other_integers(tmp_path):
    table = pa.table(
        {"label": pa.array([1], pa.int8()), "text": ["x"], "text_pair": pa.nulls(1), "id": ["a"], "more": [1]}
    )
    write(tmp_path / "x", table, "text")
    assert read_dataset(tmp_path / "x")[0].column_names == ["id", "text", "text_pair", "label"]


def test_an_unlabelled_dataset_has_label_zero(tmp_path):
    write(tmp_path / "x", [ROWS["text"][1]], "text", labels=[])
    with pytest.raises(UserError, match=r"row a: label 1 is outside 0\.\.0"):
        write(tmp_path / "y", [ROWS["text"][0]], "text", labels=[])


def changed(kind, **changes):
    return [ROWS[kind][0] | {"id": "fine"}, ROWS[kind][0] | {"id": "bad"} | changes]


@pytest.mark.parametrize(
    "kind, rows, message",
    [
        ("text", [], "it has no rows"),
        ("text", changed("text", label=2), "row bad: label 2 is outside 0..1"),
        ("text", changed("text", label=-1), "row bad: label -1 is outside 0..1"),
        ("text", changed("text", label=None), "row bad: label is null"),
        ("text", changed("text", text=None), "row bad: text is null"),
        ("text", changed("text", id="fine"), "row fine: its id is not unique"),
        ("text", changed("text", id=None), "row None: id is null"),
        ("text", changed("text", label="one"), "rows do not fit kind 'text'"),
        ("text", pa.table({"id": ["a"]}), "rows do not fit kind 'text'"),
        ("txt", ROWS["text"], "unknown kind 'txt' (did you mean 'text'?)"),
        ("qa", changed("qa", context=None), "row bad: context is null"),
        ("qa", changed("qa", answers=[{"text": "Ann", "start": 1}]), "row bad: answer 'Ann' does not stand at 1"),
        ("qa", changed("qa", answers=[{"text": "Ann", "start": -9}]), "row bad: answer 'Ann' does not stand at -9"),
        ("qa", changed("qa", answers=[{"text": None, "start": 1}]), "row bad: text is null"),
        ("treebank", changed("treebank", head=[2, 0, 4]), "row bad: head 4 is outside 0..3"),
        ("treebank", changed("treebank", head=[2, 0, -1]), "row bad: head -1 is outside 0..3"),
        ("treebank", changed("treebank", head=[0, 0, 2]), "row bad: 2 roots"),
        ("treebank", changed("treebank", head=[2, 3, 2]), "row bad: 0 roots"),
        ("treebank", changed("treebank", head=[0, 3, 2]), "row bad: its heads run in a circle"),
        ("treebank", changed("treebank", head=[0, 2, 1]), "row bad: its heads run in a circle"),
        ("treebank", changed("treebank", upos=["NOUN"]), "row bad: 3 words, 1 upos"),
        ("treebank", changed("treebank", words=["Dogs", None, "."]), "row bad: words holds a null"),
        ("treebank", changed("treebank", words=[], upos=[], head=[], deprel=[]), "row bad: 0 words"),
        ("spans", changed("spans", targets=[SPAN | {"end1": 3}]), "row bad: span 0..3 does not lie in its 2 words"),
        ("spans", changed("spans", targets=[SPAN | {"start1": 1}]), "row bad: span 1..1 does not lie"),
        ("spans", changed("spans", targets=[SPAN, SPAN | {"start2": -1, "end2": 1}]), "row bad: span -1..1"),
        ("spans", changed("spans", targets=[SPAN | {"start2": 1}]), "row bad: span 1..None"),
        ("spans", changed("spans", targets=[SPAN | {"start1": None}]), "row bad: start1 is null"),
        ("spans", changed("spans", targets=[SPAN | {"labels": None}]), "row bad: labels is null"),
        ("spans", changed("spans", targets=[SPAN | {"labels": ["XP"]}]), "row bad: unknown label 'XP'"),
    ],
)
def test_bad_rows_are_named_in_one_line_and_nothing_is_written(tmp_path, kind, rows, message):
    with pytest.raises(UserError) as error:
        write(tmp_path / "x", rows, kind)
    assert str(error.value).startswith("dataset toy, split train") and message in str(error.value)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_corrupt_and_foreign_files_are_named(tmp_path):
    good = tmp_path / "good.parquet"
    write(good, ROWS["text"], "text")
    (tmp_path / "cut.parquet").write_bytes(good.read_bytes()[:-20])
    pq.write_table(pa.table({"a": [1]}), tmp_path / "foreign.parquet")
    for name, message in (("cut", "is no readable Parquet"), ("foreign", "no dataset of this"), ("absent", "absent")):
        with pytest.raises(UserError, match=f"{name}.parquet.*{message}") as error:
            read_dataset(tmp_path / f"{name}.parquet")
        assert "\n" not in str(error.value)


def test_a_treebank_of_ordinary_size_is_checked_quickly(tmp_path):
    n = 20
    tree = {"words": ["w"] * n, "upos": ["X"] * n, "head": [*range(n)], "deprel": ["dep"] * n}
    table = pa.Table.from_pylist([{"id": str(i), **tree} for i in range(12_544)], schema=SCHEMAS["treebank"])
    start = time.process_time()
    write(tmp_path / "x", table, "treebank")
    assert time.process_time() - start < 4  # about 0.4 s on a quiet core


def test_pairs_and_single_texts_are_not_mixed(tmp_path):
    rows = [dict(row, text_pair=pair) for row, pair in zip(ROWS["text"], ("second", None))]
    about = {"dataset": "d", "split": "train", "kind": "text", "labels": LABELS["text"], "source": "test"}
    with pytest.raises(UserError, match="row b: it has one text, where others have two"):
        write_dataset(tmp_path / "x.parquet", rows, **about)
