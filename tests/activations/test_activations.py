"""The activation cache against a slow reading of one example at a time."""

import copy
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizer

from tests.scripts import load_script
from workflow.lib.activations import cache as activations
from workflow.lib.activations import extraction
from workflow.lib.base.errors import UserError
from workflow.lib.encoders import tokenization as encoding
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.encoders.tokenization import Encoded, encode
from workflow.lib.encoders.weights import digest_of_weights

torch.set_num_threads(1)
SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"
N_LAYERS, WIDTH = 3, 32
BYTES_PER_UNIT = 4 * WIDTH * (N_LAYERS + 1)
TEXTS = [
    "the cat sat on the mat",
    "a dog",
    "unbelievably long words, such as catmatdog, fall into pieces!",
    "the dog sat",
    "it is the cat that sat on the dog on the mat and it is the dog that did not",
    "mat",
    "cats and dogs and mats",
]
ABOUT = {"model": "0123", "dataset": "4567"}


@pytest.fixture(scope="module")
def tokenizer():
    trained = load_script("scripts/train_tokenizer").train_wordpiece(
        ["the cat sat on a mat it is that dog did"] * 3, 60
    )
    return BertTokenizer(tokenizer_object=trained, model_max_length=64)


@pytest.fixture(scope="module")
def model(tokenizer):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=WIDTH, num_hidden_layers=N_LAYERS, num_attention_heads=4,
        intermediate_size=48, max_position_embeddings=64, initializer_range=0.2,
    )  # fmt: skip
    return BertModel(config, add_pooling_layer=False).eval()


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


def treebank_table(texts=TEXTS):
    return pa.table({"id": [f"r{at}" for at in range(len(texts))], "words": [text.split() for text in texts]})


@torch.no_grad()
def slow_states(model, tokenizer, text, **options):
    """(layers, tokens, width) of one example alone, and its tokenisation."""
    out = tokenizer(text, return_tensors="pt", **options)
    states = model(**out, output_hidden_states=True).hidden_states
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


def extracted(model, tokenizer, folder, unit="cls", batch_size=3, dtype="float32"):
    encoded = encode(text_table(TEXTS), info_of(), tokenizer, 64, by_word=unit == "word")
    n_units = extraction.extract(model, encoded, unit, folder, ABOUT, batch_size, dtype)
    files = activations.layer_files(folder)
    assert len(files) == N_LAYERS + 1
    return files, n_units


def written(path, vectors, dtype, group_sizes):
    writer = activations.LayerWriter(path, vectors.shape[1], dtype, ABOUT)
    start = 0
    for size in group_sizes:
        rows = np.arange(start, start + size)
        writer.write(rows, rows * 0, vectors[rows])
        start += size
    writer.close()


def several_chunks(monkeypatch):
    """About ten units per row group."""
    monkeypatch.setattr(extraction, "BYTES_HELD", 10 * BYTES_PER_UNIT)


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
    lists = activations.vectors_as_lists(path)
    assert lists.type == pa.list_(pa.from_numpy_dtype(np.dtype(dtype)), 7)
    np.testing.assert_array_equal(np.array(lists.to_pylist(), dtype=dtype), vectors)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_round_trip_of_more_than_arrow_puts_on_a_page(tmp_path, dtype):
    vectors = np.random.default_rng(0).normal(size=(50_000, 16)).astype(dtype)
    written(tmp_path / "long.parquet", vectors, dtype, [45_000, 5_000])
    assert pq.ParquetFile(tmp_path / "long.parquet").num_row_groups > 2  # large pieces are slow to write
    np.testing.assert_array_equal(activations.read_vectors(tmp_path / "long.parquet"), vectors)


def test_float32_is_rounded_to_float16(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    written(tmp_path / "half.parquet", vectors, "float16", [4])
    np.testing.assert_array_equal(activations.read_vectors(tmp_path / "half.parquet"), vectors.astype(np.float16))


@pytest.mark.parametrize("unit", ["cls", "word", "token"])
def test_all_layers_equal_single_examples(model, tokenizer, tmp_path, unit):
    files, n_units = extracted(model, tokenizer, tmp_path, unit)
    expected, example, number = slow_units(model, tokenizer, unit)
    assert n_units == len(example)
    for layer, path in enumerate(files):
        np.testing.assert_allclose(activations.read_vectors(path), expected[layer], atol=1e-5, rtol=0)
        read_example, read_number = activations.read_units(path)
        assert read_example.tolist() == example
        assert read_number.tolist() == number


def test_some_words_are_split(tokenizer):
    assert any(len(tokenizer.tokenize(word)) > 1 for text in TEXTS for word in text.split())


def test_words_of_a_treebank_are_those_of_its_rows(model, tokenizer, tmp_path):
    encoded = encode(treebank_table(), info_of("treebank"), tokenizer, 64, by_word=True)
    n_units = extraction.extract(model, encoded, "word", tmp_path, ABOUT, 2, "float32")
    assert n_units == sum(len(text.split()) for text in TEXTS)
    expected = slow_units(model, tokenizer, "word")[0]
    for layer, path in enumerate(activations.layer_files(tmp_path)):
        np.testing.assert_allclose(activations.read_vectors(path), expected[layer], atol=1e-5, rtol=0)


def test_word_without_pieces_keeps_its_place(model, tokenizer, tmp_path):
    table = pa.table({"id": ["r0"], "words": [["the", "\u200b", "cat"]]})  # BERT drops control characters
    encoded = encode(table, info_of("treebank"), tokenizer, 64, by_word=True)
    extraction.extract(model, encoded, "word", tmp_path, ABOUT, 2, "float32")
    assert activations.read_units(activations.layer_file(tmp_path, 0))[1][-1] == 2


def test_chunk_without_units_is_readable(model, tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(extraction, "BYTES_HELD", 2 * BYTES_PER_UNIT)
    encoded = encode(text_table(["", "the cat", ""]), info_of(), tokenizer, 64, by_word=False)
    assert extraction.extract(model, encoded, "token", tmp_path, ABOUT, 2, "float32") == 2
    path = activations.layer_file(tmp_path, N_LAYERS)
    assert activations.read_vectors(path).shape == (2, WIDTH)
    assert activations.read_units(path)[0].tolist() == [1, 1]


@pytest.mark.parametrize("room", [40, 300])
def test_chunks_are_whole_batches_that_fit_or_single_rows(monkeypatch, room):
    monkeypatch.setattr(extraction, "BYTES_HELD", room * 8)
    lengths = np.random.default_rng(0).integers(5, 60, 200)
    encoded = Encoded({}, lengths, 0, {}, [], [])
    chunks = list(extraction.chunks_of(encoded, "token", 8, 4))
    np.testing.assert_array_equal(np.concatenate(chunks), np.arange(200))
    held = [extraction.padded_size(lengths[rows], 4) for rows in chunks]
    assert all(size <= room or len(rows) == 1 for size, rows in zip(held, chunks)) and max(held) > room / 3
    assert all(len(rows) % 4 == 0 or len(rows) < 4 for rows in chunks[:-1])


@pytest.mark.parametrize("unit", ["cls", "word", "token"])
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_batch_size_and_chunks_do_not_matter(model, tokenizer, tmp_path, monkeypatch, unit, batch_size):
    one, _ = extracted(model, tokenizer, tmp_path / "one", unit)
    several_chunks(monkeypatch)
    if unit == "cls":
        monkeypatch.setattr(extraction, "BYTES_HELD", BYTES_PER_UNIT)
    many, _ = extracted(model, tokenizer, tmp_path / "many", unit, batch_size)
    assert pq.ParquetFile(one[0]).num_row_groups == 1
    assert pq.ParquetFile(many[0]).num_row_groups > 1
    for left, right in zip(one, many):
        np.testing.assert_allclose(activations.read_vectors(left), activations.read_vectors(right), atol=1e-5, rtol=0)
        np.testing.assert_array_equal(activations.read_units(left), activations.read_units(right))
        as_lists = np.array(activations.vectors_as_lists(right).to_pylist(), dtype=np.float32)
        np.testing.assert_array_equal(as_lists, activations.read_vectors(right))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_files_say_what_they_are(model, tokenizer, tmp_path, dtype):
    files, _ = extracted(model, tokenizer, tmp_path, "token", dtype=dtype)
    for layer, path in enumerate(files):
        assert activations.read_about(path) == {
            **ABOUT, "layer": layer, "unit": "token", "dtype": dtype, "width": WIDTH
        }  # fmt: skip
        assert activations.read_vectors(path).dtype == np.dtype(dtype)


@pytest.mark.parametrize("damage", ["cut", "text", "foreign", "missing"])
def test_corrupt_file_is_named(tmp_path, damage):
    path = tmp_path / "layer-00.parquet"
    written(path, np.ones((50, 8), dtype=np.float32), "float32", [50])
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "text":
        path.write_text("no Parquet")
    elif damage == "foreign":
        pq.write_table(pa.table({"example": [1], "unit": [1], "vector": [b"12345678"]}), path)
    else:
        path.unlink()
    for read in (activations.read_about, activations.read_vectors, activations.read_units):
        with pytest.raises(UserError, match=path.name):
            read(path)
    with pytest.raises(UserError, match=path.name):
        activations.vectors_as_lists(path)


def test_missing_layer_is_an_error(model, tokenizer, tmp_path):
    files, _ = extracted(model, tokenizer, tmp_path)
    files[1].unlink()
    with pytest.raises(UserError, match=tmp_path.name):
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
    extraction.extract(model, encoded, "cls", tmp_path, ABOUT, 3, "float32")
    vectors = [activations.read_vectors(path) for path in activations.layer_files(tmp_path)]
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


def test_rows_of_the_same_tokens_have_the_same_vectors_to_the_bit(model, tokenizer, tmp_path, monkeypatch):
    """In different chunks, and beside rows of other lengths."""
    texts = ["the cat", "a b c the cat sat on the mat", "a b", "THE CAT", "the cat sat", "the cat"]
    made, make = [], extraction.Twins
    monkeypatch.setattr(extraction, "Twins", lambda encoded: made.append(make(encoded)) or made[0])
    monkeypatch.setattr(extraction, "BYTES_HELD", 2 * BYTES_PER_UNIT)
    encoded = encode(text_table(texts), info_of(), tokenizer, 64, by_word=False)
    extraction.extract(model, encoded, "cls", tmp_path, ABOUT, 2, "float32")
    assert pq.ParquetFile(activations.layer_file(tmp_path, 0)).num_row_groups > 1
    for path in activations.layer_files(tmp_path):
        vectors = activations.read_vectors(path)
        assert np.array_equal(vectors[0], vectors[3]) and np.array_equal(vectors[0], vectors[5])
    assert not np.array_equal(vectors[0], vectors[2])
    assert not made[0].vectors  # nothing waits any more


def test_memory_is_used_again_by_whatever_comes_next(model, tokenizer, tmp_path, monkeypatch):
    """By other units, longer datasets, encoders cut or of another width: the files are those of fresh memory."""
    several_chunks(monkeypatch)
    texts = ["the cat", "a b c the cat sat on the mat", "a b", "the cat sat"]
    narrow = BertModel(BertConfig(**model.config.to_diff_dict() | {"hidden_size": WIDTH // 2}))
    cut = apply_recipe(copy.deepcopy(model), "truncate-1", seed=0)
    spare = []
    for at, (made, unit, n) in enumerate(
        [(model, "token", 3), (model, "cls", 4), (narrow, "token", 4), (cut, "word", 2), (model, "token", 4)]
    ):
        encoded = encode(text_table(texts[:n]), info_of(), tokenizer, 64, by_word=unit == "word")
        folders = tmp_path / f"{at}-again", tmp_path / f"{at}-fresh"
        for folder, memory in zip(folders, (spare, None)):
            extraction.extract(made, encoded, unit, folder, ABOUT, 2, "float32", memory)
        again, fresh = (sorted(folder.glob("layer-*.parquet")) for folder in folders)
        assert [path.name for path in again] == [path.name for path in fresh]
        assert all(one.read_bytes() == other.read_bytes() for one, other in zip(again, fresh))
        assert 1 <= len(spare) <= 2


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
