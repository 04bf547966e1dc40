"""What the training loop draws batches from: tokenised rows, the units a task labels in them, their labels."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from workflow.lib.encoding import Encoded
from workflow.lib.pieces import Pieces, WordPlaces
from workflow.lib.units import Units


@dataclass(frozen=True)
class Batch:
    inputs: dict[str, torch.Tensor]
    words: list[Pieces]  # none for texts, one entry for words, two for pairs
    labels: torch.Tensor


@dataclass(frozen=True)
class Examples:
    """`rows` are the rows of `encoded` that take part; a batch is a number of them, with all their units."""

    encoded: Encoded
    units: Units
    labels: np.ndarray  # a number per unit
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lengths(self) -> np.ndarray:
        return self.encoded.lengths[self.rows]

    @cached_property
    def places(self) -> WordPlaces:
        return WordPlaces(self.encoded)

    @cached_property
    def first_unit(self) -> np.ndarray:
        """Units are in order of examples: those of row r are first_unit[r] … first_unit[r + 1] - 1."""
        return np.searchsorted(self.units.example, np.arange(len(self.encoded.lengths) + 1))

    def part(self, chosen: np.ndarray) -> "Examples":
        return replace(self, rows=self.rows[chosen])

    def units_of(self, chosen: np.ndarray) -> np.ndarray:
        begin, end = self.first_unit[self.rows[chosen]], self.first_unit[self.rows[chosen] + 1]
        return np.concatenate([np.arange(a, b) for a, b in zip(begin, end)])

    def batch(self, chosen: np.ndarray, device: str | torch.device = "cpu") -> Batch:
        rows, at = self.rows[chosen], self.units_of(chosen)
        line = np.repeat(np.arange(len(rows)), self.first_unit[rows + 1] - self.first_unit[rows])
        width = int(self.encoded.lengths[rows].max())
        words = [self.places.pieces(rows[line], line, of_units[at], width) for of_units in self.units.words]
        return Batch(self.encoded.batch(rows, device), words, torch.from_numpy(self.labels[at]).to(device))
