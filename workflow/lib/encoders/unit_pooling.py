"""Vectors of units from hidden states: a unit is a run of tokens (a word, a token, [CLS]), its vector their mean.

Heads and the activation cache both use this code, so that probes see the same vectors as heads.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from workflow.lib.encoders.tokenization import Encoded


class BatchTokens(NamedTuple):
    """The tokens that make up some units of a batch."""

    token: torch.Tensor  # index into the batch's flattened (rows x longest) tokens
    unit: torch.Tensor  # the unit that each token belongs to
    size: torch.Tensor  # (units, 1) number of tokens


@dataclass(frozen=True)
class TokenRuns:
    """The units of all rows, concatenated."""

    offset: np.ndarray  # (rows + 1,) first unit of each row
    first: np.ndarray  # (units,) first token within the row
    size: np.ndarray  # (units,) number of tokens
    number: np.ndarray  # (units,) number of the word or token within its row

    @property
    def counts(self) -> np.ndarray:
        """(rows,) number of units."""
        return np.diff(self.offset)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Indices of these rows' units, row by row."""
        counts = self.counts[rows]
        return np.repeat(self.offset[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())

    def tokens(self, units: np.ndarray, line: np.ndarray, longest: int) -> BatchTokens:
        """Tokens of `units[i]`, whose row is line `line[i]` of a batch that is `longest` tokens wide."""
        first, size = line * longest + self.first[units], self.size[units]
        before = np.repeat(np.cumsum(size) - size, size)
        token = np.repeat(first, size) + np.arange(size.sum()) - before
        of_unit = np.repeat(np.arange(len(units)), size)
        return BatchTokens(*map(torch.from_numpy, (token, of_unit, size[:, None])))


def single_tokens(tokens_of_rows: list[np.ndarray], numbers: list[np.ndarray]) -> TokenRuns:
    """Units of one token each, given by their positions in the row and their numbers."""
    offset = np.concatenate([[0], np.cumsum([len(tokens) for tokens in tokens_of_rows])]).astype(np.int64)
    first, number = (np.concatenate([np.empty(0, np.int64), *parts]) for parts in (tokens_of_rows, numbers))
    return TokenRuns(offset, first, np.ones_like(first), number)


def words_of(encoded: Encoded) -> TokenRuns:
    """Every word as a unit."""
    n_words = [int(np.max(word_of, initial=-1)) + 1 for word_of in encoded.word_of]
    offset = np.concatenate([[0], np.cumsum(n_words)]).astype(np.int64)
    first, size = np.zeros(offset[-1], dtype=np.int64), np.zeros(offset[-1], dtype=np.int64)
    for row, word_of in enumerate(encoded.word_of):
        word_of = np.asarray(word_of, dtype=np.int64)
        tokens = np.flatnonzero(word_of >= 0)
        words = word_of[tokens]
        size[offset[row] : offset[row + 1]] = np.bincount(words, minlength=n_words[row])
        first[offset[row] + words[::-1]] = tokens[::-1]  # reversed, so that a word's first token is written last
    return TokenRuns(offset, first, size, np.concatenate([np.empty(0, np.int64), *map(np.arange, n_words)]))


def some_words_of(encoded: Encoded, chosen: list[np.ndarray]) -> TokenRuns:
    """Some words of every row as units."""
    every, n_words = words_of(encoded), [len(of_row) for of_row in chosen]
    offset = np.concatenate([[0], np.cumsum(n_words)]).astype(np.int64)
    number = np.concatenate([np.empty(0, np.int64), *chosen])
    at = np.repeat(every.offset[:-1], n_words) + number
    return TokenRuns(offset, every.first[at], every.size[at], number)


def mean_of_tokens(states: torch.Tensor, tokens: BatchTokens) -> torch.Tensor:
    """(units, width) means of hidden states (rows, longest, width)."""
    token, unit, size = (tensor.to(states.device) for tensor in tokens)
    chosen = states.flatten(0, 1).index_select(0, token)
    if len(token) == len(size):  # one token per unit
        return chosen
    sums = torch.zeros(len(size), states.shape[-1], device=states.device, dtype=states.dtype)
    return sums.index_add(0, unit, chosen) / size
