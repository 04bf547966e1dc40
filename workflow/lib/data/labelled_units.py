"""The units that a task labels: texts, words, or pairs of words. Shared by training heads and probes."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workflow.lib.base.errors import UserError


@dataclass(frozen=True)
class Units:
    """One entry per labelled unit, in order of examples. `words` has no row for texts, one for words, two for pairs."""

    example: np.ndarray  # (n,) row of the dataset
    words: np.ndarray  # (0, 1 or 2; n) index of the word within its sentence; in a pair the dependent comes first
    label: np.ndarray  # (n,) names

    def __len__(self) -> int:
        return len(self.example)


def labelled_units(table: pa.Table, info: dict, head: str) -> Units:
    """Units of a head: sequence, pooled: texts; word: words (UPOS) or one-word spans; word_pair: words and heads."""
    readers = {
        ("sequence", "text"): _texts,
        ("pooled", "text"): _texts,
        ("word", "treebank"): _words,
        ("word_pair", "treebank"): _pairs,
        ("word", "spans"): _one_word_spans,
    }
    if (head, info["kind"]) not in readers or (info["kind"] == "text" and not info["labels"]):
        kind = info["kind"] if info["kind"] != "text" or info["labels"] else "unlabelled text"
        raise UserError(f"dataset {info['dataset']}: head '{head}' finds nothing to label in {kind}")
    example, words, label = readers[head, info["kind"]](table, info)
    n_words = {"word": 1, "word_pair": 2}.get(head, 0)
    return Units(
        np.array(example, dtype=np.int64),
        np.array(words, dtype=np.int64).reshape(len(example), n_words).T,
        np.array(label, dtype=object),
    )


def vocabulary(units: Units, info: dict) -> list[str]:
    """Label names by number: a text dataset's own list, otherwise the labels that occur, sorted."""
    return list(info["labels"]) if info["kind"] == "text" else sorted(set(units.label))


def label_numbers(units: Units, labels: list[str]) -> np.ndarray:
    """Label numbers; -1 for a label that is not in the (training) vocabulary, where no prediction can be correct."""
    number = {name: at for at, name in enumerate(labels)}
    return np.array([number.get(name, -1) for name in units.label], dtype=np.int64)


def _texts(table: pa.Table, info: dict):
    numbers = table["label"].to_numpy()
    return np.arange(len(numbers)), [()] * len(numbers), [info["labels"][number] for number in numbers]


def _words(table: pa.Table, info: dict):
    rows = [
        (row, (word,), name) for row, names in enumerate(table["upos"].to_pylist()) for word, name in enumerate(names)
    ]
    return tuple(zip(*rows))


def _pairs(table: pa.Table, info: dict):
    """Every word but the root, with its head."""
    sentences = zip(table["head"].to_pylist(), table["deprel"].to_pylist())
    rows = [
        (row, (word, head - 1), name)
        for row, (heads, names) in enumerate(sentences)
        for word, (head, name) in enumerate(zip(heads, names))
        if head
    ]
    return tuple(zip(*rows))


def _one_word_spans(table: pa.Table, info: dict):
    rows = []
    for row, targets in enumerate(table["targets"].to_pylist()):
        for target in targets:
            if target["end1"] - target["start1"] != 1 or target["start2"] is not None or len(target["labels"]) != 1:
                raise UserError(
                    f"dataset {info['dataset']}, row {table['id'][row].as_py()}: head 'word' needs targets of one "
                    "word with one label"
                )
            rows.append((row, (target["start1"],), target["labels"][0]))
    return tuple(zip(*rows))


def words_in_spans(table: pa.Table) -> list[np.ndarray]:
    """For each row, the sorted indices of the words inside any target's span."""
    found = []
    for targets in table["targets"].to_pylist():
        spans = [(target["start1"], target["end1"]) for target in targets]
        spans += [(target["start2"], target["end2"]) for target in targets if target["start2"] is not None]
        found.append(np.array(sorted({word for start, end in spans for word in range(start, end)}), dtype=np.int64))
    return found
