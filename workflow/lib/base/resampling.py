"""Bootstrap over test rows: what would a score have been on other rows of the same kind?

Classifiers that are compared are scored on the same resampled rows (paired), so rows that all of them get right add no
noise to the difference. A score that is no mean of rows (Matthews correlation) is made from means that are.
"""

import numpy as np

REPLICATES = 1000
AT_ONCE = 50  # replicates


def resampled_means(rows: np.ndarray, seed: int = 0) -> np.ndarray:
    """Means of (rows,) or (rows, k) values over rows drawn with replacement: (replicates,) or (replicates, k).

    Rows with equal values are drawn together: how often a value is drawn is all that a mean depends on.
    """
    rng, n = np.random.default_rng(seed), len(rows)
    values, counts = np.unique(rows, axis=0, return_counts=True)
    draws = (rng.multinomial(n, counts / n, size=AT_ONCE) for _ in range(REPLICATES // AT_ONCE))
    return np.concatenate([drawn @ values / n for drawn in draws])


def confusion(truths: np.ndarray, guesses: np.ndarray) -> np.ndarray:
    """(rows, 4): is a row a true positive, true negative, false positive, false negative? Labels are 0 and 1."""
    truths, guesses = np.asarray(truths, dtype=bool), np.asarray(guesses, dtype=bool)
    return np.stack([truths & guesses, ~truths & ~guesses, ~truths & guesses, truths & ~guesses], axis=-1).astype(float)


def matthews(cells: np.ndarray) -> np.ndarray:
    """Matthews correlation from (..., 4) shares of the four cells; 0 where it is undefined, as in scikit-learn."""
    tp, tn, fp, fn = np.moveaxis(cells, -1, 0)
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return np.divide(tp * tn - fp * fn, np.sqrt(product), out=np.zeros_like(product), where=product > 0)
