"""Base classes of examples: those made from rows of a dataset, and those that are a whole row each."""

from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from workflow.lib.encoders.tokenization import Encoded
from workflow.lib.encoders.unit_pooling import BatchTokens, TokenRuns, words_of


class FromRows:
    """For frozen dataclasses with these two fields; `rows` are the dataset's rows in use."""

    encoded: Encoded
    rows: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def n_truncated(self) -> int:
        return self.encoded.n_truncated

    def part(self, rows: np.ndarray) -> Self:
        return replace(self, rows=self.rows[rows])


class WholeRows(FromRows):
    """Examples that are rows: each row passes through the encoder once, and `rows` index `encoded`."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lengths(self) -> np.ndarray:
        return self.encoded.lengths[self.rows]

    @cached_property
    def words(self) -> TokenRuns:
        return words_of(self.encoded)

    def word_tokens(self, rows: np.ndarray, words: np.ndarray, line: np.ndarray, longest: int) -> BatchTokens:
        """The tokens of word `words[i]` of row `rows[i]`, which is line `line[i]` of a batch."""
        return self.words.tokens(self.words.offset[rows] + words, line, longest)
