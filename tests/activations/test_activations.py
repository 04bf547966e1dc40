"""The activation cache and its extraction against a slow reading of one example at a time."""

import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from tests import tiny
from tests.families import FAMILIES
from workflow.lib.activations import cache as activations
from workflow.lib.activations import extraction
from workflow.lib.activations.units import units_of
from workflow.lib.base.errors import UserError
from workflow.lib.encoders import tokenization as encoding
from workflow.lib.encoders.tokenization import encode
from workflow.lib.encoders.unit_pooling import single_tokens
from workflow.lib.encoders.weights import digest_of_weights

torch.set_num_threads(1)
N_LAYERS, WIDTH = 3, 32
BYTES_PER_UNIT = 4 * WIDTH * (N_LAYERS + 1)
TEXTS = [
    "the cat sat on the mat",
    "a dog",
    "unbelievably long, as catmatdog, such fall!",
    "the dog sat",
    "it is the cat that sat on the dog on the mat and it is the dog that did not",
    "mat",
    "cats and dogs and mats",
]
ABOUT = {"model": "0123", "dataset": "4567"}


@pytest.fixture(scope="module")
def tokenizer():
    return tiny.wrapped(tiny.wordpiece(), 64)


@pytest.fixture(scope="module")
def models():
    return {family: tiny.encoder(family, N_LAYERS, WIDTH, max_position_embeddings=64) for family in FAMILIES}


@pytest.fixture(scope="module")
def model(models):
    return models["bert"]


def text_table(texts, pairs=None):
    pairs = pairs or [None] * len(texts)
    return pa.table(
        {
            "id": [f"r{at}" for at in range(len(texts))],
            "text": texts,
            "text_pair": pa.array(pairs, pa.string()),
            "label": [0] * len(texts),
        }
    )


def info_of(kind="text"):
    return {"dataset": "tiny", "kind": kind}


def word_table(rows):
    return pa.table({"id": [f"r{at}" for at in range(len(rows))], "words": rows})


def treebank_table(texts=TEXTS):
    return word_table([text.split() for text in texts])


@torch.no_grad()
def slow_states(model, tokenizer, text, **options):
    """(layers, tokens, width) of one example alone, and its tokenisation."""
    out = tokenizer(text, return_tensors="pt", **options)
    known = {name: out[name] for name in ("input_ids", "attention_mask")}
    if getattr(model.config, "type_vocab_size", 1) > 1:
        known["token_type_ids"] = out["token_type_ids"]
    states = model(**known, output_hidden_states=True).hidden_states
    return np.stack([state[0].numpy() for state in states]), out


def slow_units(model, tokenizer, unit):
    """(layers, units, width), example and unit numbers."""
    vectors, example, number = [], [], []
    for at, text in enumerate(TEXTS):
        by_word = unit == "word"
        states, out = slow_states(model, tokenizer, text.split() if by_word else text, is_split_into_words=by_word)
        if unit == "cls":
            units = [states[:, 0]]
        elif unit == "token":
            units = [states[:, place] for place in range(1, states.shape[1] - 1)]
        else:
            words = out.encodings[0].word_ids
            units = [
                states[:, [place for place, of in enumerate(words) if of == word]].mean(axis=1)
                for word in range(len(text.split()))
            ]
        vectors += units
        example += [at] * len(units)
        number += range(len(units))
    return np.stack(vectors, axis=1), example, number


def extract(model, encoded, unit, folder, **how):
    units = units_of(unit, encoded)
    return extraction.extract(model, encoded, units, folder, ABOUT | {"unit": unit}, **{"batch_size": 3} | how)


def extracted(model, tokenizer, folder, unit="cls", **how):
    encoded = encode(text_table(TEXTS), info_of(), tokenizer, 64, by_word=unit == "word")
    n_units = extract(model, encoded, unit, folder, **how)
    files = activations.layer_files(folder)
    assert list(files) == list(range(N_LAYERS + 1))
    return files, n_units


def written(path, vectors, dtype, group_sizes):
    writer = activations.LayerWriter(path, vectors.shape[1], dtype, ABOUT)
    start = 0
    for size in group_sizes:
        rows = np.arange(start, start + size)
        writer.write(rows, rows * 0, vectors[rows])
        start += size
    writer.close()


def several_chunks(monkeypatch, units=10):
    """About ten units per row group."""
    monkeypatch.setattr(extraction, "BYTES_HELD", units * BYTES_PER_UNIT)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("group_sizes", [[10], [3, 6, 1]])
def test_round_trip(tmp_path, dtype, group_sizes):
    vectors = np.random.default_rng(0).normal(size=(10, 7)).astype(dtype)
    path = tmp_path / "layer-00.parquet"
    written(path, vectors, dtype, group_sizes)
    read = activations.read_vectors(path)
    assert read.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(read, vectors)
    example, unit = activations.read_units(path)
    np.testing.assert_array_equal(example, np.arange(10))
    np.testing.assert_array_equal(unit, np.zeros(10))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_round_trip_of_more_than_arrow_puts_on_a_page(tmp_path, dtype):
    vectors = np.random.default_rng(0).normal(size=(150_000, 16)).astype(dtype)
    written(tmp_path / "long.parquet", vectors, dtype, [140_000, 10_000])
    assert pq.ParquetFile(tmp_path / "long.parquet").num_row_groups > 2  # large pieces are slow to write
    np.testing.assert_array_equal(activations.read_vectors(tmp_path / "long.parquet"), vectors)


def test_float32_is_rounded_to_float16(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    written(tmp_path / "half.parquet", vectors, "float16", [4])
    np.testing.assert_array_equal(activations.read_vectors(tmp_path / "half.parquet"), vectors.astype(np.float16))


@pytest.mark.parametrize("unit", ["cls", "word", "token"])
@pytest.mark.parametrize("family", FAMILIES)
def test_all_layers_equal_single_examples(models, tokenizer, tmp_path, unit, family):
    files, n_units = extracted(models[family], tokenizer, tmp_path, unit)
    expected, example, number = slow_units(models[family], tokenizer, unit)
    assert n_units == len(example)
    for layer, path in files.items():
        np.testing.assert_allclose(activations.read_vectors(path), expected[layer], atol=1e-5, rtol=1e-5)
        read_example, read_number = activations.read_units(path)
        assert read_example.tolist() == example
        assert read_number.tolist() == number


@pytest.mark.parametrize(
    "layers, expected",
    [("last", [N_LAYERS]), ("blocks", [1, 2, 3]), ("all", [0, 1, 2, 3])],
    ids=lambda given: str(given),
)
def test_only_the_layers_asked_for_are_stored(model, tokenizer, tmp_path, layers, expected):
    whole, _ = extracted(model, tokenizer, tmp_path / "whole", "word")
    encoded = encode(text_table(TEXTS), info_of(), tokenizer, 64, by_word=True)
    extract(model, encoded, "word", tmp_path / "some", layers=layers)
    assert sorted(path.name for path in (tmp_path / "some").iterdir()) == [f"layer-{at:02d}.parquet" for at in expected]
    for layer, path in activations.layer_files(tmp_path / "some").items():
        assert path.read_bytes() == whole[layer].read_bytes()
    assert activations.last_layer_file(tmp_path / "some").name == f"layer-{N_LAYERS:02d}.parquet"


def test_some_words_are_split(tokenizer):
    assert any(len(tokenizer.tokenize(word)) > 1 for text in TEXTS for word in text.split())


def test_words_of_a_treebank_are_those_of_its_rows(model, tokenizer, tmp_path):
    encoded = encode(treebank_table(), info_of("treebank"), tokenizer, 64, by_word=True)
    n_units = extract(model, encoded, "word", tmp_path)
    assert n_units == sum(len(text.split()) for text in TEXTS)
    expected = slow_units(model, tokenizer, "word")[0]
    for layer, path in activations.layer_files(tmp_path).items():
        np.testing.assert_allclose(activations.read_vectors(path), expected[layer], atol=1e-5, rtol=0)


def test_word_without_pieces_keeps_its_place_as_an_unknown_one(model, tokenizer, tmp_path):
    vectors = []
    for word in ("\u200b", "[UNK]"):  # BERT drops control characters
        encoded = encode(word_table([["the", word, "cat"]]), info_of("treebank"), tokenizer, 64, by_word=True)
        assert extract(model, encoded, "word", tmp_path / word) == 3
        path = activations.layer_file(tmp_path / word, N_LAYERS)
        assert activations.read_units(path)[1].tolist() == [0, 1, 2]
        vectors.append(activations.read_vectors(path))
    np.testing.assert_array_equal(*vectors)


@pytest.mark.parametrize("texts, rows", [(["", "the cat", ""], [1, 1]), (["", ""], [])])
def test_rows_without_units_leave_a_readable_file(model, tokenizer, tmp_path, monkeypatch, texts, rows):
    several_chunks(monkeypatch, 1)
    encoded = encode(text_table(texts), info_of(), tokenizer, 64, by_word=False)
    assert extract(model, encoded, "token", tmp_path) == len(rows)
    path = activations.layer_file(tmp_path, N_LAYERS)
    assert activations.read_vectors(path).shape == (len(rows), WIDTH)
    assert activations.read_units(path)[0].tolist() == rows


@pytest.mark.parametrize("room, most", [(40, 10**6), (300, 10**6), (10**6, 70)])
def test_chunks_fit_or_are_single_rows(monkeypatch, room, most):
    monkeypatch.setattr(extraction, "BYTES_HELD", room * 8)
    monkeypatch.setattr(extraction, "MOST_UNITS", most)
    counts = np.random.default_rng(0).integers(0, 60, 200)
    units = single_tokens([np.arange(n) for n in counts], [np.arange(n) for n in counts])
    chunks, room = list(extraction.chunks_of(units, 8)), min(room, most)
    np.testing.assert_array_equal(np.concatenate(chunks), np.flatnonzero(counts))
    held = [counts[rows].sum() for rows in chunks]
    assert all(size <= room or len(rows) == 1 for size, rows in zip(held, chunks)) and max(held) > room / 2
    # none could have been longer
    assert all(size + counts[after[0]] > room for size, after in zip(held, chunks[1:]))


def test_two_chunks_are_held_at_a_time_whatever_the_dataset(model, tokenizer, tmp_path, monkeypatch):
    several_chunks(monkeypatch, 30)
    alive, most, sizes, run = weakref.WeakSet(), [], [], extraction.Extractor.run

    class Held(dict):  # a plain dict has no weak references
        __hash__ = object.__hash__

    def watched(self, *args):
        held = Held(run(self, *args))
        alive.add(held)
        most.append(len(alive))
        sizes.append(sum(vectors.nbytes for vectors in held.values()))
        return held

    monkeypatch.setattr(extraction.Extractor, "run", watched)
    encoded = encode(text_table(TEXTS * 20), info_of(), tokenizer, 64, by_word=False)
    extract(model, encoded, "token", tmp_path)
    assert len(most) > 30 and max(most) <= 2
    assert max(sizes) <= extraction.BYTES_HELD


@pytest.mark.parametrize("unit", ["cls", "word", "token"])
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_batch_size_and_chunks_do_not_matter(model, tokenizer, tmp_path, monkeypatch, unit, batch_size):
    one, _ = extracted(model, tokenizer, tmp_path / "one", unit)
    several_chunks(monkeypatch, 1 if unit == "cls" else 10)
    many, _ = extracted(model, tokenizer, tmp_path / "many", unit, batch_size=batch_size)
    assert pq.ParquetFile(one[0]).num_row_groups == 1
    assert pq.ParquetFile(many[0]).num_row_groups > 1
    for left, right in zip(one.values(), many.values()):
        np.testing.assert_allclose(activations.read_vectors(left), activations.read_vectors(right), atol=1e-5, rtol=0)
        np.testing.assert_array_equal(activations.read_units(left), activations.read_units(right))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_files_say_what_they_are(model, tokenizer, tmp_path, dtype):
    files, _ = extracted(model, tokenizer, tmp_path, "token", dtype=dtype)
    for layer, path in files.items():
        assert activations.read_about(path) == {
            **ABOUT, "layer": layer, "unit": "token", "dtype": dtype, "width": WIDTH
        }  # fmt: skip
        assert activations.read_vectors(path).dtype == np.dtype(dtype)


def test_half_precision_is_the_rounded_float32(model, tokenizer, tmp_path):
    files = [extracted(model, tokenizer, tmp_path / dtype, "word", dtype=dtype)[0] for dtype in ("float32", "float16")]
    for full, half in zip(*(of_dtype.values() for of_dtype in files)):
        np.testing.assert_array_equal(activations.read_vectors(half), activations.read_vectors(full).astype(np.float16))


@pytest.mark.parametrize("damage", ["cut", "text", "foreign", "missing"])
def test_corrupt_file_is_named(tmp_path, damage):
    path = tmp_path / "layer-00.parquet"
    written(path, np.ones((50, 8), dtype=np.float32), "float32", [50])
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "text":
        path.write_text("no Parquet")
    elif damage == "foreign":
        pq.write_table(pa.table({"example": [1], "unit": [1], "vector": [[1.0, 2.0]]}), path)
    else:
        path.unlink()
    for read in (activations.read_about, activations.read_vectors, activations.read_units):
        with pytest.raises(UserError, match=rf"{path} is no readable activation file .*delete its folder") as error:
            read(path)
        assert "\n" not in str(error.value)


def test_missing_layer_is_an_error(model, tokenizer, tmp_path):
    files, _ = extracted(model, tokenizer, tmp_path)
    files[1].unlink()
    with pytest.raises(UserError, match=rf"{tmp_path} .*delete it"):
        activations.layer_files(tmp_path)
    with pytest.raises(UserError, match="nowhere"):
        activations.layer_files(tmp_path / "nowhere")


def test_cut_texts_are_counted(tokenizer):
    long = [len(tokenizer(text)["input_ids"]) > 8 for text in TEXTS]
    assert 0 < sum(long) < len(long)
    encoded = encode(text_table(TEXTS), info_of(), tokenizer, 8, by_word=False)
    assert encoded.n_truncated == sum(long)
    assert encoded.lengths.max() == 8
    assert encode(text_table(TEXTS), info_of(), tokenizer, 64, by_word=False).n_truncated == 0


def test_cut_treebank_rows_are_an_error(tokenizer):
    with pytest.raises(UserError, match=r"tiny.*row r2"):
        encode(treebank_table(), info_of("treebank"), tokenizer, 10, by_word=True)


def test_pairs_have_token_types(model, tokenizer, tmp_path):
    pairs = list(reversed(TEXTS))
    encoded = encode(text_table(TEXTS, pairs), info_of(), tokenizer, 64, by_word=False)
    extract(model, encoded, "cls", tmp_path)
    vectors = [activations.read_vectors(path) for path in activations.layer_files(tmp_path).values()]
    for at, (text, pair) in enumerate(zip(TEXTS, pairs)):
        types = encoded.inputs["token_type_ids"][at].tolist()
        assert types == [0] * (len(tokenizer.tokenize(text)) + 2) + [1] * (len(tokenizer.tokenize(pair)) + 1)
        states, _ = slow_states(model, tokenizer, text, text_pair=pair)
        for layer in range(N_LAYERS + 1):
            np.testing.assert_allclose(vectors[layer][at], states[layer, 0], atol=1e-5, rtol=0)


def test_words_of_pairs_are_refused(tokenizer):
    with pytest.raises(UserError, match="tiny"):
        encode(text_table(TEXTS, TEXTS), info_of(), tokenizer, 64, by_word=True)


def test_batch_is_padded_on_the_right(tokenizer):
    encoded = encode(text_table(TEXTS), info_of(), tokenizer, 64, by_word=False)
    batch = encoded.batch(np.array([1, 4]))
    n = int(encoded.lengths[1])
    assert batch["input_ids"].shape == (2, encoded.lengths[4])
    assert (batch["input_ids"][0, n:] == tokenizer.pad_token_id).all()
    assert batch["attention_mask"].sum(dim=1).tolist() == [n, encoded.lengths[4]]


def test_digest_of_weights_follows_the_weights(tmp_path, model):
    model.save_pretrained(tmp_path / "a")
    model.save_pretrained(tmp_path / "b")
    assert digest_of_weights(tmp_path / "a") == digest_of_weights(tmp_path / "b")
    with (tmp_path / "b" / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    assert digest_of_weights(tmp_path / "a") != digest_of_weights(tmp_path / "b")


@pytest.fixture
def twins(monkeypatch):
    """Those that extraction has made, in chunks of two units at most."""
    made, make = [], extraction.Twins
    monkeypatch.setattr(extraction, "Twins", lambda *args: made.append(make(*args)) or made[-1])
    several_chunks(monkeypatch, 2)
    return made


@pytest.mark.parametrize("unit", ["cls", "word"])
def test_rows_of_the_same_tokens_have_the_same_vectors_to_the_bit(model, tokenizer, tmp_path, twins, unit):
    """In different chunks, and beside rows of other lengths."""
    texts = ["the cat", "a b c the cat sat on the mat", "a b", "THE CAT", "the cat sat", "the cat"]
    encoded = encode(text_table(texts), info_of(), tokenizer, 64, by_word=unit == "word")
    extract(model, encoded, unit, tmp_path, batch_size=2)
    assert pq.ParquetFile(activations.layer_file(tmp_path, 0)).num_row_groups > 1
    for path in activations.layer_files(tmp_path).values():
        vectors, (example, _) = activations.read_vectors(path), activations.read_units(path)
        first, other, *again = (vectors[example == row] for row in (0, 2, 3, 5))
        assert all(np.array_equal(first, twin) for twin in again)
    assert not np.array_equal(first, other)
    assert not twins[0].kept  # nothing waits any more


def test_rows_of_the_same_tokens_in_other_words_are_no_twins(model, tokenizer, tmp_path, twins):
    rows = [["the", "a-b", "cat"], ["the", "a", "-", "b", "cat"], ["the", "a", "-b", "cat"], ["the", "a-b", "cat"]]
    encoded = encode(word_table(rows), info_of("treebank"), tokenizer, 64, by_word=True)
    assert len({ids.tobytes() for ids in encoded.inputs["input_ids"]}) == 1
    extract(model, encoded, "word", tmp_path)
    path = activations.layer_file(tmp_path, N_LAYERS)
    vectors, (example, unit) = activations.read_vectors(path), activations.read_units(path)
    assert np.bincount(example).tolist() == [3, 5, 4, 3]
    assert np.array_equal(vectors[example == 0], vectors[example == 3]) and not twins[0].kept
    of_pieces = vectors[(example == 1) & (unit >= 1) & (unit <= 3)]
    for row, word, pieces in ((0, 1, of_pieces), (2, 2, of_pieces[1:])):
        np.testing.assert_allclose(vectors[(example == row) & (unit == word)][0], pieces.mean(0), atol=1e-5)


@pytest.mark.parametrize("by_word", [False, True])
def test_tokenising_in_slices_changes_nothing(tokenizer, monkeypatch, by_word):
    texts = ["the cat", "a b c the cat sat on the mat", "a b", "the cat sat", "the mat sat on a cat"] * 2
    whole = encode(text_table(texts), info_of(), tokenizer, 6, by_word)
    monkeypatch.setattr(encoding, "AT_ONCE", 3)
    sliced = encode(text_table(texts), info_of(), tokenizer, 6, by_word)
    assert whole.n_truncated == sliced.n_truncated == 4 and bool(whole.word_of) == by_word
    np.testing.assert_array_equal(whole.lengths, sliced.lengths)
    for one, other in ((whole.inputs, sliced.inputs), (whole.__dict__, sliced.__dict__)):
        for name in set(one) & {*whole.inputs, "word_of", "special"}:
            assert all(map(np.array_equal, one[name], other[name])) and len(one[name]) == len(other[name])
