"""From a batch's hidden state to its units' vectors: [CLS], tokens, or the means of words' tokens."""

from collections.abc import Callable

import numpy as np
import torch

from workflow.lib.encoding import Encoded

Pick = Callable[[torch.Tensor, torch.Tensor], object]


def padded(values: list[list[int]], rows: np.ndarray, width: int, filler: int) -> np.ndarray:
    out = np.full((len(rows), width), filler)
    for at, row in enumerate(rows):
        out[at, : len(values[row])] = values[row]
    return out


def picker(encoded: Encoded, rows: np.ndarray, unit: str, device: torch.device) -> Pick:
    """A function that puts the units of a hidden state (rows, tokens, width), row after row, into (units, width)."""
    if unit == "cls":
        return lambda state, out: out.copy_(state[:, 0])
    width = int(encoded.lengths[rows].max())
    if unit == "token":
        at = places_of(padded(encoded.special, rows, width, 1) == 0, device)
        return lambda state, out: put_tokens(state, at, out)
    means = word_means(padded(encoded.word_of, rows, width, -1), device)
    return lambda state, out: out.copy_(means(state))


def places_of(wanted: np.ndarray, device: torch.device) -> torch.Tensor:
    """Of the wanted tokens, counted through all rows; `wanted`: (rows, tokens)."""
    return torch.from_numpy(np.flatnonzero(wanted)).to(device)


def put_tokens(state: torch.Tensor, at: torch.Tensor, out: torch.Tensor) -> None:
    tokens = state.flatten(0, 1)
    if (state.device, state.dtype) == (out.device, out.dtype):
        torch.index_select(tokens, 0, at, out=out)  # one copy instead of two
    else:
        out.copy_(tokens.index_select(0, at))


def word_means(words: np.ndarray, device: torch.device) -> Callable[[torch.Tensor], torch.Tensor]:
    """`words`: (rows, tokens), the word of each token or -1; the function returns the means of words' tokens."""
    wanted = words >= 0
    of_row, of_word = np.nonzero(wanted)[0], words[wanted]
    begins = np.ones(len(of_word), dtype=bool)
    begins[1:] = (of_row[1:] != of_row[:-1]) | (of_word[1:] != of_word[:-1])
    unit_of = torch.from_numpy(np.cumsum(begins) - 1)
    sizes = torch.bincount(unit_of).unsqueeze(1).to(device)
    at, unit_of = places_of(wanted, device), unit_of.to(device)

    def means(state: torch.Tensor) -> torch.Tensor:
        sums = torch.zeros(len(sizes), state.shape[-1], device=device)
        return sums.index_add_(0, unit_of, state.flatten(0, 1).index_select(0, at).float()) / sizes

    return means
