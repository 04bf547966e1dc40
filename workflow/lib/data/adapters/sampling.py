"""A sample of a split's rows that keeps the shares of the labels."""

import numpy as np
import pyarrow as pa


def take(table: pa.Table, n: int, seed: int, from_end: bool = False) -> pa.Table:
    """n rows, each label in its share, labels mixed throughout (the Hub's IMDB is sorted by label).

    Every row gets its rank among the shuffled rows of its label, divided by their number; the lowest come first. So
    shares are as even as whole rows allow (Webster's method) and a smaller sample is the beginning of a larger one.
    `from_end`: of the same order the other end, which a sample of the beginning does not reach while both are small.
    """
    rng = np.random.default_rng(seed)
    tie_breaker, place = rng.random(table.num_rows), np.empty(table.num_rows)
    labels = table["label"].to_numpy() if "label" in table.column_names else np.zeros(table.num_rows, dtype=np.int64)
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    order = np.lexsort((tie_breaker, place))
    return table.take(order[::-1][:n] if from_end else order[:n])
