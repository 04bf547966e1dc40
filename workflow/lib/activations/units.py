"""Which units of a dataset are cached: [CLS], words, or the words or tokens that an analysis selects."""

import numpy as np

from workflow.lib.activations.plan import SAMPLED
from workflow.lib.encoders.tokenization import Encoded
from workflow.lib.encoders.unit_pooling import TokenRuns, single_tokens, some_words_of, words_of


def spread_rows(n_rows: int, most: int | None) -> np.ndarray:
    """All rows, or `most` of them, evenly spaced, because published files are often sorted."""
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).astype(np.int64)


def units_of(
    unit: str, encoded: Encoded, inside: list[np.ndarray] | None = None, per_row: int = 0, seed: int = 0
) -> TokenRuns:
    """The tokens of every unit. `inside`: the words inside spans, for `span` and `target`; the rest: for `sampled`."""
    n_rows = len(encoded.lengths)
    if unit == "cls":
        return single_tokens([np.zeros(1, np.int64)] * n_rows, [np.zeros(1, np.int64)] * n_rows)
    if unit == "word":
        return words_of(encoded)
    if unit == "target":
        return some_words_of(encoded, inside)
    tokens = [np.flatnonzero(special == 0) for special in encoded.special]
    if unit == "token":
        chosen = [np.arange(len(of_row)) for of_row in tokens]
    elif unit in SAMPLED:
        rng = np.random.default_rng(seed)
        chosen = [np.sort(rng.permutation(len(of_row))[:per_row]) for of_row in tokens]
    elif unit == "span":
        words = [word_of[of_row] for word_of, of_row in zip(encoded.word_of, tokens)]
        chosen = [np.flatnonzero(np.isin(of_row, wanted)) for of_row, wanted in zip(words, inside)]
    else:
        raise ValueError(f"unknown unit '{unit}'")
    return single_tokens([of_row[wanted] for of_row, wanted in zip(tokens, chosen)], chosen)
