"""From a batch's hidden state to its units' vectors: [CLS], tokens, or the means of words' tokens."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from workflow.lib.encoders.tokenization import Encoded


@dataclass
class Pick:
    """What is held of a batch: vectors made of its hidden state, and which of them are units, row after row."""

    size: int
    units: np.ndarray
    counts: np.ndarray  # of units, by row
    of: Callable[[torch.Tensor], torch.Tensor]  # hidden state (rows, tokens, width) -> (size, width)


def picker(encoded: Encoded, rows: np.ndarray, unit: str, device: torch.device) -> Pick:
    if unit == "cls":
        return Pick(len(rows), np.arange(len(rows)), np.ones(len(rows), np.int64), lambda state: state[:, 0])
    if unit == "token":
        # All are held, padding too: one plain copy beside the model, and the units are looked up behind its back.
        is_unit = encoded.padded(encoded.special, rows, 1) == 0
        return Pick(is_unit.size, np.flatnonzero(is_unit), is_unit.sum(1), lambda state: state.flatten(0, 1))
    counts, means = word_means(encoded.padded(encoded.word_of, rows, -1), device)
    return Pick(counts.sum(), np.arange(counts.sum()), counts, means)


def word_means(words: np.ndarray, device: torch.device) -> tuple[np.ndarray, Callable[[torch.Tensor], torch.Tensor]]:
    """`words`: (rows, tokens), the word of each token or -1; words by row, and a function for their tokens' means."""
    wanted = words >= 0
    of_row, of_word = np.nonzero(wanted)[0], words[wanted]
    begins = np.ones(len(of_word), dtype=bool)
    begins[1:] = (of_row[1:] != of_row[:-1]) | (of_word[1:] != of_word[:-1])
    unit_of = torch.from_numpy(np.cumsum(begins) - 1)
    sizes = torch.bincount(unit_of).unsqueeze(1).to(device)
    at, unit_of = torch.from_numpy(np.flatnonzero(wanted)).to(device), unit_of.to(device)

    def means(state: torch.Tensor) -> torch.Tensor:
        sums = torch.zeros(len(sizes), state.shape[-1], device=device)
        return sums.index_add_(0, unit_of, state.flatten(0, 1).index_select(0, at).float()) / sizes

    return np.bincount(of_row[begins], minlength=len(words)), means
