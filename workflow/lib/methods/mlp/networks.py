"""Many two-hidden-layer ReLU networks of the same sizes, trained side by side: one lane per network.

Each lane is scikit-learn's `MLPClassifier`: mean cross-entropy + alpha / (2 * batch) * |weights|^2 (biases are free),
Glorot-uniform weights and biases at the start, Adam, mini-batches in a new order each epoch. (Two labels are two
outputs here and one there.) A single network of these sizes keeps a processor waiting for Python and for memory; lanes
as batched matrix products keep it multiplying.

Shapes: lanes m, rows of a mini-batch b, inputs d. All parameters of a lane are one row of a (m, parameters) matrix, so
that Adam is one pass over memory and dropping a lane is dropping a row.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch.optim.adam import adam

ROWS_AT_ONCE = 500  # when predicting: hidden layers of all rows would not stay in the cache


@dataclass(frozen=True)
class Lane:
    alpha: float
    seed: int  # of the first weights and of the order of rows


class Networks:
    """`layers` are the widths from input to output: [d, first, second, labels]."""

    def __init__(self, layers: list[int], lanes: list[Lane], learning_rate: float, device: str = "cpu"):
        self.layers, self.learning_rate, self.device = layers, learning_rate, device
        self.generators = {lane.seed: torch.Generator().manual_seed(lane.seed) for lane in lanes}
        start = {seed: first_parameters(layers, generator) for seed, generator in self.generators.items()}
        self.lanes = lanes
        self.parameters = torch.stack([start[lane.seed] for lane in lanes]).to(device)
        self.first_moment = torch.zeros_like(self.parameters)
        self.second_moment = torch.zeros_like(self.parameters)
        self.n_updates = torch.zeros((), device=device)
        self._look_at_layers()

    def keep(self, kept: list[int]) -> None:
        self.lanes = [self.lanes[i] for i in kept]
        for name in ("parameters", "first_moment", "second_moment"):
            setattr(self, name, getattr(self, name)[kept])
        self._look_at_layers()

    def _look_at_layers(self) -> None:
        """Once, not at each update: with small networks this costs as much as the arithmetic."""
        self.gradient, self.decay = torch.empty_like(self.parameters), torch.zeros_like(self.parameters)
        self.layer_parameters = views(self.parameters, self.layers)
        self.layer_gradients = views(self.gradient, self.layers)
        self.alphas = torch.tensor([lane.alpha for lane in self.lanes], device=self.device)
        for weight, _ in views(self.decay, self.layers):
            weight.copy_(self.alphas[:, None, None])

    def train_epoch(self, x: torch.Tensor, y: torch.Tensor, batch_size: int) -> np.ndarray:
        """(m,) training loss over the epoch, as scikit-learn counts it."""
        orders = {seed: torch.randperm(len(x), generator=generator) for seed, generator in self.generators.items()}
        # networks of one seed see the same rows at the same time, and share one copy of them
        order = torch.stack(list(orders.values()) if len(orders) == 1 else [orders[lane.seed] for lane in self.lanes])
        order = order.to(self.device)
        total = torch.zeros_like(self.alphas)
        for vectors, labels in zip(x[order].split(batch_size, dim=1), y[order].split(batch_size, dim=1)):
            total += self.losses_and_gradient(vectors, labels)
            adam(
                [self.parameters],
                [self.gradient],
                [self.first_moment],
                [self.second_moment],
                max_exp_avg_sqs=[],
                state_steps=[self.n_updates],
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self.learning_rate,
                weight_decay=0.0,  # alphas differ between lanes, so the penalty is in the gradient
                eps=1e-8,
                maximize=False,
            )
        n_batches = -(-len(x) // batch_size)
        # once per epoch: within one, the norm of the weights hardly moves
        return ((total + n_batches * self.alphas / 2 * self.squared_weights()) / len(x)).cpu().numpy()

    def losses_and_gradient(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """(m,) summed cross-entropies, without penalty; `gradient` becomes that of the objective, penalty included.

        `x` is (m, b, d), or (1, b, d) where all lanes see the same rows.
        """
        m, b = len(self.lanes), x.shape[1]
        inputs, outputs = self._forward(x.expand(m, -1, -1))
        probabilities, labels = torch.softmax(outputs, dim=2), y.expand(m, -1)[:, :, None]
        of_labels = probabilities.gather(2, labels)
        delta = probabilities.scatter_(2, labels, of_labels - 1).div_(b)
        for layer in (2, 1, 0):
            (weight, _), (of_weight, of_bias) = self.layer_parameters[layer], self.layer_gradients[layer]
            torch.sum(delta, dim=1, keepdim=True, out=of_bias)
            torch.bmm(inputs[layer].transpose(1, 2), delta, out=of_weight)
            if layer:
                delta = torch.ops.aten.threshold_backward(torch.bmm(delta, weight.transpose(1, 2)), inputs[layer], 0)
        self.gradient.addcmul_(self.parameters, self.decay, value=1 / b)
        return -of_labels.clamp_min_(torch.finfo(of_labels.dtype).eps).log_().sum((1, 2))

    def squared_weights(self) -> torch.Tensor:
        return sum(weight.square().sum((1, 2)) for weight, _ in self.layer_parameters)

    def _forward(self, x: torch.Tensor) -> tuple[list[torch.Tensor], torch.Tensor]:
        """What each layer is given, and what the last one gives."""
        (first, first_bias), (second, second_bias), (last, last_bias) = self.layer_parameters
        hidden = torch.baddbmm(first_bias, x, first).relu_()
        upper = torch.baddbmm(second_bias, hidden, second).relu_()
        return [x, hidden, upper], torch.baddbmm(last_bias, upper, last)

    def accuracies(self, x: torch.Tensor, y: torch.Tensor) -> np.ndarray:
        """(m,) share of rows whose label is found."""
        found = torch.zeros(len(self.lanes), dtype=torch.long, device=self.device)
        for rows, labels in zip(x.split(ROWS_AT_ONCE), y.split(ROWS_AT_ONCE)):
            _, outputs = self._forward(rows.expand(len(self.lanes), -1, -1))
            found += (outputs.argmax(2) == labels).sum(1)
        return found.cpu().numpy() / len(x)


def views(flat: torch.Tensor, layers: list[int]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The weights (m, inputs, outputs) and biases (m, 1, outputs) of each layer within a (m, parameters) matrix."""
    found, start = [], 0
    for n_in, n_out in pairwise(layers):
        middle, end = start + n_in * n_out, start + (n_in + 1) * n_out
        found.append((flat[:, start:middle].unflatten(1, (n_in, n_out)), flat[:, None, middle:end]))
        start = end
    return found


def first_parameters(layers: list[int], generator: torch.Generator) -> torch.Tensor:
    """Uniform within Glorot's bound, biases too, as scikit-learn does."""
    drawn = [
        (2 * torch.rand((n_in + 1) * n_out, generator=generator) - 1) * (6 / (n_in + n_out)) ** 0.5
        for n_in, n_out in pairwise(layers)
    ]
    return torch.cat(drawn)
