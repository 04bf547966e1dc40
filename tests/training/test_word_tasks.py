"""Words and word pairs: which units a task labels, where their pieces stand, heads on them, and learning from them."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import BertConfig, BertModel

from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import SCHEMAS
from workflow.lib.data.labelled_units import Units, label_numbers, labelled_units, vocabulary
from workflow.lib.encoders.tokenization import Encoded
from workflow.lib.encoders.unit_pooling import mean_of_tokens, words_of
from workflow.lib.training.heads.classification import HEADS, UnitExamples
from workflow.lib.training.heads.tunable import Tunable, evaluate
from workflow.lib.training.loop import train
from workflow.lib.training.state import SavedState

torch.set_num_threads(1)
TREES = [
    {"id": "a", "words": ["a", "cat", "sat"], "upos": ["DET", "NOUN", "VERB"], "head": [2, 3, 0],
     "deprel": ["det", "nsubj", "root"]},
    {"id": "b", "words": ["go"], "upos": ["VERB"], "head": [0], "deprel": ["root"]},
    {"id": "c", "words": ["sit", "cats"], "upos": ["VERB", "NOUN"], "head": [0, 1], "deprel": ["root", "vocative"]},
]  # fmt: skip


def treebank():
    return pa.Table.from_pylist(TREES, schema=SCHEMAS["treebank"]), {"kind": "treebank", "dataset": "t", "labels": []}


def spans(start=1, end=2, labels=("x",)):
    target = {"start1": start, "end1": end, "start2": None, "end2": None, "labels": list(labels)}
    rows = [{"id": "a", "words": ["go", "to", "it"], "targets": [target]}]
    return pa.Table.from_pylist(rows, schema=SCHEMAS["spans"]), {"kind": "spans", "dataset": "s", "labels": []}


def test_every_word_has_its_part_of_speech():
    units = labelled_units(*treebank(), "word")
    assert units.example.tolist() == [0, 0, 0, 1, 2, 2]
    assert units.words.tolist() == [[0, 1, 2, 0, 0, 1]]
    assert units.label.tolist() == ["DET", "NOUN", "VERB", "VERB", "VERB", "NOUN"]


def test_every_word_but_the_root_is_paired_with_its_head():
    units = labelled_units(*treebank(), "word_pair")
    assert units.example.tolist() == [0, 0, 2]
    assert units.words.tolist() == [[0, 1, 1], [1, 2, 0]]
    assert units.label.tolist() == ["det", "nsubj", "vocative"]


def test_spans_of_one_word_are_words():
    units = labelled_units(*spans(), "word")
    assert (units.example.tolist(), units.words.tolist(), units.label.tolist()) == ([0], [[1]], ["x"])


@pytest.mark.parametrize("wrong", [{"end": 3}, {"labels": ("x", "y")}])
def test_other_spans_are_refused(wrong):
    with pytest.raises(UserError, match="row a: head 'word' needs targets of one word"):
        labelled_units(*spans(**wrong), "word")


@pytest.mark.parametrize("head", ["sequence", "word_pair"])
def test_a_head_that_fits_no_kind_is_an_error(head):
    with pytest.raises(UserError, match=f"head '{head}' finds nothing to label in spans"):
        labelled_units(*spans(), head)


def test_labels_unknown_to_the_training_rows_have_no_number():
    units = labelled_units(*treebank(), "word")
    assert vocabulary(units, treebank()[1]) == ["DET", "NOUN", "VERB"]
    assert label_numbers(units, ["NOUN", "VERB"]).tolist() == [-1, 0, 1, 1, 1, 0]


# --- pieces and heads


def encoded_rows(word_of: list[list[int]]) -> Encoded:
    """Token ids 10 * row + place."""
    lengths = np.array([len(row) for row in word_of])
    ids = [[10 * row + place for place in range(n)] for row, n in enumerate(lengths)]
    inputs = {"input_ids": ids, "attention_mask": [[1] * n for n in lengths]}
    return Encoded(inputs, lengths, 0, {"input_ids": 0, "attention_mask": 0}, word_of, [])


WORD_OF = [[-1, 0, 1, 1, 1, 2, -1], [-1, 0, 0, -1], [-1, 0, 1, -1]]


def test_the_mean_is_over_the_pieces_of_the_word():
    places = words_of(encoded_rows(WORD_OF))
    states = torch.randn(2, 7, 5)  # rows 2 and 0 as a batch
    rows, line, words = np.array([0, 0, 2]), np.array([1, 1, 0]), np.array([1, 2, 0])
    means = mean_of_tokens(states, places.tokens(places.offset[rows] + words, line, 7))
    expected = torch.stack([states[1, 2:5].mean(0), states[1, 5], states[0, 1]])
    torch.testing.assert_close(means, expected)


def examples_of(head: str) -> UnitExamples:
    table, info = treebank()
    units = labelled_units(table, info, head)
    names = vocabulary(units, info)
    return UnitExamples(encoded_rows(WORD_OF), units, names, label_numbers(units, names), np.arange(3))


@pytest.mark.parametrize("head", ["word", "word_pair"])
def test_a_batch_reads_each_unit_where_it_stands(head):
    """Against a plain loop over the units, with states that say their own row and place."""
    examples = examples_of(head)
    batch = examples.batch(np.array([2, 0, 1]))
    states = batch.inputs["input_ids"].float().unsqueeze(-1)
    read = HEADS[head](1, ["a", "b", "c"], {"dropout": 0.0}).vectors(states, batch)
    expected, labels = [], []
    for row in (2, 0, 1):
        for at in np.flatnonzero(examples.units.example == row):
            values = [
                np.mean([10 * row + place for place, of in enumerate(WORD_OF[row]) if of == word])
                for word in examples.units.words[:, at]
            ]
            expected.append(values)
            labels.append(examples.numbers[at])
    np.testing.assert_allclose(read.numpy(), expected)
    assert batch.labels.tolist() == labels


def planted(head: str, n: int = 60) -> UnitExamples:
    """A word's label is its own first piece; a pair's says of either word whether it begins with 3."""
    rng = np.random.default_rng(0)
    word_of = [[-1, 0, 0, 1, 2, 2, -1]] * n
    first = rng.integers(3, 6, size=(n, 3))
    ids = [[1, a, 7, b, c, 8, 2] for a, b, c in first]
    lengths = np.full(n, 7)
    encoded = Encoded({"input_ids": ids, "attention_mask": [[1] * 7] * n}, lengths, 0,
                      {"input_ids": 0, "attention_mask": 0}, word_of, [])  # fmt: skip
    if head == "word":
        example, words, labels = np.repeat(np.arange(n), 3), np.tile([[0, 1, 2]], n), first.ravel() - 3
    else:
        example, words = np.arange(n), np.repeat([[0], [2]], n, axis=1)
        labels = 2 * (first[:, 0] == 3) + (first[:, 2] == 3)
    names = [str(number) for number in range(4)]
    return UnitExamples(encoded, Units(example, words, labels.astype(object)), names, labels, np.arange(n))


@pytest.mark.parametrize("head", ["word", "word_pair"])
@pytest.mark.parametrize("accumulation", [1, 3])
def test_words_are_learnt_and_accumulation_changes_nothing(head, accumulation, tmp_path):
    settings = {
        "precision": "float32", "learning_rate": 5e-3, "layer_decay": 1.0, "weight_decay": 0.0, "clip_norm": 1.0,
        "head_learning_rate": None, "embeddings_rate": "decayed", "adam_epsilon": 1e-8, "epochs": 25, "batch_size": 16,
        "accumulation": accumulation, "schedule": "slanted", "warmup": 0.1, "save_every": 0, "keep_best": False,
    }  # fmt: skip
    torch.manual_seed(0)
    config = BertConfig(vocab_size=10, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.1)  # fmt: skip
    model = Tunable(BertModel(config, add_pooling_layer=False), HEADS[head](16, list("abcd"), {"dropout": 0.0}))
    history = train(model, planted(head), settings, 0, SavedState(tmp_path / "m", [head]))
    assert evaluate(model, planted(head))["accuracy"] > 0.95
    losses = LOSSES.setdefault(head, [row["loss"] for row in history])
    np.testing.assert_allclose([row["loss"] for row in history][:5], losses[:5], rtol=1e-3)


LOSSES: dict[str, list[float]] = {}
