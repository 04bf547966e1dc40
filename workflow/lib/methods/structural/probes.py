"""A structural probe is a linear projection B. Squared norms |Bh|^2 of words stand for their depths in the tree (depth
probe), squared distances |B(h - h')|^2 for the number of edges between two words (distance probe).

Probes are trained side by side: those of several layers see the same batch, and their projections are one batched
matrix product. Each has parameters of its own, so that the gradient of the sum of their losses is each one's own.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

PROBES = ("depth", "distance")
LARGEST_WEIGHT = 0.05  # at the start


def first_weights(width: int, rank: int, layer: int, probe: str, seed: int) -> torch.Tensor:
    """(width, rank), drawn for this layer alone, so that it starts the same alone and among others."""
    rng = np.random.default_rng([seed, layer, PROBES.index(probe)])
    return torch.from_numpy(rng.uniform(-LARGEST_WEIGHT, LARGEST_WEIGHT, (width, rank)).astype(np.float32))


class StructuralProbe(nn.Module):
    def __init__(self, width: int, rank: int, layer: int, probe: str, seed: int):
        super().__init__()
        self.layer, self.probe = layer, probe  # probe: depth or distance
        self.projection = nn.Parameter(first_weights(width, rank, layer, probe, seed))


def project(probes: Sequence[StructuralProbe], vectors: torch.Tensor) -> torch.Tensor:
    """(probes, words, rank): every probe applied to its own layer of the vectors (probes, words, width)."""
    return torch.bmm(vectors, torch.stack([probe.projection for probe in probes]))
