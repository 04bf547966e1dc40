"""A structural probe is a linear projection B. Squared norms |Bh|^2 of words predict their depths in the tree (depth
probe), squared distances |B(h - h')|^2 the number of edges between two words (distance probe).

Probes are trained side by side: those of several layers see the same batch, and their projections are one batched
matrix product. They share no parameters, so the gradient of the sum of their losses is each probe's own gradient.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

PROBES = ("depth", "distance")
LARGEST_WEIGHT = 0.05  # at initialisation


def first_weights(width: int, rank: int, layer: int, probe: str, seed: int) -> torch.Tensor:
    """(width, rank) initial weights, which do not depend on what other layers are trained."""
    rng = np.random.default_rng([seed, layer, PROBES.index(probe)])
    return torch.from_numpy(rng.uniform(-LARGEST_WEIGHT, LARGEST_WEIGHT, (width, rank)).astype(np.float32))


class StructuralProbe(nn.Module):
    def __init__(self, width: int, rank: int, layer: int, probe: str, seed: int):
        super().__init__()
        self.layer, self.probe = layer, probe  # probe: depth or distance
        self.projection = nn.Parameter(first_weights(width, rank, layer, probe, seed))


def project(probes: Sequence[StructuralProbe], vectors: torch.Tensor) -> torch.Tensor:
    """(probes, words, rank): each probe applied to its own layer's vectors (probes, words, width)."""
    return torch.bmm(vectors, torch.stack([probe.projection for probe in probes]))
