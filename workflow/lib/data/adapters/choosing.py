"""Which rows of a split are used: a part of them drawn as others drew it, a sample that keeps the labels' shares."""

import random
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from datasets import Dataset


def drawn(rows: "Dataset", *, seed: int, share: float, left: bool = False) -> "Dataset":
    """A development set drawn from a training file, row by row, in the manner of jiant 1's deterministic split.

    Python's random number of each row in turn: rows whose number is at most `share`, or the rows `left` by that.
    """
    numbers = random.Random(seed)
    return rows.select([row for row in range(len(rows)) if (numbers.random() <= share) != left])


def sample(rows: "Dataset", n: int, seed: int, from_end: bool = False) -> "Dataset":
    """n rows, each label in its share, labels mixed throughout (the Hub's IMDB is sorted by label).

    Of the shuffled rows every one gets its rank among those of its label, divided by their number; the lowest come
    first. So shares are as even as whole rows allow (Webster's method) and a smaller sample is the beginning of a
    larger one. `train_test_split(stratify_by_column=...)` gives neither, and refuses fewer rows than labels and labels
    with a single row, which TREC's test set has.
    `from_end`: of the same order the other end, which a sample of the beginning does not reach while both are small.
    """
    mixed = rows.shuffle(seed=seed)
    order = np.arange(len(mixed))
    if "label" in mixed.column_names:
        labels = mixed.select_columns("label").with_format("arrow")[:]["label"].to_numpy()
        of_label = pd.Series(labels).groupby(labels)
        order = np.argsort((of_label.cumcount() + 0.5) / of_label.transform("size"), kind="stable")
    return mixed.select((order[::-1] if from_end else order)[:n])
