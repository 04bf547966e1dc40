"""ReLU networks with two hidden layers of the same sizes, trained side by side: one lane per network.

Each lane is scikit-learn's `MLPClassifier`: mean cross-entropy + alpha / (2 * batch) * |weights|^2 (without biases),
Glorot-uniform initial weights and biases, Adam, mini-batches reshuffled each epoch. (Two labels are two outputs here
and one in scikit-learn.) With a single network of these sizes the processor mostly waits for Python and for memory;
lanes as batched matrix products keep it busy. Lanes share no parameters, so the gradient of the sum of their losses is
each lane's own gradient.

Shapes: lanes m, rows of a mini-batch b, inputs d.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from workflow.lib.base.work import count

ROWS_AT_ONCE = 500  # when predicting: hidden layers of all rows would not fit in the cache


@dataclass(frozen=True)
class Lane:
    alpha: float
    seed: int  # of the initial weights and of the order of rows


class Networks(nn.Module):
    """Networks with the same layer widths, `layers` = [d, first, second, labels]."""

    def __init__(self, layers: list[int], lanes: list[Lane], learning_rate: float, device: str = "cpu"):
        super().__init__()
        self.lanes, self.device = lanes, device
        self.generators = {lane.seed: torch.Generator().manual_seed(lane.seed) for lane in lanes}
        first = {seed: first_parameters(layers, generator) for seed, generator in self.generators.items()}
        weights, biases = zip(*(zip(*layer) for layer in zip(*(first[lane.seed] for lane in lanes))))
        self.weights = nn.ParameterList(torch.stack(layer).to(device) for layer in weights)  # (m, inputs, outputs)
        self.biases = nn.ParameterList(torch.stack(layer).to(device) for layer in biases)  # (m, 1, outputs)
        self.alphas = torch.tensor([lane.alpha for lane in lanes], device=device)
        self.optimiser = torch.optim.Adam(self.parameters(), lr=learning_rate, fused=True)

    def keep(self, kept: list[int]) -> None:
        """Drop all other lanes, and Adam's moments of them."""
        self.lanes, self.alphas = [self.lanes[lane] for lane in kept], self.alphas[kept]
        for parameter in self.parameters():
            parameter.data = parameter.data[kept]
            state = self.optimiser.state[parameter]
            state |= {name: state[name][kept] for name in ("exp_avg", "exp_avg_sq")}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(m, b, labels) logits from inputs (m, b, d)."""
        *hidden, last = zip(self.weights, self.biases)
        for weight, bias in hidden:
            x = torch.baddbmm(bias, x, weight).relu()
        weight, bias = last
        return torch.baddbmm(bias, x, weight)

    def losses(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """(m,) mean cross-entropies plus penalties. `x` is (m, b, d), or (1, b, d) if all lanes see the same rows."""
        m, b = len(self.lanes), x.shape[1]
        logits = self(x.expand(m, -1, -1))
        entropies = cross_entropy(logits.flatten(0, 1), y.expand(m, -1).flatten(), reduction="none").view(m, b)
        squared_weights = sum(weight.square().sum((1, 2)) for weight in self.weights)
        return entropies.mean(1) + self.alphas / (2 * b) * squared_weights

    def train_epoch(self, x: torch.Tensor, y: torch.Tensor, batch_size: int) -> np.ndarray:
        """Train one epoch; returns the (m,) mean training losses."""
        orders = {seed: torch.randperm(len(x), generator=generator) for seed, generator in self.generators.items()}
        # networks with the same seed see the same mini-batches, and share one copy of them
        order = torch.stack(list(orders.values()) if len(orders) == 1 else [orders[lane.seed] for lane in self.lanes])
        order = order.to(self.device)
        total = torch.zeros(len(self.lanes), device=self.device)
        for vectors, labels in zip(x[order].split(batch_size, dim=1), y[order].split(batch_size, dim=1)):
            losses = self.losses(vectors, labels)
            self.optimiser.zero_grad()
            losses.sum().backward()
            self.optimiser.step()
            count("probe_steps", len(self.lanes))
            total += losses.detach() * labels.shape[1]
        return (total / len(x)).cpu().numpy()

    @torch.no_grad()
    def accuracies(self, x: torch.Tensor, y: torch.Tensor) -> np.ndarray:
        """(m,) accuracies."""
        found = torch.zeros(len(self.lanes), dtype=torch.long, device=self.device)
        for rows, labels in zip(x.split(ROWS_AT_ONCE), y.split(ROWS_AT_ONCE)):
            found += (self(rows.expand(len(self.lanes), -1, -1)).argmax(2) == labels).sum(1)
        return found.cpu().numpy() / len(x)


def first_parameters(layers: list[int], generator: torch.Generator) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Initial weights (inputs, outputs) and biases (1, outputs) of a network, both uniform within Glorot's bound, as in
    scikit-learn."""
    found = []
    for n_in, n_out in pairwise(layers):
        drawn = (2 * torch.rand(n_in + 1, n_out, generator=generator) - 1) * (6 / (n_in + n_out)) ** 0.5
        found.append((drawn[:-1], drawn[-1:]))
    return found
