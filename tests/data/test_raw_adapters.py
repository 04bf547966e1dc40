"""Raw official files to rows: CoNLL-U, STREUSLE's JSON, lines with a label; on made files, and real ones if present."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from workflow.lib.base.errors import UserError
from workflow.lib.data.adapters import adapt
from workflow.lib.data.dataset_files import SCHEMAS, read_dataset
from workflow.scripts.fetch_dataset import fetch

REGISTRY = yaml.safe_load((Path(__file__).resolve().parents[2] / "config" / "datasets.yaml").read_text())["registry"]


def adapted(file, adapter, options=None, labels=(), **split):
    entry = {"adapter": adapter, "options": options or {}, "labels": list(labels), "splits": {"train": split}}
    return adapt([file], entry, dataset="toy", split="train", seed=1, rows=None)


def written(path, content):
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def one_line_error(message, *arguments, **words):
    with pytest.raises(UserError, match=message) as error:
        adapted(*arguments, **words)
    assert "\n" not in str(error.value)


# ---- CoNLL-U


def word(number, form, upos, head, deprel):
    return "\t".join([str(number), form, "_", upos, "_", "_", str(head), deprel, "_", "_"])


RANGE = "\t".join(["2-3", "don't", *"________"])
EMPTY_FIRST = "\t".join(["0.1", "and", "and", "CCONJ", *"______"])
EMPTY = "\t".join(["3.1", "go", "go", "VERB", "_", "_", "_", "_", "3:conj", "CopyOf=3"])
FIRST = [
    "# newdoc id = a",
    "# sent_id = a-1",
    "# text = I don't .",
    EMPTY_FIRST,
    word(1, "I", "PRON", 3, "nsubj"),
    RANGE,
    word(2, "do", "AUX", 3, "aux"),
    word(3, "n't\u2028\x85", "PART", 0, "root"),  # separators that str.splitlines would break at
    EMPTY,
    word(4, "_", "PUNCT", 3, "punct:end"),
]
SECOND = ["# text = Go", word(1, "Go", "VERB", 0, "root")]


def conllu(*sentences, end="\n\n"):
    return "\n\n".join("\n".join(lines) for lines in sentences) + end


@pytest.mark.parametrize("name", ["x.conllu", "x.conllu.gz"])
@pytest.mark.parametrize("end", ["\n\n", "\n", "", "\n\n\n\n"])
def test_words_without_empty_nodes_ranges_and_comments(tmp_path, name, end):
    table = adapted(written(tmp_path / name, conllu(FIRST, SECOND, end=end)), "conllu")
    assert table.schema == SCHEMAS["treebank"]
    first, second = table.to_pylist()
    assert first == {
        "id": "train-a-1",
        "words": ["I", "do", "n't\u2028\x85", "_"],
        "upos": ["PRON", "AUX", "PART", "PUNCT"],
        "head": [3, 3, 0, 3],
        "deprel": ["nsubj", "aux", "root", "punct:end"],
    }
    assert second["id"] == "train-1" and second["words"] == ["Go"]  # the id of the sentence before is not carried over


def test_windows_line_ends_are_line_ends(tmp_path):
    file = written(tmp_path / "x.conllu", conllu(FIRST, SECOND).replace("\n", "\r\n"))
    assert [len(words) for words in adapted(file, "conllu")["words"].to_pylist()] == [4, 1]


@pytest.mark.parametrize(
    "sentence, message",
    [
        (["1\tGo\tVERB"], r"x\.conllu, line 3: 3 columns where CoNLL-U has 10"),
        ([SECOND[1].replace("\t", " ")], "line 3: 1 columns"),
        ([SECOND[1], word(3, "a", "X", 1, "x")], "line 4: word '3' where 2 should follow"),
        ([SECOND[1], word(1, "a", "X", 0, "root")], "line 4: word '1' where 2 should follow"),
        ([word("one", "a", "X", 0, "root")], "line 3: word 'one' where 1 should follow"),
        ([word(1, "a", "X", "_", "root")], "line 3: head '_' of word 1 is no number"),
        ([word(1, "a", "X", "-1", "root")], "line 3: head '-1' of word 1"),
        ([word(1, "a", "X", "²", "root")], "line 3: head '²' of word 1"),
        ([word(1, "a", "X", 0, "root"), word(2, "b", "X", 3, "x")], "line 4: head 3 in a sentence of 2 words"),
        ([word(1, "a", "_", 0, "root")], "line 3: word 1 has no UPOS"),
        ([word(1, "a", "X", 0, "_")], "line 3: word 1 has no relation"),
        ([word(1, "", "X", 0, "root")], "line 3: word 1 has no form"),
        ([SECOND[1], "# sent_id = b"], "line 4: a comment inside a sentence"),
    ],
)
def test_broken_conllu_is_named_by_file_and_line(tmp_path, sentence, message):
    file = written(tmp_path / "x.conllu", conllu([word(1, "Go", "VERB", 0, "root")], sentence))
    one_line_error(message, file, "conllu")


def test_bytes_that_are_no_text_are_named_by_line(tmp_path):
    file = written(tmp_path / "x.conllu", conllu(SECOND).encode() + b"# caf\xe9\n")
    one_line_error(r"x\.conllu, line 4: no utf-8 text", file, "conllu")


def test_a_cut_gzip_file_is_named(tmp_path):
    file = tmp_path / "x.conllu.gz"
    for content in (gzip.compress(conllu(FIRST).encode())[:-12], b"no gzip"):
        file.write_bytes(content)
        one_line_error(r"x\.conllu\.gz, after line \d+: unreadable \(.*fetch it again", file, "conllu")


# ---- parts of one file


def test_splits_cut_out_of_one_file(tmp_path, caplog):
    text = conllu(*([word(1, form, "X", 0, "root")] for form in "abcdefg"))
    file = written(tmp_path / "x.conllu", text)

    def words(**split):
        return "".join(form for [form] in adapted(file, "conllu", **split)["words"].to_pylist())

    assert words(part=[0, 5], rows=5) == "abcde" and words(part=[5, 7], rows=2) == "fg" and words() == "abcdefg"
    assert not caplog.records
    assert adapted(file, "conllu", part=[5, 7])["id"].to_pylist() == ["train-5", "train-6"]
    assert words(part=[5, 9], rows=4) == "fg"
    assert "2 rows found where the whole split has 4" in caplog.text


def test_a_sample_is_drawn_from_the_part_only(tmp_path):
    file = written(tmp_path / "x.conllu", conllu(*([word(1, form, "X", 0, "root")] for form in "abcdefg")))
    entry = {"adapter": "conllu", "options": {}, "labels": [], "splits": {"test": {"part": [4, 7]}}}
    table = adapt([file], entry, dataset="toy", split="test", seed=1, rows=2)
    assert table.num_rows == 2 and set(table["id"].to_pylist()) < {"test-4", "test-5", "test-6"}


# ---- STREUSLE


def expression(*toknums, ss, ss2=None, lexcat="P"):
    return {"lexlemma": "x", "lexcat": lexcat, "ss": ss, "ss2": ss2, "toknums": list(toknums)}


def streusle(key="r-1", words=("My", "dog", "ran", "out", "of", "it", "for", "fun"), **changes):
    swes = {
        "7": expression(7, ss="p.Purpose", ss2="p.Goal"),
        "1": expression(1, ss="p.SocialRel", ss2="p.Gestalt", lexcat="PRON.POSS"),
        "2": expression(2, ss="n.ANIMAL"),
        "3": expression(3, ss="v.motion"),
        "6": expression(6, ss=None),
        "8": expression(8, ss="??", ss2="??"),
        "9": expression(4, 5, ss="p.Source", ss2="p.Source"),
    }
    smwes = {"1": expression(4, 5, ss="p.Source", ss2="p.Source")}
    toks = [{"#": number, "word": form} for number, form in enumerate(words, 1)]
    return {"sent_id": key, "toks": toks, "swes": swes, "smwes": smwes, "wmwes": {}, "etoks": [[3, 1, "3.1"]]} | changes


@pytest.mark.parametrize("field, labels", [("ss", ["p.SocialRel", "p.Purpose"]), ("ss2", ["p.Gestalt", "p.Goal"])])
@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_single_tokens_of_any_category_in_the_order_of_the_words(tmp_path, field, labels, name):
    sentences = [streusle(), streusle("r-2", swes={"2": expression(2, ss="n.ANIMAL")}), streusle("r-3")]
    table = adapted(written(tmp_path / name, json.dumps(sentences)), "prepositions", {"label": field})
    assert table.schema == SCHEMAS["spans"] and table["id"].to_pylist() == ["train-r-1", "train-r-3"]
    row = table.to_pylist()[0]
    assert row["words"] == ["My", "dog", "ran", "out", "of", "it", "for", "fun"]
    assert row["targets"] == [
        {"start1": 0, "end1": 1, "start2": None, "end2": None, "labels": labels[:1]},
        {"start1": 6, "end1": 7, "start2": None, "end2": None, "labels": labels[1:]},
    ]


def without(record, key):
    return {name: value for name, value in record.items() if name != key}


@pytest.mark.parametrize(
    "sentences, message",
    [
        ([streusle(), without(streusle(), "sent_id")], r"x\.json, sentence 2: a field .* is missing: 'sent_id'"),
        ([without(streusle(), "swes")], "sentence 1 .* is missing: 'swes'"),
        ([streusle(swes={"1": without(expression(1, ss="p.X"), "ss2")})], "sentence 1 .* is missing: 'ss2'"),
        ([streusle(swes=[1])], "sentence 1.* has another form"),
        ([None], "sentence 1.* has another form"),
        (
            [streusle(swes={"1": expression(1, ss="p.X")})],
            r"sentence 1 \(r-1\): expression 1 has ss 'p.X' but ss2 'None'",
        ),
        ([streusle(swes={"9": expression(9, ss="p.X", ss2="p.Y")})], r"\(r-1\): expression 9 is token 9 of 8"),
        ([streusle(swes={"0": expression(0, ss="p.X", ss2="p.Y")})], "expression 0 is token 0 of 8"),
        ([streusle(toks=[{"#": 2, "word": "a"}])], r"\(r-1\): its tokens are not numbered 1, 2, 3"),
        ([streusle(toks=[{"#": 1, "word": None}])], "one of its tokens has no word"),
        ({"sentences": []}, "holds no list of sentences"),
    ],
)
def test_odd_sentences_are_named(tmp_path, sentences, message):
    file = written(tmp_path / "x.json", json.dumps(sentences))
    one_line_error(message, file, "prepositions", {"label": "ss2"})


def test_broken_json_is_named_by_file_and_line(tmp_path):
    text = json.dumps([streusle(), streusle("r-2")], indent=1)
    for broken, line in ((text.replace('"r-2",', '"r-2"'), r"\d\d+"), ('[\n{"a": 1,\n}]', "[23]"), ("", "1")):
        file = written(tmp_path / "x.json", broken)
        one_line_error(rf"x\.json, line {line}: no JSON", file, "prepositions", {"label": "ss"})


def test_a_label_that_the_registry_has_not_stops_the_run(tmp_path):
    folder = tmp_path / "mirror/org/x"
    folder.mkdir(parents=True)
    written(folder / "x.json", json.dumps([streusle()]))
    entry = {
        "kind": "spans",
        "labels": ["p.SocialRel"],
        "splits": {"train": {"file": "x.json", "sha256": None}},
        "sources": [{"raw": "org/x", "url": "https://example.org", "revision": "v1"}],
        "adapter": "prepositions",
        "options": {"label": "ss"},
    }
    words = {"dataset": "toy", "split": "train", "rows": None, "seed": 0, "mirror": str(tmp_path / "mirror")}
    with pytest.raises(UserError, match=r"dataset toy, split train, row train-r-1: unknown label 'p.Purpose'"):
        fetch(tmp_path / "out", entry=entry, **words)


# ---- lines with a label

LABELS = ["LOC:city", "NUM:count", "NUM:other"]


def lines(tmp_path, content, encoding="latin-1"):
    return adapted(written(tmp_path / "x.label", content), "label_lines", {"encoding": encoding}, LABELS)


def test_labels_and_texts_of_lines_in_latin_1(tmp_path):
    table = lines(tmp_path, b"NUM:other What is 1 : 2 ?\nLOC:city  A sister\xf0city\x85 ? \r\nNUM:other No end")
    assert table.schema == SCHEMAS["text"]
    assert table.to_pylist() == [
        {"id": "train-0", "text": "What is 1 : 2 ?", "text_pair": None, "label": 2},
        {"id": "train-1", "text": "A sisterðcity\x85 ?", "text_pair": None, "label": 0},
        {"id": "train-2", "text": "No end", "text_pair": None, "label": 2},
    ]


@pytest.mark.parametrize(
    "content, message",
    [
        ("NUM:cuont How many ?", r"line 2: label 'NUM:cuont' is not in the registry \(did you mean 'NUM:count'\?\)"),
        ("NUM How many ?", "line 2: label 'NUM' is not"),
        ("NUM:count", "line 2: no text after the label 'NUM:count'"),
        ("NUM:count  ", "line 2: no text after"),
        ("", "line 2: label '' is not in the registry"),
    ],
)
def test_odd_lines_are_named(tmp_path, content, message):
    with pytest.raises(UserError, match=r"x\.label, " + message):
        lines(tmp_path, f"LOC:city Where ?\n{content}\nLOC:city Where ?\n")


@pytest.mark.parametrize("name", ["x.label", "x.label.gz"])
def test_bytes_of_latin_1_that_are_utf_8_too_are_latin_1(tmp_path, name):
    file = written(tmp_path / name, b"LOC:city A caf\xc3\xa9 ?\nLOC:city A sister\xf0city ?\n")
    table = adapted(file, "label_lines", {"encoding": "latin-1"}, LABELS)
    assert table["text"].to_pylist() == ["A caf\xc3\xa9 ?", "A sister\xf0city ?"]


def test_latin_1_is_not_read_as_utf_8(tmp_path):
    with pytest.raises(UserError, match=r"x\.label, line 1: no utf-8 text"):
        lines(tmp_path, b"LOC:city A sister\xf0city ?\n", "utf-8")


# ---- real files


@pytest.fixture
def real(mirror, tmp_path):
    def read(dataset, split):
        words = {"entry": REGISTRY[dataset], "dataset": dataset, "split": split, "rows": None, "seed": 0}
        info = fetch(tmp_path / f"{dataset}-{split}", **words, mirror=str(mirror))
        assert info["labels"] == REGISTRY[dataset]["labels"]
        return read_dataset(tmp_path / f"{dataset}-{split}")

    return read


TREEBANKS = {  # sentences, words, UPOS, relations other than root
    ("pud", "train"): (800, 16854, 17, 46),
    ("pud", "test"): (200, 4322, 16, 39),
    ("ewt", "dev"): (2001, 25147, 17, None),
    ("ewt", "test"): (2077, 25094, 17, None),
    ("ewt", "train"): (12544, 204577, 17, None),
}


@pytest.mark.parametrize("dataset, split", TREEBANKS)
def test_real_treebanks(real, caplog, dataset, split):
    n_sentences, n_words, n_upos, n_relations = TREEBANKS[dataset, split]
    table, info = real(dataset, split)
    assert info["kind"] == "treebank" and info["labels"] == [] and info["rows"] == n_sentences
    upos, heads, deprels = (table[name].combine_chunks().flatten().to_pylist() for name in ("upos", "head", "deprel"))
    assert len(upos) == n_words and len(set(upos)) == n_upos
    relations = [deprel for head, deprel in zip(heads, deprels) if head]
    assert len(relations) == n_words - n_sentences  # one root each
    assert "root" not in relations and (n_relations is None or len(set(relations)) == n_relations)
    assert not caplog.records


def test_the_two_parts_of_real_pud_are_the_whole_file(real):
    (train, info), (test, _) = real("pud", "train"), real("pud", "test")
    assert train["id"][0].as_py() == "train-n01001011" and " rows 1-800, " in info["source"]
    ids = [key.partition("-")[2] for table in (train, test) for key in table["id"].to_pylist()]
    assert len(set(ids)) == 1000


@pytest.mark.parametrize("dataset, n_train, n_test", [("ps_role", 46, 40), ("ps_fxn", 40, 35)])
def test_real_prepositions(real, caplog, dataset, n_train, n_test):
    for split, n_rows, n_targets, n_labels in (("train", 1857, 4282, n_train), ("test", 249, 457, n_test)):
        table, info = real(dataset, split)
        targets = [target for row in table["targets"].to_pylist() for target in row]
        labels = {label for target in targets for label in target["labels"]}
        assert (info["kind"], info["rows"], len(targets), len(labels)) == ("spans", n_rows, n_targets, n_labels)
        assert all(target["end1"] == target["start1"] + 1 and target["start2"] is None for target in targets)
        assert labels == set(info["labels"]) or split == "test"
    assert REGISTRY[dataset]["labels"] == sorted(REGISTRY[dataset]["labels"]) and not caplog.records


def test_real_questions(real, caplog):
    (train, info), (test, _) = real("trec50", "train"), real("trec50", "test")
    assert (train.num_rows, test.num_rows) == (5452, 500) and info["labels"] == sorted(info["labels"])
    counts = Counter(train["label"].to_pylist())
    assert len(counts) == len(info["labels"]) == 50 and len(set(test["label"].to_pylist())) == 42
    assert counts[info["labels"].index("ENTY:religion")] == counts[info["labels"].index("ENTY:currency")] == 4
    meanings = {}
    for text, label in zip(train["text"].to_pylist(), train["label"].to_pylist()):
        meanings.setdefault(text.lower(), set()).add(info["labels"][label])
    twofold = {text: labels for text, labels in meanings.items() if len(labels) > 1}
    assert twofold == {"what is the chromosome number of an elephant ?": {"NUM:other", "NUM:count"}}
    assert any("sisterðcity" in text for text in meanings) and not caplog.records
