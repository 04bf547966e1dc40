"""From a batch's hidden state to the rows of a cache: [CLS], tokens, or the means of words' tokens."""

from collections.abc import Callable

import numpy as np
import torch

from workflow.lib.encoding import Encoded

Put = Callable[[torch.Tensor, np.ndarray], None]


def padded(values: list[list[int]], rows: np.ndarray, width: int, filler: int) -> np.ndarray:
    out = np.full((len(rows), width), filler)
    for at, row in enumerate(rows):
        out[at, : len(values[row])] = values[row]
    return out


def putter(encoded: Encoded, rows: np.ndarray, unit: str, starts: np.ndarray, counts: np.ndarray) -> Put:
    """A function that puts the units of a hidden state (rows, tokens, width) into an array (units, width).

    Batches are sorted by length, the file by example: the units of row i go to `starts[i]` and behind it.
    """
    if unit == "cls":
        return lambda state, out: _put(state[:, 0], out, starts)
    width = int(encoded.lengths[rows].max())
    if unit == "token":
        return token_putter(padded(encoded.special, rows, width, 1) == 0, starts)
    means = word_means(padded(encoded.word_of, rows, width, -1))
    place = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    return lambda state, out: _put(means(state), out, place)


def _put(units: torch.Tensor, out: np.ndarray, place: np.ndarray) -> None:
    out[place] = units.float().cpu().numpy()


def token_putter(wanted: np.ndarray, starts: np.ndarray) -> Put:
    """Neighbouring tokens are copied together: a few times faster than one by one. `wanted`: (rows, tokens)."""
    edges = np.diff(wanted.astype(np.int8), axis=1, prepend=0, append=0)
    (of_row, first), last = np.nonzero(edges == 1), np.nonzero(edges == -1)[1]
    before = np.cumsum(wanted, axis=1)[of_row, first] - 1
    runs = np.column_stack([of_row, first, last, starts[of_row] + before]).tolist()

    def put(state: torch.Tensor, out: np.ndarray) -> None:
        state = state.float().cpu().numpy()
        for row, begin, end, place in runs:
            out[place : place + end - begin] = state[row, begin:end]

    return put


def word_means(words: np.ndarray) -> Callable[[torch.Tensor], torch.Tensor]:
    """`words`: (rows, tokens), the word of each token or -1; the function returns the means of words' tokens."""
    wanted = words >= 0
    of_row, of_word = np.nonzero(wanted)[0], words[wanted]
    begins = np.ones(len(of_word), dtype=bool)
    begins[1:] = (of_row[1:] != of_row[:-1]) | (of_word[1:] != of_word[:-1])
    unit_of = torch.from_numpy(np.cumsum(begins) - 1)
    sizes, at = torch.bincount(unit_of).unsqueeze(1), torch.from_numpy(np.flatnonzero(wanted))

    def means(state: torch.Tensor) -> torch.Tensor:
        tokens = state.flatten(0, 1).index_select(0, at.to(state.device)).float()
        sums = torch.zeros(len(sizes), state.shape[-1], device=state.device)
        return sums.index_add_(0, unit_of.to(state.device), tokens) / sizes.to(state.device)

    return means
