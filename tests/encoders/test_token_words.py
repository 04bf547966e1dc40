"""Which word is a cached token a piece of? Against tokenising word by word, with tokenizers that disagree on words."""

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import BertModel, PreTrainedTokenizerFast

from tests.scripts import load_script
from tests.tiny import SPECIAL, encoder, save, wordpiece, wrapped
from workflow.lib.activations import cache as activations
from workflow.lib.activations import extraction
from workflow.lib.activations.caching import cache_dataset
from workflow.lib.activations.units import units_of
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.encoders.tokenization import Encoded
from workflow.lib.methods.edges.alignment import first_tokens, ranges

torch.set_num_threads(1)
ROWS = [
    ["I", "ca", "n't", "do", "it", "."],
    ["unbelievablylongword"],
    ["a", "☃", "zebra", "[UNK]", "b"],  # a sign and letters that WordPiece does not know; the mark itself
    ["state-of-the-art", "'s", "``", "a", "''", "U.S.", "--"],
    ["a", "\u200b", "b"],  # nothing is left of it: it counts as unknown
    ["it", "it", "it"],
    ["naïve", "CAFÉ", "x1y2", "日本"],
]


def byte_level() -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("i", "t"), ("Ġ", "it"), ("Ġ", "a"), ("n", "'"), ("u", "n"), ("Ġ", "un")]
    vocab = [*SPECIAL, *alphabet, *("".join(pair) for pair in merges)]
    built = Tokenizer(models.BPE({piece: at for at, piece in enumerate(vocab)}, merges))
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # as RoBERTa's files have it
    built.decoder = decoders.ByteLevel()
    return built


@pytest.fixture(scope="module", params=[wordpiece, byte_level])
def model_folder(request, tmp_path_factory) -> Path:
    tokenizer = wrapped(request.param())
    model = encoder(max_position_embeddings=128, vocab_size=len(tokenizer))
    return save(tmp_path_factory.mktemp(request.param.__name__), model, tokenizer)


def pieces_of_words(folder: Path) -> list[list[list[int]]]:
    """Each word's ids, tokenised alone, after a space where the tokenizer cares (marks stand for themselves)."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    spaced = isinstance(tokenizer.backend_tokenizer.model, models.BPE)
    before = [[" " if spaced and word not in SPECIAL else "" for word in row] for row in ROWS]
    return [
        [
            tokenizer(space + word, add_special_tokens=False)["input_ids"] or [SPECIAL.index("[UNK]")]
            for space, word in zip(spaces, row)
        ]
        for spaces, row in zip(before, ROWS)
    ]


def cached(model: Path, folder: Path, unit="token", kind="spans", max_tokens=128, rows=ROWS) -> Path:
    texts = rows
    rows = [{"id": f"r{at}", "words": words, "targets": []} for at, words in enumerate(texts)]
    if kind == "text":
        rows = [
            {"id": f"r{at}", "text": " ".join(words), "text_pair": None, "label": 0} for at, words in enumerate(texts)
        ]
    path, settings = folder / "data.parquet", {"layers": "all", "batch_size": 3, "dtype": "float32"}
    write_dataset(path, rows, dataset="d", split="s", kind=kind, labels=[], source="test")
    script = load_script("scripts/cache_activations")
    settings |= {"unit": unit, "max_tokens": max_tokens}
    cache_dataset(*script.loaded(model), model, (str(path),), folder / "out", settings)
    return folder / "out"


def test_words_are_those_of_tokenising_word_by_word(model_folder, tmp_path):
    folder = cached(model_folder, tmp_path)
    counts = [[len(ids) for ids in row] for row in pieces_of_words(model_folder)]
    assert max(map(max, counts)) >= 5 and min(map(min, counts)) == 1
    expected = [word for row in counts for word, count in enumerate(row) for _ in range(count)]
    assert activations.read_words(folder).tolist() == expected
    table = pq.read_table(activations.words_file(folder))
    assert table.schema.types == [pa.int32()] * 3 and table.column_names == ["example", "unit", "word"]
    for path in activations.layer_files(folder).values():
        example, unit = activations.read_units(path)
        assert example.tolist() == table["example"].to_pylist() and unit.tolist() == table["unit"].to_pylist()


def test_tokens_of_a_word_are_its_pieces_in_the_model(model_folder, tmp_path):
    """The vectors that alignment finds for a word, against one forward pass over ids put together word by word."""
    folder = cached(model_folder, tmp_path)
    model = BertModel.from_pretrained(model_folder, add_pooling_layer=False).eval()
    files = activations.layer_files(folder)
    vectors, (example, _) = activations.read_vectors(files[2]), activations.read_units(files[2])
    n_words = np.array([len(row) for row in ROWS])
    needed = np.ones(n_words.sum(), bool)
    tokens, first = first_tokens(example, activations.read_words(folder), n_words, needed, "here")
    at = 0
    for ids in pieces_of_words(model_folder):
        flat = [SPECIAL.index("[CLS]"), *(piece for word in ids for piece in word), SPECIAL.index("[SEP]")]
        with torch.no_grad():
            states = model(torch.tensor([flat]), output_hidden_states=True).hidden_states[2][0, 1:-1].numpy()
        for word in ids:
            found = vectors[tokens[first[at] : first[at + 1]]]
            np.testing.assert_allclose(found, states[: len(word)], atol=1e-5)
            states, at = states[len(word) :], at + 1


@pytest.mark.parametrize("unit, kind", [("word", "spans"), ("cls", "spans"), ("token", "text")])
def test_only_tokens_of_words_have_the_table(model_folder, tmp_path, unit, kind):
    folder = cached(model_folder, tmp_path, unit, kind)
    assert not activations.words_file(folder).exists()
    with pytest.raises(UserError, match=r"words\.parquet"):
        activations.read_words(folder)


@pytest.mark.parametrize("longest", [7, 12])
def test_texts_are_cut_to_what_is_asked_for(model_folder, tmp_path, longest):
    """[CLS] and [SEP] count."""
    folder = cached(model_folder, tmp_path, kind="text", rows=[["it"] * 20] * 6, max_tokens=longest)
    example, _ = activations.read_units(activations.layer_file(folder, 1))
    assert np.bincount(example).tolist() == [longest - 2] * 6


def test_no_word_is_cut_off(model_folder, tmp_path):
    """The setting is for texts: rows of words are given whole, and refused if the encoder cannot take them."""
    whole, short = (cached(model_folder, tmp_path / str(n), max_tokens=n) for n in (128, 4))
    assert activations.read_words(short).tolist() == activations.read_words(whole).tolist()
    with pytest.raises(UserError, match="dataset d: row r1 has more than the 128 tokens"):
        cached(model_folder, tmp_path / "long", rows=[["it"] * 126, ["it"] * 127])


def test_a_table_of_another_length_is_refused(model_folder, tmp_path):
    folder = cached(model_folder, tmp_path)
    words = activations.read_words(folder)[:-1]
    activations.write_words(folder, words * 0, words * 0, words)
    with pytest.raises(UserError, match="rows where the layers have"):
        activations.read_words(folder)
    activations.words_file(folder).write_bytes(b"no Parquet")
    with pytest.raises(UserError, match=r"words\.parquet"):
        activations.read_words(folder)


def test_special_tokens_are_left_out_and_other_tokens_without_a_word_are_kept(tmp_path):
    word_of = [np.array(row) for row in ([-1, 0, -1, 1, -1], [-1, -1], [-1, -1, 0, -1])]
    special = [np.array(row) for row in ([1, 0, 0, 0, 1], [1, 1], [1, 0, 0, 1])]
    inputs = {"input_ids": [np.arange(len(row)) for row in word_of], "attention_mask": [row * 0 + 1 for row in word_of]}
    encoded = Encoded(inputs, np.array([5, 2, 4]), 0, {"input_ids": 1, "attention_mask": 0}, word_of, special)
    extraction.extract(encoder(), encoded, units_of("token", encoded), tmp_path, {"unit": "token"})
    example, unit = activations.read_units(activations.layer_file(tmp_path, 1))
    word = activations.read_words(tmp_path)
    assert (example.tolist(), unit.tolist(), word.tolist()) == ([0, 0, 0, 2, 2], [0, 1, 2, 0, 1], [0, -1, 1, -1, 0])


# ---- from spans of words to tokens


def test_spans_of_words_against_a_plain_loop():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n_words = rng.integers(0, 6, 8)
        rows = [  # tokens of no word anywhere in between
            (example, word)
            for example, n in enumerate(n_words)
            for word in [-1] * rng.integers(2) + [w for w in range(n) for _ in range(rng.integers(1, 4))]
            for word in [word] + [-1] * (rng.random() < 0.2)
        ]
        example, word = np.array(rows, dtype=int).reshape(-1, 2).T
        tokens, first = first_tokens(example, word, n_words, np.ones(n_words.sum(), bool), "here")
        for at, n in enumerate(n_words):
            for start in range(n):
                for end in range(start + 1, n + 1):
                    before = n_words[:at].sum()
                    found = tokens[first[before + start] : first[before + end]].tolist()
                    assert found == [i for i, (e, w) in enumerate(rows) if e == at and start <= w < end]


@pytest.mark.parametrize(
    "example, word, said",
    [
        ([0, 0, 1, 1], [0, 1, 0, 1], "1 words without a token, the first in row 1"),  # row 1 was cut
        ([0, 0], [0, 1], "3 words without a token, the first in row 1"),
        ([0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 2, 3], "word 3 of row 1"),
        ([0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 2, 0], "word 0 of row 2"),
        ([0, 0, 1, 1, 1], [1, 0, 0, 1, 2], "here has"),
    ],
)
def test_tokens_that_do_not_fit_the_words_are_refused(example, word, said):
    with pytest.raises(UserError, match=said):
        first_tokens(np.array(example), np.array(word), np.array([2, 3]), np.ones(5, bool), "here")


def test_words_that_no_span_needs_may_lack_tokens():
    """Only tokens inside spans are cached: of the first row word 1, of the second words 0 and 2."""
    needed, n_words = np.array([False, True, True, False, True]), np.array([2, 3])
    tokens, first = first_tokens(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 2]), n_words, needed, "here")
    assert [tokens[a:b].tolist() for a, b in itertools.pairwise(first)] == [[], [0, 1], [2], [], [3]]
    with pytest.raises(UserError, match="1 words without a token, the first in row 1"):
        first_tokens(np.array([0, 0, 1]), np.array([1, 1, 0]), n_words, needed, "here")


def test_ranges_one_after_another():
    assert ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert ranges(np.array([], dtype=int), np.array([], dtype=int)).tolist() == []
