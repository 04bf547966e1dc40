"""Which units the script caches: what a head reads, sampled tokens, tokens inside spans."""

import logging
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from tests import tiny
from tests.families import FAMILIES
from tests.scripts import load_script, run_script
from workflow.lib.activations.cache import (
    LayerWriter,
    layer_files,
    read_about,
    read_units,
    read_vectors,
    read_words,
    words_file,
)
from workflow.lib.activations.caching import cache_dataset
from workflow.lib.activations.labelled_vectors import LabelledVectors
from workflow.lib.activations.shared_sentences import read_rows
from workflow.lib.activations.units import spread_rows
from workflow.lib.data.dataset_files import read_dataset, write_dataset
from workflow.lib.encoders.loading import load_encoder, load_tokenizer
from workflow.lib.encoders.tokenization import encode
from workflow.lib.encoders.weights import digest_of_weights
from workflow.lib.methods.edges.reading import read_split
from workflow.lib.training.heads.classification import SequenceHead, WordHead
from workflow.lib.training.heads.tunable import Tunable

torch.set_num_threads(1)
SETTINGS = {"layers": "all", "max_tokens": 40, "batch_size": 64, "dtype": "float32"}
SENTENCES = [
    ["unbelievably", "the", "dog"],
    ["I", "ca", "n't", "do", "it", "."],
    ["the", "☃", "zebra", "cats", "\u200b"],
    ["it"],
    ["state-of-the-art", "'s", "mat", "and", "that"],
]
WORDS = [" ".join(["the", "cat", "sat", "on", "it"][: 1 + at % 5]) + " unbelievably" * (at % 3) for at in range(60)]

TUNED = "base.0/toy.full.f1.s0"


@pytest.fixture(scope="module")
def script():
    return load_script("scripts/cache_activations")


@pytest.fixture(scope="module", params=FAMILIES)
def any_encoder(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    return tiny.save(folder, tiny.encoder(request.param), tiny.wrapped(tiny.wordpiece(), 38))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A results folder: an encoder, a model tuned from it, and data."""
    root, tokenizer = tmp_path_factory.mktemp("results"), tiny.wrapped(tiny.wordpiece(), 38)
    tiny.save(root / "encoders/base.0", tiny.encoder(), tokenizer)
    model = root / "models/base.0/toy.full.f1.s0"
    tiny.save(model, tiny.encoder(seed=3), tokenizer)
    texts = [{"id": f"{at}", "text": text, "text_pair": None, "label": 0} for at, text in enumerate(WORDS)]
    write(root / "data/toy/train.parquet", texts, "text")
    span = {"start2": None, "end2": None, "labels": ["x"]}
    targets = [
        [span | {"start1": 1, "end1": 3}],
        [span | {"start1": 1, "end1": 3}, span | {"start1": 2, "end1": 4, "start2": 5, "end2": 6}],
        [span | {"start1": 4, "end1": 5}, span | {"start1": 1, "end1": 2}],
        [],
        [span | {"start1": 0, "end1": 1}],
    ]
    rows = [{"id": f"{at}", "words": SENTENCES[at], "targets": targets[at]} for at in range(len(SENTENCES))]
    write(root / "data/spans/train.parquet", rows, "spans")
    return root


def write(path: Path, rows: list[dict], kind: str) -> Path:
    write_dataset(path, rows, dataset=path.parent.name, split=path.stem, kind=kind, labels=[], source="test")
    return path


def cached(script, folder: Path, unit: str, into: Path, model: str = "encoders/base.0", data: str = "toy", **changes):
    encoder, path = folder / "encoders/base.0", str(folder / f"data/{data}/train.parquet")
    done = cache_dataset(*script.loaded(folder / model), encoder, (path,), into, SETTINGS | {"unit": unit} | changes)
    files = layer_files(into)
    return done, read_units(files[max(files)]), read_vectors(files[max(files)])


# ---- what a head reads


class Listening(WordHead):
    """Says the vectors themselves."""

    def forward(self, states, batch):
        return self.vectors(states, batch)


class ListeningToTexts(SequenceHead):
    forward = Listening.forward


@pytest.mark.parametrize("head, unit", [(Listening, "word"), (ListeningToTexts, "cls")])
def test_the_last_layer_is_what_a_head_reads_to_the_bit(script, any_encoder, tmp_path, head, unit):
    if unit == "word":
        rows = [
            {"id": f"{at}", "words": words, "upos": ["X"] * len(words), "head": [0] + [1] * (len(words) - 1),
             "deprel": ["x"] * len(words)} for at, words in enumerate(SENTENCES)
        ]  # fmt: skip
        path = write(tmp_path / "toy/train.parquet", rows, "treebank")
    else:
        rows = [
            {"id": str(at), "text": text, "text_pair": None, "label": 0} for at, text in enumerate(dict.fromkeys(WORDS))
        ]
        path = tmp_path / "toy/train.parquet"
        write_dataset(path, rows, dataset="toy", split="train", kind="text", labels=["a"], source="test")
    cache_dataset(*script.loaded(any_encoder), any_encoder, (str(path),), tmp_path / "out", {"unit": unit} | SETTINGS)
    examples = head.read(*read_dataset(path), load_tokenizer(any_encoder, for_words=unit == "word"), 38, None)
    model = Tunable(load_encoder(any_encoder), head(16, ["a", "b"], {"dropout": 0.0}))
    said = [(chosen, vectors.numpy()) for chosen, _, vectors in model.said_of(examples)]
    example = np.concatenate(
        [np.repeat(chosen, [examples.n_units(np.array([row])) for row in chosen]) for chosen, _ in said]
    )
    read = np.concatenate([vectors for _, vectors in said])[np.argsort(example, kind="stable")]
    files = layer_files(tmp_path / "out")
    np.testing.assert_array_equal(read_vectors(files[2]), read)
    assert not np.allclose(read_vectors(files[1]), read)


# ---- sampled tokens


def test_few_tokens_of_each_of_a_few_rows_are_drawn(script, folder, tmp_path):
    done, (example, unit), vectors = cached(script, folder, "sampled", tmp_path, rows=7, per_row=3, seed=1)
    _, (all_examples, all_units), everything = cached(script, folder, "token", tmp_path / "all")
    rows = spread_rows(60, 7)
    assert sorted(set(example)) == rows.tolist() and rows[0] == 0 and rows[-1] == 59 and np.diff(rows).max() <= 10
    lengths = np.bincount(all_examples)
    assert np.array_equal(np.bincount(example)[rows], np.minimum(lengths[rows], 3)) and lengths[rows].max() > 3
    assert done == {"units": len(example), "rows": 7, "truncated": 0}
    place = {pair: at for at, pair in enumerate(zip(all_examples.tolist(), all_units.tolist()))}
    at = [place[pair] for pair in zip(example.tolist(), unit.tolist())]
    assert at == sorted(set(at))  # none twice, in order
    np.testing.assert_allclose(vectors, everything[at], atol=1e-5)


def test_two_models_of_an_encoder_are_read_at_the_same_tokens_and_another_seed_draws_others(script, folder, tmp_path):
    drawn = {}
    for name, model, seed in (("base", "encoders/base.0", 1), ("tuned", "models/base.0/toy.full.f1.s0", 1),
                              ("other", "encoders/base.0", 2)):  # fmt: skip
        settings = {"rows": 20, "per_row": 2, "seed": seed}
        drawn[name] = cached(script, folder, "sampled", tmp_path / name, model, **settings)[1:]
    assert np.array_equal(drawn["base"][0], drawn["tuned"][0])
    assert not np.allclose(drawn["base"][1], drawn["tuned"][1], atol=0.1)
    assert np.array_equal(drawn["base"][0][0], drawn["other"][0][0])
    assert not np.array_equal(drawn["base"][0][1], drawn["other"][0][1])


@pytest.mark.parametrize("kind", ["text", "qa"])
def test_first_texts_alone_are_encoded_as_if_there_were_no_second(script, folder, tmp_path, kind):
    """The premise of a pair, the question of a passage."""
    alone = [{"id": str(at), "text": text, "text_pair": None, "label": 0} for at, text in enumerate(WORDS)]
    pairs = [row | {"text_pair": "the dog sat"} for row in alone]
    questions = [{"id": row["id"], "question": row["text"], "context": "the dog sat", "answers": []} for row in alone]
    paths = [write(tmp_path / "alone/train.parquet", alone, "text"),
             write(tmp_path / "both/train.parquet", pairs if kind == "text" else questions, kind)]  # fmt: skip
    encoder, how = folder / "encoders/base.0", SETTINGS | {"rows": 20, "per_row": 2, "seed": 1}
    for unit, path in zip(("sampled", "sampled_first"), paths):
        cache_dataset(*script.loaded(encoder), encoder, (str(path),), tmp_path / unit, {"unit": unit} | how)
    files = [layer_files(tmp_path / unit)[2] for unit in ("sampled", "sampled_first")]
    np.testing.assert_array_equal(*map(read_units, files))
    np.testing.assert_array_equal(*map(read_vectors, files))
    cache_dataset(*script.loaded(encoder), encoder, (str(paths[1]),), tmp_path / "pairs", {"unit": "sampled"} | how)
    assert not np.array_equal(read_units(layer_files(tmp_path / "pairs")[2]), read_units(files[0]))


def test_every_token_of_a_row_may_be_drawn(script, folder, tmp_path):
    seen = set()
    for seed in range(30):
        _, (example, unit), _ = cached(
            script,
            folder,
            "sampled",
            tmp_path / str(seed),
            layers="last",
            rows=1,
            per_row=1,
            seed=seed,
            data="spans",
        )
        seen |= set(zip(example.tolist(), unit.tolist()))
    assert seen == {(0, unit) for unit in range(5)}  # un ##be ##lievably the dog


@pytest.mark.parametrize("n_rows, most", [(10, None), (10, 10), (10, 12), (10, 1), (1000, 7), (9, 8)])
def test_rows_are_spread_over_the_dataset(n_rows, most):
    rows = spread_rows(n_rows, most)
    assert len(rows) == min(n_rows, most or n_rows) == len(set(rows)) and rows[0] == 0 and rows.max() < n_rows
    if len(rows) > 1:
        assert rows[-1] == n_rows - 1 and np.ptp(np.diff(rows)) <= 1


# ---- tokens inside spans


def test_exactly_the_tokens_of_words_inside_spans_are_cached(script, folder, tmp_path):
    _, (example, unit), vectors = cached(script, folder, "span", tmp_path / "span", data="spans")
    _, (all_examples, all_units), everything = cached(script, folder, "token", tmp_path / "token", data="spans")
    inside = {0: [1, 2], 1: [1, 2, 3, 5], 2: [1, 4], 3: [], 4: [0]}
    words = read_words(tmp_path / "token")
    wanted = np.array([word in inside[row] for row, word in zip(all_examples.tolist(), words.tolist())])
    assert example.tolist() == all_examples[wanted].tolist() and unit.tolist() == all_units[wanted].tolist()
    assert read_words(tmp_path / "span").tolist() == words[wanted].tolist()
    np.testing.assert_allclose(vectors, everything[wanted], atol=1e-5)
    assert np.bincount(words[wanted][example == 4]).tolist() == [14]  # state-of-the-art is one word
    table = pq.read_table(words_file(tmp_path / "span"))
    assert table["example"].to_pylist() == example.tolist() and table["unit"].to_pylist() == unit.tolist()


# ---- the whole script


def job(folder: Path, work: dict[str, dict]) -> SimpleNamespace:
    units = {item: item.split("/")[2] for item in work}
    work = {item: {"places": [item.rpartition("/")[2].replace("-", "/")], "unit": units[item]} | how
            for item, how in work.items()}  # fmt: skip
    return SimpleNamespace(
        input=SimpleNamespace(
            models=[str(folder / name) for name in ("encoders/base.0", f"models/{TUNED}")],
            data=[str(folder / f"data/{name}/train.parquet") for name in ("toy", "spans")],
        ),
        output=[str(folder / "activations" / item) for item in work],
        params=SimpleNamespace(work=work, settings={"batch_size": 16, "dtype": "float16"}),
        log=[str(folder / "log")],
        threads=1,
    )


@pytest.fixture
def quiet(monkeypatch):
    monkeypatch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)  # or it would replace pytest's


def test_a_job_writes_every_item_of_its_model(script, folder, quiet):
    of_texts = {"layers": "last", "max_tokens": 6}
    sampled = {"layers": "all", "max_tokens": 40, "rows": 9, "per_row": 2, "seed": 0}
    work = {
        "base.0/pretrained/cls/toy-train": of_texts,
        "base.0/toy.full.f1.s0/cls/toy-train": of_texts | {"layers": "blocks"},
        "base.0/toy.full.f1.s0/sampled/toy-train": sampled,
        "base.0/pretrained/span/spans-train": {"layers": "all", "max_tokens": 4},  # no word is cut
    }
    run_script("scripts/cache_activations", job(folder, work))
    root = folder / "activations"
    stored = [list(layer_files(root / item)) for item in list(work)[:4]]
    assert stored == [[2], [1, 2], [0, 1, 2], [0, 1, 2]]
    base, tuned = (folder / name for name in ("encoders/base.0", "models/base.0/toy.full.f1.s0"))
    whose = {root / item: base if "pretrained" in item else tuned for item in list(work)[:4]}
    for into, weights in whose.items():
        for layer, path in layer_files(into).items():
            about = read_about(path)
            assert about["model"] == digest_of_weights(weights) and about["layer"] == layer
            assert about["unit"] == into.relative_to(root / "base.0").parts[1]
            assert about["dtype"] == "float16" and read_vectors(path).dtype == np.float16
    data = read_dataset(folder / "data/toy/train.parquet")[1]["digest"]
    assert read_about(root / next(iter(work)) / "layer-02.parquet")["dataset"] == data


def test_texts_are_cut_where_the_item_says_and_that_is_counted(script, folder, tmp_path):
    done, (example, _), _ = cached(script, folder, "token", tmp_path, max_tokens=6)
    table, info = read_dataset(folder / "data/toy/train.parquet")
    whole = encode(table, info, load_tokenizer(folder / "encoders/base.0"), 38, by_word=False)
    assert done["truncated"] == (whole.lengths > 6).sum() > 0
    assert np.array_equal(np.bincount(example), np.minimum(whole.lengths, 6) - 2)


def test_a_job_that_fails_on_its_way_leaves_nothing_of_the_item(folder, quiet, monkeypatch):
    done = {"base.0/pretrained/cls/toy-train": {"layers": "last", "max_tokens": 8}}
    failing = {"base.0/pretrained/word/toy-train": {"layers": "last", "max_tokens": 8}}

    def full_disk(*_):
        raise OSError("no space left on device")

    work = job(folder / "x", done | failing)
    work.input = job(folder, {}).input
    write = LayerWriter.write
    monkeypatch.setattr(LayerWriter, "write", lambda self, e, u, v: full_disk() if u.any() else write(self, e, u, v))
    with pytest.raises(OSError, match="no space"):
        run_script("scripts/cache_activations", work)
    root = folder / "x/activations/base.0/pretrained"
    assert [path.relative_to(root) for path in root.rglob("*.parquet")] == [Path("cls/toy-train/layer-02.parquet")]
    assert not list((folder / "x").rglob("*.part"))


# ---- datasets of the same sentences


def test_sentences_of_several_datasets_pass_through_the_model_once(script, folder, tmp_path):
    span = {"start2": None, "end2": None, "labels": ["x"]}
    of_one = {0: (0, 1), 2: (1, 2)}  # sentence -> span
    of_other = {1: (0, 2), 0: (1, 3)}
    paths = []
    for name, spans in (("one", of_one), ("other", of_other)):
        rows = [{"id": f"{name}{at}", "words": SENTENCES[at], "targets": [span | {"start1": start, "end1": end}]}
                for at, (start, end) in spans.items()]  # fmt: skip
        paths.append(str(write(tmp_path / f"data/{name}/train.parquet", rows, "spans")))
    encoder, how = folder / "encoders/base.0", SETTINGS | {"max_tokens": 40, "layers": "all"}
    cache_dataset(*script.loaded(encoder), encoder, tuple(paths), tmp_path / "shared", {"unit": "span"} | how)
    assert read_rows(tmp_path / "shared", "one").tolist() == [0, 1]
    assert read_rows(tmp_path / "shared", "other").tolist() == [2, 0]
    for name, path in zip(("one", "other"), paths):
        cache_dataset(*script.loaded(encoder), encoder, (path,), tmp_path / name, {"unit": "span"} | how)
        alone, shared = (read_split([tmp_path / of], path) for of in (name, "shared"))
        assert alone.start.tolist() == shared.start.tolist() and alone.size.tolist() == shared.size.tolist()
        torch.testing.assert_close(alone.vectors, shared.vectors)
    # the first sentence is in both, and once in the cache
    example, _ = read_units(layer_files(tmp_path / "shared")[0])
    assert len(set(example.tolist())) == 3


def test_of_targets_only_the_labelled_words_are_cached_and_these_are_read(script, folder, tmp_path):
    """What a task that labels some words reads is to the bit what it would read of all words."""
    span = {"start2": None, "end2": None, "labels": ["x"]}
    chosen = [[1], [0, 2], [], [0]]
    targets = [[span | {"start1": word, "end1": word + 1} for word in words] for words in chosen]
    rows = [{"id": f"{at}", "words": SENTENCES[at], "targets": targets[at]} for at in range(len(chosen))]
    path, encoder = write(tmp_path / "data/some/train.parquet", rows, "spans"), folder / "encoders/base.0"
    for unit in ("word", "target"):
        cache_dataset(*script.loaded(encoder), encoder, (str(path),), tmp_path / unit, {"unit": unit} | SETTINGS)
    example, unit = read_units(layer_files(tmp_path / "target")[0])
    assert list(zip(example.tolist(), unit.tolist())) == [(0, 1), (1, 0), (1, 2), (3, 0)]
    of_words, of_targets = (LabelledVectors(tmp_path / unit, path, "word") for unit in ("word", "target"))
    for layer in of_words.files:
        np.testing.assert_array_equal(of_words.layer(layer), of_targets.layer(layer))
