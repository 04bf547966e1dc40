"""What examples have in common that are whole rows of a dataset, one pass through the encoder each."""

from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from workflow.lib.encoders.tokenization import Encoded
from workflow.lib.encoders.unit_pooling import BatchTokens, TokenRuns, words_of


class WholeRows:
    """For frozen dataclasses with these two fields; `rows` are the rows of `encoded` that take part."""

    encoded: Encoded
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def n_truncated(self) -> int:
        return self.encoded.n_truncated

    @property
    def lengths(self) -> np.ndarray:
        return self.encoded.lengths[self.rows]

    @cached_property
    def words(self) -> TokenRuns:
        return words_of(self.encoded)

    def word_tokens(self, rows: np.ndarray, words: np.ndarray, line: np.ndarray, longest: int) -> BatchTokens:
        """The tokens of word `words[i]` of row `rows[i]`, which is line `line[i]` of a batch."""
        return self.words.tokens(self.words.offset[rows] + words, line, longest)

    def part(self, rows: np.ndarray) -> Self:
        return replace(self, rows=self.rows[rows])
