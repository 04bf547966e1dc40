"""From published layouts to our rows: columns, sentences, sampling; on made files, and on real rows if present."""

import json
import random
import socket
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import Dataset

from workflow.lib.base.errors import UserError
from workflow.lib.data.adapters import adapt
from workflow.lib.data.adapters.choosing import sample
from workflow.lib.data.adapters.sentences import sentences_of, split_sentences
from workflow.lib.data.dataset_files import read_dataset
from workflow.scripts.fetch_dataset import fetch

REGISTRY = yaml.safe_load((Path(__file__).resolve().parents[2] / "config" / "datasets.yaml").read_text())["registry"]


def parquet(path, columns, label_names=None):
    table = pa.table(columns)
    if label_names:
        features = {"label": {"names": label_names, "_type": "ClassLabel"}}
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    return path


def text_entry(**options):
    return {
        "kind": "text",
        "labels": ["no", "yes"],
        "splits": {"train": {"from": "train", "rows": 4}},
        "adapter": "text",
        "options": {"text": "sentence", "label": "label"} | options,
    }


def adapted(files, entry, rows=None, seed=1):
    return adapt(files, entry, dataset="toy", split="train", seed=seed, rows=rows)


# ---- text


def test_one_text_over_several_shards(tmp_path, caplog):
    first = parquet(tmp_path / "0.parquet", {"sentence": [" a ", "b"], "label": [0, 1]}, ["no", "yes"])
    second = parquet(tmp_path / "1.parquet", {"sentence": ["c", "d"], "label": [1, 0], "more": [1, 2]})
    rows = adapted([first, second], text_entry()).to_pylist()
    assert rows[0] == {"id": "train-0", "text": "a", "text_pair": None, "label": 0}
    assert [(row["id"], row["text"], row["label"]) for row in rows[2:]] == [("train-2", "c", 1), ("train-3", "d", 0)]
    assert not caplog.records  # 4 rows expected, 4 found


def test_joined_texts_pairs_and_ids(tmp_path):
    columns = {
        "title": ["T", "", None],
        "body": [" B", "B ", "B"],
        "other": ["o"] * 3,
        "label": [0, 1, 1],
        "idx": [7, 5, 6],
    }
    file = parquet(tmp_path / "0.parquet", columns)
    table = adapted([file], text_entry(text=["title", "body"], text_pair="other", id="idx"))
    assert table["text"].to_pylist() == ["T B", "B", None]  # the null is left for write_dataset to name
    assert table["text_pair"].to_pylist() == ["o"] * 3
    assert table["id"].to_pylist() == ["train-7", "train-5", "train-6"]


def test_a_missing_column_is_named(tmp_path):
    file = parquet(tmp_path / "0.parquet", {"sentences": ["a"], "label": [0]})
    with pytest.raises(UserError, match=r"0\.parquet has no column 'sentence' \(did you mean 'sentences'\?\)"):
        adapted([file], text_entry())


def test_labels_in_another_order_are_refused(tmp_path):
    file = parquet(tmp_path / "0.parquet", {"sentence": ["a"], "label": [0]}, ["yes", "no"])
    with pytest.raises(
        UserError, match=r"0\.parquet has labels \['yes', 'no'\] where the registry says \['no', 'yes'\]"
    ):
        adapted([file], text_entry())


@pytest.mark.parametrize("damage", ["cut", "middle", "empty"])
def test_a_corrupt_file_is_named(tmp_path, damage):
    file = parquet(tmp_path / "bad.parquet", {"sentence": [f"text {n}" for n in range(999)], "label": [0] * 999})
    content = file.read_bytes()
    damaged = {"cut": content[:-9], "middle": content[:4] + b"\xff" * 400 + content[404:], "empty": b""}
    file.write_bytes(damaged[damage])
    with pytest.raises(UserError, match=r"bad\.parquet is no readable Parquet") as error:
        adapted([file], text_entry())
    assert "\n" not in str(error.value)


def test_an_unknown_adapter_is_named():
    with pytest.raises(UserError, match=r"dataset toy: unknown adapter 'sentence' \(did you mean 'sentences'\?\)"):
        adapted([], text_entry() | {"adapter": "sentence"})


def test_other_numbers_of_rows_are_warned_of(tmp_path, caplog):
    file = parquet(tmp_path / "0.parquet", {"sentence": ["a", "b", "c"], "label": [0, 1, 0]})
    assert adapted([file], text_entry(), rows=5).num_rows == 3
    assert "dataset toy, split train: 3 rows found where the whole split has 4" in caplog.text
    assert "5 rows asked for, 3 there" in caplog.text


# ---- sampling


def sorted_by_label(*counts):
    labels = [label for label, count in enumerate(counts) for _ in range(count)]
    return Dataset.from_dict({"id": [str(n) for n in range(len(labels))], "label": labels})


@pytest.mark.parametrize(
    "counts, n, shares",
    [((50, 50), 10, (5, 5)), ((90, 10), 20, (18, 2)), ((70, 20, 10), 10, (7, 2, 1)), ((9, 9), 5, None)],
)
def test_labels_keep_their_shares(counts, n, shares):
    drawn = Counter(sample(sorted_by_label(*counts), n, seed=3)["label"][:])
    assert sum(drawn.values()) == n
    if shares:
        assert tuple(drawn[label] for label in range(len(counts))) == shares
    else:
        assert set(drawn.values()) == {2, 3}


def test_fewer_rows_than_labels_and_labels_of_one_row_are_sampled_too():
    rows = sorted_by_label(40, 1, 1, 20)
    assert Counter(sample(rows, 3, seed=3)["label"][:]) == {0: 2, 3: 1}
    assert Counter(sample(rows, 61, seed=3)["label"][:])[0] in (39, 40)


def test_samples_are_seeded_nested_mixed_and_without_repetition():
    table = sorted_by_label(60, 30, 10)
    large, small = (sample(table, n, seed=5)["id"][:] for n in (50, 20))
    assert small == large[:20] and len(set(large)) == 50
    assert sample(table, 50, seed=5)["id"][:] == large != sample(table, 50, seed=6)["id"][:]
    assert len(set(sample(table, 10, seed=5)["label"][:])) == 3
    assert sorted(sample(table, 999, seed=5)["id"][:]) == sorted(table["id"][:])


def test_the_other_end_is_another_sample():
    """Probes of a treebank's trees and the parser that is tuned on it: no sentence in common."""
    table = sorted_by_label(40, 40, 20)
    first, last = (sample(table, 45, seed=5, from_end=end)["id"][:] for end in (False, True))
    assert len(set(first) | set(last)) == 90
    assert sample(table, 20, seed=5, from_end=True)["id"][:] == last[:20]


def test_tables_without_labels_are_sampled_too():
    assert len(sample(Dataset.from_dict({"id": list("abcdef")}), 3, seed=0)) == 3


def test_all_rows_stay_in_the_sources_order_and_some_are_sampled(tmp_path):
    file = parquet(tmp_path / "0.parquet", {"sentence": [str(n) for n in range(40)], "label": [0] * 20 + [1] * 20})
    assert adapted([file], text_entry())["text"].to_pylist() == [str(n) for n in range(40)]
    assert Counter(adapted([file], text_entry(), rows=10)["label"].to_pylist()) == {0: 5, 1: 5}


# ---- sentences: hard cases, | marks the true ends

HARD = [
    "It rained.| It poured!| Did it stop?| No.",
    "Mr. Smith met Dr. Jones, Prof. Lee and Mrs. Hall.| They talked.",
    "J. R. R. Tolkien wrote it.| C.S. Lewis read it.",
    "The critic F. S. Flint, of St. Louis, met Lt. Col. John G. Hill Jr. at noon.",
    "She lived in the U.S. Virgin Islands.| He left the U.S.| In 1990 he returned.",
    "He worked for Acme Inc.| The firm failed.",
    "He worked for Acme Inc. President Hill knew.",
    "It measures 3.5 m, or 11.5 ft.| The tail is short.",
    "Version 2.0.1 came out at 1.30 p.m. Eastern time.",
    "It opened on Jan. 5, 1990, with No. 3 (Op. 18, p. 7, Fig. 2) by him.",
    "The answer was no.| Critics agreed.",
    "It is a work of art.| Critics agreed.",
    '"Stop!" he cried.| "Why?"| She did not say.',
    'He called it "a jungle."| Upon his return he left.',
    "He left (it was late.) and slept.",
    "They agreed.| (He did not.)| She slept.",
    "Some fruits, e.g. Apples, i.e. Pomes, vs. Pears, differ.",
    "Kim et al. (2008) agree.| So do Kim et al.| In fact all do.",
    "He waited ... and left.| She waited...| Nothing came.",
    "It fell to 5.| 12 were left.",
    "The king (b. 1066, d. 1100) reigned c. 1090 to 1100.",
    "World War II.| The war ended.| It was World War I.| The war was long.",
    "N. annotata and A. laevigatum are species.| Émile saw both.",
    "2. The second item of a list.",
    "“Où ?” he asked.| ‘Ici.’| She sat.",
    "Visit example.com or mail a.b@c.org today.| Thanks.",
    "The Ph.D. student met the Gov. of Ohio and Sen. Hill.",
    "What?!| That cannot be!",
]


@pytest.mark.parametrize("marked", HARD)
def test_sentences_end_where_they_should(marked):
    assert split_sentences(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


def test_splitting_loses_no_words():
    text = " ".join(marked.replace("|", "") for marked in HARD)
    assert " ".join(split_sentences(f"  {text} and an open end ")).split() == f"{text} and an open end".split()
    assert split_sentences("") == split_sentences("  ") == []


def test_headings_and_lists_are_no_sentences():
    article = "First one. Second one.\n\nA heading \n\n• an item\nThird one (so it is). And then:\n, a rest."
    assert sentences_of(article) == ["First one.", "Second one.", "Third one (so it is)."]


def wikipedia_entry(**options):
    defaults = {"id": "id", "text": "text", "min_words": 2, "max_words": 5, "per_article": None}
    splits = {"train": {"from": "train"}}
    return {"kind": "text", "labels": [], "splits": splits, "adapter": "sentences", "options": defaults | options}


@pytest.fixture
def articles(tmp_path):
    def text(n):
        return (
            "Heading\n" + " ".join(f"Sentence {n} {m}." for m in range(4)) + " Short. This one is much too long for us."
        )

    return parquet(tmp_path / "0.parquet", {"id": [f"a{n}" for n in range(6)], "text": [text(n) for n in range(6)]})


def article_counts(table):
    return Counter(key.split("-")[1] for key in table["id"].to_pylist())


def test_one_random_sentence_of_each_article(articles):
    table = adapted([articles], wikipedia_entry())
    assert set(article_counts(table).values()) == {1} and table.num_rows == 6
    assert all(len(text.split()) == 3 for text in table["text"].to_pylist())
    assert set(table["label"].to_pylist()) == {0}
    texts = {tuple(adapted([articles], wikipedia_entry(), seed=seed)["text"].to_pylist()) for seed in (1, 1, 2, 3)}
    assert len(texts) == 3


def test_more_of_each_article_only_where_the_rows_need_it(articles, caplog):
    assert set(article_counts(adapted([articles], wikipedia_entry(), rows=4)).values()) == {1}
    assert not caplog.records
    many = adapted([articles], wikipedia_entry(), rows=15)
    assert "6 articles only: up to 3 sentences of each were taken" in caplog.text
    assert many.num_rows == 15 and Counter(article_counts(many).values()) == {3: 3, 2: 3}
    assert len(set(many["text"].to_pylist())) == 15
    assert adapted([articles], wikipedia_entry(), rows=99).num_rows == 24
    assert "99 rows asked for, 24 there" in caplog.text


def test_per_article_is_a_ceiling(articles):
    assert set(article_counts(adapted([articles], wikipedia_entry(per_article=2))).values()) == {2}
    assert adapted([articles], wikipedia_entry(per_article=2), rows=99).num_rows == 12
    assert adapted([articles], wikipedia_entry(per_article=2), rows=5).num_rows == 5


def many_articles(path, n, shard="", **words):
    columns = {"id": [f"{shard}{i}" for i in range(n)], "text": [f"Sentence number {i} {shard}." for i in range(n)]}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **words)
    return path


@pytest.mark.parametrize("row_group_size", [3000, 100])
def test_of_very_many_articles_a_part_suffices(tmp_path, row_group_size):
    n = 3000
    file = many_articles(tmp_path / "0.parquet", n, row_group_size=row_group_size)
    table = adapted([file], wikipedia_entry(), rows=50)
    numbers = [int(key.split("-")[1]) for key in table["id"].to_pylist()]
    assert table.num_rows == 50 and max(numbers) > n / 2 > min(numbers) and numbers != sorted(numbers)
    assert adapted([file], wikipedia_entry(), rows=2000).slice(0, 50) == table  # a larger sample begins with it
    assert sorted(adapted([file], wikipedia_entry())["id"].to_pylist()) == sorted(f"train-{i}-0" for i in range(n))


def test_no_more_shards_are_read_than_the_sentences_need(tmp_path):
    """All shards but the first of the seed's order are broken or absent: they may not matter, until they do."""
    files = [tmp_path / f"{n}.parquet" for n in range(4)]
    for seed in range(3):
        order = random.Random(seed).sample(files, len(files))
        many_articles(order[0], 30, "a")
        order[1].write_bytes(b"broken")
        for absent in order[2:]:
            absent.unlink(missing_ok=True)
        table = adapted(files, wikipedia_entry(), rows=30, seed=seed)
        assert table.num_rows == 30 and {key.split("-")[1][0] for key in table["id"].to_pylist()} == {"a"}
        with pytest.raises(UserError, match=f"{order[1].name} is no readable Parquet"):
            adapted(files, wikipedia_entry(), rows=31, seed=seed)
        many_articles(order[1], 30, "b")
        assert adapted(files, wikipedia_entry(), rows=60, seed=seed).slice(0, 30) == table


def test_another_shard_is_read_only_where_all_sentences_of_one_are_too_few(tmp_path):
    """Fewer articles than rows, but sentences enough: the second shard of the seed's order is absent until needed."""
    order = random.Random(0).sample(files := [tmp_path / f"{n}.parquet" for n in range(2)], 2)

    def shard(path, name):
        text = " ".join(f"Sentence {name} {m}." for m in range(5))
        return parquet(path, {"id": [f"{name}{n}" for n in range(10)], "text": [text] * 10})

    shard(order[0], "a")
    one = adapted(files, wikipedia_entry(), rows=50, seed=0)
    assert article_counts(one) == {f"a{n}": 5 for n in range(10)}
    assert adapted(files, wikipedia_entry(), rows=8, seed=0) == one.slice(0, 8)
    shard(order[1], "b")
    two = adapted(files, wikipedia_entry(), rows=55, seed=0)
    assert two.slice(0, 50) == one and sorted(article_counts(two).values()) == [1] * 5 + [5] * 10


def test_few_sentences_are_held_though_articles_have_many(tmp_path):
    """Those that cannot be among the first `rows` are dropped on the way; the result is as if they were not."""
    texts = [" ".join(f"Sentence {n} {m}." for m in range(300)) for n in range(30)]
    file = parquet(tmp_path / "0.parquet", {"id": [str(n) for n in range(30)], "text": texts})
    table = adapted([file], wikipedia_entry(), rows=100)
    assert Counter(article_counts(table).values()) == {3: 20, 4: 10}
    assert adapted([file], wikipedia_entry(), rows=9000).slice(0, 100) == table


# ---- the script, and real rows


def test_fetch_writes_the_same_dataset_twice(tmp_path):
    shard = "org/name/cfg/train-00000-of-00001.parquet"
    parquet(tmp_path / "mirror" / shard, {"sentence": list("abcdef"), "label": [0, 0, 0, 1, 1, 1]})
    source = {"hub": "org/name", "config": "cfg", "revision": "v1"}
    words = {"entry": text_entry() | {"sources": [source]}, "dataset": "toy", "split": "train", "rows": 4, "seed": 0}
    for name in ("one", "two"):
        fetch(tmp_path / name, **words, mirror=str(tmp_path / "mirror"))
    table, info = read_dataset(tmp_path / "one")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert Counter(table["label"].to_pylist()) == {0: 2, 1: 2}
    assert info["source"] == "org/name, train, from a mirror (pinned: v1)" and info["labels"] == ["no", "yes"]


def test_a_mirror_is_read_without_a_network_a_cache_or_a_trace_of_its_place(tmp_path, monkeypatch):
    """`datasets` would count each load on a server, keep a copy of what it reads, and take [a] for a pattern."""
    home, mirror = tmp_path / "home", tmp_path / "a mirror [a] of* {mine}"
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", home)
    asked = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *place, **_: asked.append(place))
    for name in ("train-00000-of-00002", "train-00001-of-00002"):
        parquet(mirror / f"org/name/cfg/{name}.parquet", {"sentence": list("ab"), "label": [0, 1]}, ["no", "yes"])
    source = {"hub": "org/name", "config": "cfg", "revision": "v1"}
    words = {"entry": text_entry() | {"sources": [source]}, "dataset": "toy", "split": "train", "rows": 4, "seed": 0}
    assert fetch(tmp_path / "out", **words, mirror=str(mirror))["rows"] == 4
    assert not asked and not home.exists()
    assert b"mirror [a]" not in (tmp_path / "out").read_bytes()
    assert b"huggingface" not in (tmp_path / "out").read_bytes()  # their metadata are not ours


REAL = {
    ("imdb", "train"): (2500, [0.5] * 2, 100),
    ("imdb", "test"): (2500, [0.5] * 2, 100),
    ("ag_news", "train"): (9991, [0.25] * 4, 20),
    ("ag_news", "test"): (2000, [0.25] * 4, 20),
    ("dbpedia", "train"): (5000, [1 / 14] * 14, 20),
    ("dbpedia", "test"): (5000, [1 / 14] * 14, 20),
    ("sst2", "train"): (67349, [0.442, 0.558], 5),
    ("sst2", "test"): (872, [0.491, 0.509], 10),
    ("cola", "train"): (8551, [0.296, 0.704], 4),
    ("cola", "test"): (1043, [0.309, 0.691], 4),
    ("qnli", "train"): (4370, [0.5, 0.5], 5),
    ("qnli", "test"): (1093, [0.5, 0.5], 5),
    ("mnli", "train"): (1000, [1 / 3] * 3, 5),
    ("mnli", "test"): (1000, [1 / 3] * 3, 5),
}


@pytest.mark.parametrize("dataset, split", REAL)
def test_real_rows(mirror, tmp_path, caplog, dataset, split):
    n_rows, balance, median_words = REAL[dataset, split]
    entry = REGISTRY[dataset]
    info = fetch(tmp_path / "x", entry=entry, dataset=dataset, split=split, rows=None, seed=0, mirror=str(mirror))
    table, _ = read_dataset(tmp_path / "x")
    assert info["rows"] == table.num_rows == n_rows
    counts = Counter(table["label"].to_pylist())
    chance = 3 * (0.25 / n_rows) ** 0.5  # the mirror's splits are samples: three standard deviations at most
    assert [counts[label] / n_rows for label in range(len(balance))] == pytest.approx(balance, abs=max(0.01, chance))
    lengths = sorted(len(text.split()) for text in table["text"].to_pylist())
    assert lengths[0] > 0 and lengths[n_rows // 2] >= median_words
    assert (table["text_pair"].null_count == 0) == (entry["shape"] == "pair")
    is_whole = entry["splits"][split]["rows"] == n_rows
    assert ("where the whole split has" in caplog.text) != is_whole


def test_a_real_sample_is_balanced_though_the_source_is_sorted(mirror, tmp_path):
    fetch(tmp_path / "x", entry=REGISTRY["imdb"], dataset="imdb", split="train", rows=100, seed=0, mirror=str(mirror))
    labels = read_dataset(tmp_path / "x")[0]["label"].to_pylist()
    assert Counter(labels) == {0: 50, 1: 50} and Counter(labels[:20]) == {0: 10, 1: 10}


def test_real_sentences(mirror, tmp_path):
    words = {
        "entry": REGISTRY["wikipedia"],
        "dataset": "wikipedia",
        "split": "sentences",
        "seed": 0,
        "mirror": str(mirror),
    }
    fetch(tmp_path / "one", **words, rows=None)
    assert read_dataset(tmp_path / "one")[0].num_rows == 141
    fetch(tmp_path / "many", **words, rows=8000)
    table, info = read_dataset(tmp_path / "many")
    texts = table["text"].to_pylist()
    assert info["rows"] == 8000 and info["labels"] == [] and len(set(texts)) > 7900
    assert all(8 <= len(text.split()) <= 80 for text in texts)
    capitalised = sum(next(c for c in text if c.isalnum()).isupper() for text in texts)
    assert capitalised > 0.95 * len(texts)
