"""Probes of one kind, one lane per layer: a projection each, one batched product for all, Adam with a rate per lane."""

from functools import partial

import numpy as np
import torch
from torch.optim.adam import adam

from workflow.lib.methods.structural.batches import Batch
from workflow.lib.methods.structural.losses import GRADIENTS, LOSSES

PROBES = ("depth", "distance")
LARGEST_WEIGHT = 0.05  # at the start


def first_weights(width: int, rank: int, layer: int, probe: str, seed: int) -> torch.Tensor:
    """A layer's own, so that it starts the same alone and among others."""
    rng = np.random.default_rng([seed, layer, PROBES.index(probe)])
    return torch.from_numpy(rng.uniform(-LARGEST_WEIGHT, LARGEST_WEIGHT, (width, rank)).astype(np.float32))


class Lanes:
    """`layers` are the model's, a lane each; `weights` is (lanes, width, rank)."""

    def __init__(self, probe: str, layers: list[int], width: int, rank: int, seed: int, device: str = "cpu"):
        self.probe, self.layers, self.n_updates = probe, list(layers), 0
        self.weights = torch.stack([first_weights(width, rank, layer, probe, seed) for layer in layers]).to(device)
        self.gradient = torch.empty_like(self.weights)
        self.first_moment, self.second_moment = torch.zeros_like(self.weights), torch.zeros_like(self.weights)

    def keep(self, kept: list[int]) -> None:
        """The others have stopped: they take no further part and cost nothing. Then rates must be set."""
        self.layers, self.steps = [self.layers[lane] for lane in kept], []
        for name in ("weights", "gradient", "first_moment", "second_moment"):
            setattr(self, name, getattr(self, name)[kept])

    def set_rates(self, rates: np.ndarray) -> None:
        """Lanes of the same rate take their steps together. Found out once per epoch: small lanes would notice."""
        self.steps = [self._step(np.flatnonzero(rates == rate).tolist(), float(rate)) for rate in np.unique(rates)]

    def _step(self, lanes: list[int], rate: float) -> partial:
        state = (self.weights, self.gradient, self.first_moment, self.second_moment)
        count = torch.tensor(float(self.n_updates), device=self.weights.device)
        return partial(
            adam,
            *([tensor[lane] for lane in lanes] if len(lanes) < len(tensor) else [tensor] for tensor in state),
            max_exp_avg_sqs=[],
            state_steps=[count.clone() for _ in lanes] if len(lanes) < len(self.layers) else [count],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    def update(self, vectors: torch.Tensor, batch: Batch) -> None:
        """One step of Adam from the (lanes, words, width) vectors of a batch."""
        of_projected = GRADIENTS[self.probe](torch.bmm(vectors, self.weights), batch)
        torch.bmm(vectors.transpose(1, 2), of_projected, out=self.gradient)
        self.n_updates += 1
        for step in self.steps:
            step()

    def losses(self, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
        """(lanes,)"""
        return LOSSES[self.probe](torch.bmm(vectors, self.weights), batch)
