"""Words and their pieces: where each word's tokens stand, and the mean over them."""

from typing import NamedTuple

import numpy as np
import torch

from workflow.lib.encoders.tokenization import Encoded


class Pieces(NamedTuple):
    """Tokens of the words of a batch."""

    token: torch.Tensor  # place in the batch's (rows x width) tokens
    word: torch.Tensor  # which of the words it belongs to
    size: torch.Tensor  # (words, 1) number of pieces


class WordPlaces:
    """First token and number of pieces of every word of every row."""

    def __init__(self, encoded: Encoded):
        n_words = [int(np.max(word_of, initial=-1)) + 1 for word_of in encoded.word_of]
        self.offset = np.concatenate([[0], np.cumsum(n_words)])
        self.first = np.zeros(self.offset[-1], dtype=np.int64)
        self.size = np.zeros(self.offset[-1], dtype=np.int64)
        for row, word_of in enumerate(encoded.word_of):
            pieces = np.asarray(word_of, dtype=np.int64)
            tokens = np.flatnonzero(pieces >= 0)
            words = pieces[tokens] + self.offset[row]
            self.size[self.offset[row] : self.offset[row + 1]] = np.bincount(pieces[tokens], minlength=n_words[row])
            self.first[words[::-1]] = tokens[::-1]  # the last to be written is the first piece

    def pieces(self, rows: np.ndarray, row_in_batch: np.ndarray, words: np.ndarray, width: int) -> Pieces:
        """Of word `words[i]` of row `rows[i]`, which is line `row_in_batch[i]` of a batch `width` tokens wide."""
        at = self.offset[rows] + words
        first, size = row_in_batch * width + self.first[at], self.size[at]
        before = np.repeat(np.cumsum(size) - size, size)
        token = np.repeat(first, size) + np.arange(size.sum()) - before
        return Pieces(
            torch.from_numpy(token),
            torch.from_numpy(np.repeat(np.arange(len(at)), size)),
            torch.from_numpy(size).unsqueeze(1),
        )


def mean_of_pieces(states: torch.Tensor, pieces: Pieces) -> torch.Tensor:
    """(words, width) from hidden states (rows, tokens, width)."""
    token, word, size = (tensor.to(states.device) for tensor in pieces)
    sums = torch.zeros(len(size), states.shape[-1], device=states.device, dtype=states.dtype)
    return sums.index_add(0, word, states.flatten(0, 1).index_select(0, token)) / size
