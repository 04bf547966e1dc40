"""Questions, relations and edges to rows: on made files of the published layouts, and on real ones if present."""

import gzip
import json
import random
import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import Dataset

from workflow.lib.base.errors import UserError
from workflow.lib.data.adapters import adapt
from workflow.lib.data.adapters.choosing import drawn
from workflow.lib.data.adapters.relations import words_and_spans
from workflow.lib.data.dataset_files import SCHEMAS, read_dataset, write_dataset
from workflow.lib.data.sources import locate_with_origin
from workflow.scripts.fetch_dataset import fetch

REGISTRY = yaml.safe_load((Path(__file__).resolve().parents[2] / "config" / "datasets.yaml").read_text())["registry"]


def adapted(file, adapter, *, labels=(), shape="span-pair", options=None, rows=None, **split):
    entry = {"adapter": adapter, "options": options or {}, "labels": list(labels), "shape": shape}
    return adapt([file], entry | {"splits": {"train": split}}, dataset="toy", split="train", seed=1, rows=rows)


def one_line_error(message, *arguments, **words):
    with pytest.raises(UserError, match=message) as error:
        adapted(*arguments, **words)
    assert "\n" not in str(error.value)


def span(start1, end1, labels, start2=None, end2=None):
    return {"start1": start1, "end1": end1, "start2": start2, "end2": end2, "labels": labels}


# ---- questions (SQuAD)

ANSWERS = pa.struct({"text": pa.list_(pa.string()), "answer_start": pa.list_(pa.int32())})
CONTEXT = "  Ogród 🐻 Saski stands in Warsaw. "


def squad(path, *answers, question=" Where? ", context=CONTEXT):
    n = len(answers)
    columns = {
        "id": [f"q{number}" for number in range(n)],
        "title": ["Warsaw"] * n,
        "context": [context] * n,
        "question": [question] * n,
        "answers": pa.array(list(answers), ANSWERS),
    }
    pq.write_table(pa.table(columns), path)
    return path


def test_questions_with_one_and_several_answers(tmp_path):
    several = {"text": ["Warsaw", "in Warsaw", "Warsaw"], "answer_start": [26, 23, 26]}
    file = squad(tmp_path / "0.parquet", {"text": ["Saski"], "answer_start": [10]}, several)
    table = adapted(file, "questions")
    assert table.schema == SCHEMAS["qa"]
    first, second = table.to_pylist()
    assert first == {
        "id": "train-q0",
        "question": "Where?",
        "context": CONTEXT,  # not trimmed: the starts count its spaces, and a bear as one character
        "answers": [{"text": "Saski", "start": 10}],
    }
    assert second["answers"] == [
        {"text": t, "start": s} for t, s in (("Warsaw", 26), ("in Warsaw", 23), ("Warsaw", 26))
    ]
    words = {"dataset": "toy", "split": "train", "kind": "qa", "labels": [], "source": "made"}
    assert write_dataset(tmp_path / "x", table, **words)["rows"] == 2


def test_a_start_that_is_off_by_one_stops_the_run(tmp_path):
    """As offsets in UTF-8 or UTF-16 would be, after the ó or the bear."""
    table = adapted(squad(tmp_path / "0.parquet", {"text": ["Saski"], "answer_start": [11]}), "questions")
    words = {"dataset": "toy", "split": "train", "kind": "qa", "labels": [], "source": "made"}
    with pytest.raises(UserError, match="row train-q0: answer 'Saski' does not stand at 11 in the context"):
        write_dataset(tmp_path / "x", table, **words)


@pytest.mark.parametrize(
    "answers, message",
    [
        ({"text": [], "answer_start": []}, r"0\.parquet, question q0: it has 0 answers and 0 starts"),  # SQuAD 2.0
        ({"text": ["a", "b"], "answer_start": [1]}, "question q0: it has 2 answers and 1 starts"),
        (None, "question q0: its answers are not lists"),
    ],
)
def test_odd_answers_are_named(tmp_path, answers, message):
    one_line_error(message, squad(tmp_path / "0.parquet", answers), "questions")


def test_answers_of_another_layout_are_named(tmp_path):
    columns = {"id": ["q"], "context": ["c"], "question": ["?"], "answers": [[{"text": "c", "answer_start": 0}]]}
    pq.write_table(pa.table(columns), tmp_path / "0.parquet")
    one_line_error(
        "question q: its answers are not lists `text` and `answer_start`", tmp_path / "0.parquet", "questions"
    )
    pq.write_table(pa.table({"id": ["q"], "context": ["c"]}), tmp_path / "1.parquet")
    one_line_error(r"1\.parquet has no column 'question'", tmp_path / "1.parquet", "questions")


# ---- relations (SemEval-2010 task 8)

RELATIONS = ["Cause-Effect(e1,e2)", "Cause-Effect(e2,e1)", "Other"]


def semeval(path, sentences, relations, names=RELATIONS):
    features = {"relation": {"names": names, "_type": "ClassLabel"}}
    table = pa.table({"sentence": sentences, "relation": pa.array(relations, pa.int64())})
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})}), path)
    return path


@pytest.mark.parametrize(
    "marked, words, first, second",
    [
        ("The <e1>fire</e1> caused <e2>smoke</e2>.", "The fire caused smoke .", (1, 2), (3, 4)),
        ("<e1>Forest fires</e1>, by <e2>heat waves</e2>", "Forest fires , by heat waves", (0, 2), (4, 6)),
        ("A duel of doves<e2>moles</e2> and<e1> apes </e1>.", "A duel of doves moles and apes .", (6, 7), (4, 5)),
        ('An "<e1>all-time</e1>" high: <e2>$5.3m</e2>', 'An " all-time " high : $ 5.3m', (2, 3), (6, 8)),
        ("its <e1>owner's</e1> <e2>pre</e2>-war (U.S.) one", "its owner's pre - war ( U.S . ) one", (1, 2), (2, 3)),
    ],
)
def test_marks_become_spans_of_words(marked, words, first, second):
    assert words_and_spans(marked) == (words.split(), {"e1": first, "e2": second})


def test_relations_are_pairs_of_spans(tmp_path):
    sentences = ["The <e1>fire</e1> caused <e2>smoke</e2>.", "<e1>Smoke</e1> from <e2>fire</e2>"]
    file = semeval(tmp_path / "0.parquet", sentences, [0, 1])
    table = adapted(file, "relations", labels=RELATIONS)
    assert table.schema == SCHEMAS["spans"]
    assert table.to_pylist() == [
        {
            "id": "train-0",
            "words": ["The", "fire", "caused", "smoke", "."],
            "targets": [span(1, 2, ["Cause-Effect(e1,e2)"], 3, 4)],
        },
        {"id": "train-1", "words": ["Smoke", "from", "fire"], "targets": [span(0, 1, ["Cause-Effect(e2,e1)"], 2, 3)]},
    ]


@pytest.mark.parametrize(
    "sentence, relation, message",
    [
        ("<e1>a</e1> b", 0, r"0\.parquet, row 1: it does not have words marked"),
        ("<e1>a</e1> <e2> </e2>", 0, "row 1: it does not have words marked"),
        ("<e1>a <e2>b</e2></e1>", 0, "row 1: <e2> stands where it should not"),
        ("<e1>a</e2> <e2>b</e1>", 0, "row 1: </e2> stands where it should not"),
        ("<e1>a</e1> <e1>b</e1>", 0, "row 1: <e1> stands where it should not"),
        ("<e1>a</e1> <e2>b", 0, "row 1: it does not have words marked"),
        (None, 0, "row 1: it does not have words marked"),
        ("<e1>a</e1> <e2>b</e2>", 3, r"row 1: relation 3 is outside 0\.\.2"),
        ("<e1>a</e1> <e2>b</e2>", None, "row 1: relation None is outside"),
    ],
)
def test_odd_relations_are_named(tmp_path, sentence, relation, message):
    file = semeval(tmp_path / "0.parquet", ["<e1>a</e1> <e2>b</e2>", sentence], [0, relation])
    one_line_error(message, file, "relations", labels=RELATIONS)


def test_relations_in_another_order_are_refused(tmp_path):
    file = semeval(tmp_path / "0.parquet", ["<e1>a</e1> <e2>b</e2>"], [0], RELATIONS[::-1])
    one_line_error("has labels .* where the registry says", file, "relations", labels=RELATIONS)


# ---- rows drawn as others drew them


def test_rows_are_drawn_one_by_one_and_the_others_left():
    rows = Dataset.from_dict({"id": list(range(500))})
    random.seed(42)  # the loop of the common script, on the global generator
    expected = [number for number in range(500) if random.random() <= 0.85]
    taken, left = (drawn(rows, seed=42, share=0.85, left=left)["id"][:] for left in (False, True))
    assert taken == expected and sorted(taken + left) == list(range(500)) and 50 < len(left) < 100


def test_both_parts_of_a_file_keep_the_numbers_of_their_rows(tmp_path, caplog):
    file = semeval(tmp_path / "0.parquet", [f"<e1>a{n}</e1> <e2>b</e2>" for n in range(60)], [0] * 60)
    parts = [
        adapted(file, "relations", labels=RELATIONS, drawn={"seed": 7, "share": 0.6, "left": left}).to_pylist()
        for left in (False, True)
    ]
    assert sorted(int(row["id"].split("-")[1]) for part in parts for row in part) == list(range(60))
    assert all(row["words"][0] == f"a{row['id'].split('-')[1]}" for part in parts for row in part)
    few = adapted(file, "relations", labels=RELATIONS, rows=5, drawn={"seed": 7, "share": 0.6}).to_pylist()
    assert len(few) == 5 and {row["id"] for row in few} < {row["id"] for row in parts[0]} and not caplog.records


# ---- edges in JSON lines

SRL = {
    "text": "Ian ate  strawberry ice cream",
    "info": {"source": "made"},
    "targets": [
        {"span1": [1, 2], "span2": [0, 1], "label": "A0"},
        {"span1": [1, 2], "span2": [2, 5], "label": ["A1"], "info": {"height": 2}},
    ],
}
EMPTY = {"text": "Nothing here", "targets": []}
SPR = {"text": "It went away", "targets": [{"span1": [1, 2], "span2": [0, 1], "label": []}]}
NER = {"text": "Ian ate in New York", "targets": [{"span1": [3, 5], "label": "GPE"}]}


def lines(path, *records):
    text = "".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_pairs_of_spans(tmp_path, name):
    table = adapted(lines(tmp_path / name, SRL, EMPTY, "", SPR), "edges")
    assert table.schema == SCHEMAS["spans"]
    assert table.to_pylist() == [
        {
            "id": "train-0",
            "words": ["Ian", "ate", "strawberry", "ice", "cream"],
            "targets": [span(1, 2, ["A0"], 0, 1), span(1, 2, ["A1"], 2, 5)],
        },
        {"id": "train-2", "words": ["It", "went", "away"], "targets": [span(1, 2, [], 0, 1)]},
    ]


def test_single_spans(tmp_path):
    null = {"text": "Ian", "targets": [{"span1": [0, 1], "span2": None, "label": "PERSON"}]}
    rows = adapted(lines(tmp_path / "x.json", NER, null), "edges", shape="span").to_pylist()
    assert [row["targets"] for row in rows] == [[span(3, 5, ["GPE"])], [span(0, 1, ["PERSON"])]]


def test_more_records_than_are_held_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.lib.data.adapters.edges.ROWS_AT_ONCE", 3)
    table = adapted(lines(tmp_path / "x.json", *[NER] * 10), "edges", shape="span")
    assert table["id"].to_pylist() == [f"train-{number}" for number in range(10)]


def test_a_file_without_any_target_has_no_rows(tmp_path):
    table = adapted(lines(tmp_path / "x.json", EMPTY), "edges")
    assert table.num_rows == 0 and table.schema == SCHEMAS["spans"]


def changed(**changes):
    return {"text": "a b c", "targets": [{"span1": [0, 1], "span2": [1, 3], "label": "x"} | changes]}


@pytest.mark.parametrize(
    "record, message",
    [
        ('{"text": "a", ', r"x\.json, line 2: no JSON"),
        ("[1]", "line 2: a field .* has another form"),
        ({"targets": []}, "line 2: a field .* is missing: 'text'"),
        ({"text": "a b"}, "line 2: a field .* is missing: 'targets'"),
        ({"text": 3, "targets": []}, "line 2: a field .* has another form"),
        (changed(span1=[0, 4]), r"line 2: span \[0, 4\] does not lie in its 3 words"),
        (changed(span2=[1, 1]), r"line 2: span \[1, 1\] does not lie"),
        (changed(span1=[-1, 1]), r"line 2: span \[-1, 1\] does not lie"),
        (changed(span1=[0]), r"line 2: span \[0\] does not lie"),
        (changed(span1=["0", "1"]), "line 2: span .* does not lie"),
        (changed(span1=None), "line 2: a field .* has another form"),
        (changed(span2=None), "line 2: a target has one span where"),
        (changed(label=3), "line 2: label 3 is no text"),
        (changed(label=["x", None]), "line 2: label .* is no text"),
        (changed(label=None), "line 2: label None is no text"),
        ({"text": "a", "targets": [{"span1": [0, 1], "span2": [0, 1]}]}, "line 2: a field .* is missing: 'label'"),
    ],
)
def test_odd_records_are_named_by_line(tmp_path, record, message):
    one_line_error(message, lines(tmp_path / "x.json", SRL, record), "edges")


def test_a_second_span_in_a_task_of_single_spans_is_refused(tmp_path):
    one_line_error("line 1: a target has two spans where", lines(tmp_path / "x.json", SRL), "edges", shape="span")


LICENSED = {
    "ep_constituents": "edges/ontonotes/const/nonterminal/development.json",
    "ep_pos_ontonotes": "edges/ontonotes/const/pos/development.json",
    "ep_entities": "edges/ontonotes/ner/development.json",
    "ep_srl": "edges/ontonotes/srl/development.json",
    "ep_coreference": "edges/ontonotes/coref/development.json",
    "ep_spr": "edges/spr1/spr1.dev.json",
}


@pytest.mark.parametrize("dataset", LICENSED)
def test_licensed_files_in_their_folder_become_datasets(tmp_path, dataset):
    """The file names that jiant's scripts write, as a user would drop them."""
    entry, path = REGISTRY[dataset], tmp_path / "licensed" / LICENSED[dataset]
    words = {"entry": entry, "dataset": dataset, "split": "dev", "rows": None, "seed": 0, "mirror": None}
    with pytest.raises(
        UserError, match=rf"dataset {dataset}, split dev: not found.*<folder>/{LICENSED[dataset]}; it is"
    ):
        fetch(tmp_path / "out", **words, licensed=str(tmp_path / "licensed"))
    path.parent.mkdir(parents=True)
    label = (entry["labels"] or ["x"])[0]
    record = NER if entry["shape"] == "span" else SRL
    targets = [target | {"label": label} for target in record["targets"]]
    lines(path, record | {"targets": targets}, EMPTY)
    info = fetch(tmp_path / "out", **words, licensed=str(tmp_path / "licensed"))
    assert info["rows"] == 1 and info["kind"] == "spans"
    assert read_dataset(tmp_path / "out")[0]["targets"][0].as_py()[0]["labels"] == [label]


# ---- edges of trees

TREE = [  # form, UPOS, XPOS, head, relation
    ("My", "PRON", "PRP$", 2, "nmod:poss"),
    ("dog", "NOUN", "NN", 3, "nsubj"),
    ("barks", "VERB", "VBZ", 0, "root"),
    (".", "PUNCT", ".", 3, "punct"),
]


def conllu(path, *trees, extra=()):
    text = ""
    for tree in trees:
        rows = [
            "\t".join([str(number), form, "_", upos, xpos, "_", str(head), relation, "_", "_"])
            for number, (form, upos, xpos, head, relation) in enumerate(tree, 1)
        ]
        text += "\n".join([*rows, *extra]) + "\n\n"
    path.write_text(text)
    return path


def test_dependencies_of_a_tree(tmp_path):
    empty = "\t".join(["4.1", "barks", "_", "VERB", "VBZ", *"_____"])  # no text: dropped, and its sentence kept
    [row] = adapted(
        conllu(tmp_path / "x.conllu", TREE, extra=[empty]), "tree_edges", options={"label": "deprel"}
    ).to_pylist()
    assert row["id"] == "train-0" and row["words"] == ["My", "dog", "barks", "."]
    assert row["targets"] == [
        span(0, 1, ["nmod:poss"], 1, 2),
        span(1, 2, ["nsubj"], 2, 3),
        span(2, 3, ["root"], 2, 3),  # the root is its own head
        span(3, 4, ["punct"], 2, 3),
    ]


@pytest.mark.parametrize("label, column", [("upos", 1), ("xpos", 2)])
def test_tags_of_a_tree(tmp_path, label, column):
    table = adapted(conllu(tmp_path / "x.conllu", TREE, TREE), "tree_edges", shape="span", options={"label": label})
    assert table.schema == SCHEMAS["spans"] and table["id"].to_pylist() == ["train-0", "train-1"]
    assert table["targets"][1].as_py() == [span(at, at + 1, [word[column]]) for at, word in enumerate(TREE)]


def test_a_missing_tag_is_named(tmp_path):
    without = [TREE[0], ("dog", "NOUN", "_", 3, "nsubj"), *TREE[2:]]
    file = conllu(tmp_path / "x.conllu", TREE, without)
    one_line_error(r"x\.conllu, sentence 1: word 2 has no XPOS", file, "tree_edges", options={"label": "xpos"})
    assert adapted(file, "tree_edges", options={"label": "deprel"}).num_rows == 2


def test_a_treebank_under_licence_is_read_as_any_other(tmp_path):
    folder = tmp_path / "treebanks/ptb"
    folder.mkdir(parents=True)
    conllu(folder / "dev.conllu", TREE)
    words = {"entry": REGISTRY["ptb"], "dataset": "ptb", "split": "dev", "rows": None, "seed": 0}
    fetch(tmp_path / "out", **words, mirror=None, licensed=str(tmp_path))
    assert read_dataset(tmp_path / "out")[0]["head"].to_pylist() == [[2, 3, 0, 3]]


# ---- real files


@pytest.fixture
def real(mirror, tmp_path):
    def read(dataset, split):
        words = {"entry": REGISTRY[dataset], "dataset": dataset, "split": split, "rows": None, "seed": 0}
        fetch(tmp_path / f"{dataset}-{split}", **words, mirror=str(mirror))
        return read_dataset(tmp_path / f"{dataset}-{split}")

    return read


@pytest.mark.parametrize("split, n_rows", [("train", 959), ("test", 231)])
def test_real_questions(real, split, n_rows):
    table, info = real("squad", split)
    assert info["kind"] == "qa" and info["rows"] == n_rows
    for row in table.to_pylist():
        assert row["question"] and len(row["answers"]) == 1  # as in XQuAD
        [answer] = row["answers"]
        assert row["context"][answer["start"] : answer["start"] + len(answer["text"])] == answer["text"] != ""
    not_ascii = [row for row in table.to_pylist() if not row["context"].isascii()]
    assert len(not_ascii) > n_rows / 10  # else offsets in bytes would have passed


def test_real_relations(real, mirror, caplog):
    """Every word and both spans of all 10,717 sentences, against the marked text itself."""
    folder = mirror / "SemEvalWorkshop/sem_eval_2010_task_8/default"
    for split, file, n_rows in (("train", "train", 6851), ("dev", "train", 1149), ("test", "test", 2717)):
        table, info = real("ep_relations", split)
        source = pq.read_table(folder / f"{file}-00000-of-00001.parquet").to_pylist()
        assert info["rows"] == n_rows and len(info["labels"]) == 19 and info["kind"] == "spans"
        for row in table.to_pylist():
            published, [target] = source[int(row["id"].split("-")[1])], row["targets"]
            assert target["labels"] == [info["labels"][published["relation"]]]
            plain = re.sub(r"</?e[12]>", "", published["sentence"])
            assert "".join(row["words"]) == "".join(plain.split())
            for number in "12":
                marked = re.search(f"<e{number}>(.*)</e{number}>", published["sentence"])[1]
                covered = row["words"][target[f"start{number}"] : target[f"end{number}"]]
                assert "".join(covered) == "".join(marked.split())
    assert not caplog.records


def test_the_development_set_of_real_relations_is_the_common_one(real, mirror):
    random.seed(42)
    left = [number for number in range(8000) if not random.random() <= 0.85]
    ids = [int(key.split("-")[1]) for key in real("ep_relations", "dev")[0]["id"].to_pylist()]
    assert ids == left and len(left) == 1149


def columns_of(mirror, column):
    """A column of EWT's development file, cut out without our reader."""
    text = (mirror / "UniversalDependencies/UD_English-EWT/en_ewt-ud-dev.conllu").read_text()
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [row[column] for row in rows if row[0].isdigit()]


def test_real_dependencies(real, mirror, caplog):
    (edges, info), (trees, _) = real("ep_dependencies", "dev"), real("ewt", "dev")
    assert info["rows"] == 2001 and edges["words"].to_pylist() == trees["words"].to_pylist()
    assert edges["id"].to_pylist() == trees["id"].to_pylist()
    targets = [target for row in edges["targets"].to_pylist() for target in row]
    assert [target["labels"] for target in targets] == [[label] for label in columns_of(mirror, 7)]
    heads = [target["start2"] + 1 if target["start2"] != target["start1"] else 0 for target in targets]
    assert heads == [int(head) for head in columns_of(mirror, 6)]
    assert Counter(target["labels"][0] for target in targets)["root"] == 2001 and not caplog.records


def test_real_parts_of_speech(real, mirror, caplog):
    table, info = real("ep_pos", "dev")
    targets = [target for row in table["targets"].to_pylist() for target in row]
    assert info["rows"] == 2001 and len(targets) == 25147
    assert [target["labels"] for target in targets] == [[tag] for tag in columns_of(mirror, 4)]
    assert {target["start2"] for target in targets} == {None} and not caplog.records


@pytest.mark.parametrize("dataset", ["ep_pos", "ep_dependencies"])
def test_real_treebank_edges_of_the_other_splits(mirror, caplog, dataset):
    entry = REGISTRY[dataset]
    for split, n_rows, n_targets in (("train", 12544, 204577), ("test", 2077, 25094)):
        files, _ = locate_with_origin(entry, split, mirror)
        table = adapt(files, entry, dataset=dataset, split=split, seed=0, rows=None)
        targets = table["targets"].combine_chunks()
        assert (table.num_rows, len(targets.flatten())) == (n_rows, n_targets)
    assert not caplog.records
