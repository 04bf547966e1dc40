"""Selects rows of a split: a part drawn as in jiant, or a stratified sample."""

import random
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from datasets import Dataset


def drawn(rows: "Dataset", *, seed: int, share: float, left: bool = False) -> "Dataset":
    """A development set drawn from a training file, row by row, like jiant 1's deterministic split.

    Each row gets one of Python's random numbers: selects the rows with at most `share`, or the others (`left`).
    """
    numbers = random.Random(seed)
    return rows.select([row for row in range(len(rows)) if (numbers.random() <= share) != left])


def sample(rows: "Dataset", n: int, seed: int, from_end: bool = False) -> "Dataset":
    """A stratified sample of n rows with labels mixed throughout (the Hub's IMDB is sorted by label).

    Shuffled rows are sorted by their rank within their label, divided by the label's number of rows. So shares are as
    even as whole rows allow (Webster's method), and a smaller sample is the beginning of a larger one.
    `train_test_split(stratify_by_column=...)` gives neither, and refuses fewer rows than labels and labels with a
    single row, which TREC's test set has.
    `from_end`: take the sample from the other end of the same order; small samples from both ends do not overlap.
    """
    mixed = rows.shuffle(seed=seed)
    order = np.arange(len(mixed))
    if "label" in mixed.column_names:
        labels = mixed.select_columns("label").with_format("arrow")[:]["label"].to_numpy()
        of_label = pd.Series(labels).groupby(labels)
        order = np.argsort((of_label.cumcount() + 0.5) / of_label.transform("size"), kind="stable")
    return mixed.select((order[::-1] if from_end else order)[:n])
