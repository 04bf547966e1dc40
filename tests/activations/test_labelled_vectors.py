"""Vectors of labelled texts, words and pairs, from caches whose vectors say which row, word and layer they are of."""

from pathlib import Path

import numpy as np
import pytest

from workflow.lib.activations.cache import LayerWriter, layer_file
from workflow.lib.activations.labelled_vectors import LabelledVectors, labelled_vectors
from workflow.lib.activations.text_vectors import task_vectors
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import write_dataset

TREES = [
    {"id": "a", "words": ["a", "cat", "sat"], "upos": ["DET", "NOUN", "VERB"], "head": [2, 3, 0],
     "deprel": ["det", "nsubj", "root"]},
    {"id": "b", "words": ["go"], "upos": ["VERB"], "head": [0], "deprel": ["root"]},
    {"id": "c", "words": ["sit", "cats"], "upos": ["VERB", "NOUN"], "head": [0, 1], "deprel": ["root", "vocative"]},
]  # fmt: skip
MODEL = "base.0/toy.full.f1.s0"


def cache(folder: Path, counts: list[int], layers: range, dtype: str = "float32") -> Path:
    example, unit = np.repeat(np.arange(len(counts)), counts), np.concatenate([np.arange(n) for n in counts])
    folder.mkdir(parents=True)
    for layer in layers:
        writer = LayerWriter(layer_file(folder, layer), 3, dtype, {})
        writer.write(example, unit, np.stack([example, unit, np.full_like(unit, layer)], axis=1))
        writer.close()
    return folder


def write(path: Path, rows: list[dict], kind: str, labels=()) -> Path:
    write_dataset(path, rows, dataset="toy", split=path.stem, kind=kind, labels=labels, source="test")
    return path


def texts(*labels: int) -> list[dict]:
    return [{"id": f"{at}", "text": "x", "text_pair": None, "label": label} for at, label in enumerate(labels)]


@pytest.mark.parametrize("layers", [range(3), range(1, 3), range(2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_words_are_read_where_they_stand(tmp_path, layers, dtype):
    folder = cache(tmp_path / "cache", [3, 1, 2], layers, dtype)
    words = LabelledVectors(folder, write(tmp_path / "train.parquet", TREES, "treebank"), "word")
    assert words.last == 2 and list(words.files) == list(layers)
    assert words.labels.tolist() == ["DET", "NOUN", "VERB", "VERB", "VERB", "NOUN"]
    for layer in layers:
        vectors = words.layer(layer)
        assert vectors.dtype == np.float32
        expected = [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]]
        assert vectors.tolist() == [[*place, layer] for place in expected]


def test_of_a_pair_both_words_are_read_the_dependent_first(tmp_path):
    folder = cache(tmp_path / "cache", [3, 1, 2], range(2))
    pairs = LabelledVectors(folder, write(tmp_path / "train.parquet", TREES, "treebank"), "word_pair")
    assert pairs.labels.tolist() == ["det", "nsubj", "vocative"]
    assert pairs.layer(1).tolist() == [[0, 0, 1, 0, 1, 1], [0, 1, 1, 0, 2, 1], [2, 1, 1, 2, 0, 1]]


def test_a_cache_of_fewer_rows_than_the_data_is_refused(tmp_path):
    folder = cache(tmp_path / "cache", [3, 1], range(2))
    with pytest.raises(UserError, match=r"lacks units that .* labels; delete it"):
        LabelledVectors(folder, write(tmp_path / "train.parquet", TREES, "treebank"), "word")


@pytest.fixture
def task(tmp_path) -> tuple[list[str], list[str], dict]:
    """A rule's inputs: caches of two models on both splits of a task of texts."""
    files = [
        str(write(tmp_path / f"data/toy/{split}.parquet", texts(*labels), "text", ["no", "yes"]))
        for split, labels in (("test", (1, 1)), ("train", (1, 0, 1)))
    ]
    folders = [
        str(cache(tmp_path / model / "cls" / f"toy-{split}", [1] * n, layers))
        for model, layers in (("base.0/pretrained", range(2)), (MODEL, range(4, 5)))
        for split, n in (("train", 3), ("test", 2))
    ]
    return folders, files, {"head": "sequence", "unit": "cls", "train": "toy-train", "test": "toy-test"}


def test_a_task_is_read_from_the_last_layer_of_its_own_model(task):
    folders, files, rows = task
    for model, layer in (("base.0/pretrained", 1), (MODEL, 4)):
        vectors = task_vectors(folders, files, model, rows)
        assert vectors.train.tolist() == [[row, 0, layer] for row in range(3)]
        assert vectors.test.tolist() == [[row, 0, layer] for row in range(2)]
        assert vectors.labels == ["no", "yes"]
        assert (vectors.train_labels.tolist(), vectors.test_labels.tolist()) == ([1, 0, 1], [1, 1])


def test_splits_are_told_apart(task):
    train, test = (labelled_vectors(task[0], task[1], MODEL, task[2], split) for split in ("train", "test"))
    assert (train.labels.tolist(), test.labels.tolist()) == (["yes", "no", "yes"], ["yes", "yes"])
    assert str(train.folder).endswith(f"{MODEL}/cls/toy-train") and str(test.folder).endswith("toy-test")
