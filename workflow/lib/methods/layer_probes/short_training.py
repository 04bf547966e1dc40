"""Linear classifiers on the vectors of frozen layers, with the same short budget as fine-tuning.

Under-trained on purpose. Adam moves a weight by at most about half the rate times the number of steps: 0.06 on SST-2
but 0.008 on CoLA, compared with an initial standard deviation of 0.02. On CoLA the head therefore stays close to its
random initialisation; a converged probe (workflow.lib.methods.linear) shows what the vectors contain.

All layers are trained in one pass, with the same initial head and batches, so that they differ only in their vectors.
Unlike the authors' set-up, cached vectors have no dropout below the head.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import LinearLR

from workflow.lib.base.work import count

FIRST_SD = 0.02  # as in BERT's initialiser


@dataclass(frozen=True)
class LinearHead:
    weights: np.ndarray  # (width, classes)
    intercept: np.ndarray  # (classes,)

    def predict(self, x: np.ndarray) -> np.ndarray:
        return (x @ self.weights + self.intercept).argmax(axis=1)


def first_head(width: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """(width, n_classes) initial weights; biases start at zero."""
    return rng.normal(0.0, FIRST_SD, (width, n_classes)).astype(np.float32)


def shuffled_batches(n_rows: int, batch_size: int, epochs: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Batches of row numbers, each row once per epoch; the last batch of an epoch may be smaller."""
    for _ in range(epochs):
        order = rng.permutation(n_rows)
        yield from (order[start : start + batch_size] for start in range(0, n_rows, batch_size))


def train_short(
    layers: list[np.ndarray],
    labels: np.ndarray,
    n_classes: int,
    *,
    learning_rate: float,
    epochs: int,
    batch_size: int,
    seed: list[int],
) -> list[LinearHead]:
    """A head per layer's (rows, width) vectors, by AdamW without weight decay; the rate decays linearly to zero."""
    rng = np.random.default_rng(seed)
    n_rows, width = layers[0].shape
    drawn = torch.from_numpy(first_head(width, n_classes, rng))
    weights = drawn.repeat(len(layers), 1, 1).requires_grad_()
    intercepts = torch.zeros(len(layers), 1, n_classes, requires_grad=True)
    optimizer = torch.optim.AdamW([weights, intercepts], lr=learning_rate, weight_decay=0.0)
    n_steps = epochs * -(-n_rows // batch_size)
    schedule = LinearLR(optimizer, start_factor=1.0, end_factor=0.0, total_iters=n_steps)
    for rows in shuffled_batches(n_rows, batch_size, epochs, rng):
        vectors, truth = torch.from_numpy(np.stack([layer[rows] for layer in layers])), torch.from_numpy(labels[rows])
        logits = torch.baddbmm(intercepts, vectors, weights)  # (layers, rows, classes)
        # summed over layers, so that each has the gradient that it would have alone
        loss = cross_entropy(logits.flatten(0, 1), truth.repeat(len(layers)), reduction="sum") / len(rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        count("probe_steps", len(layers))
    count("fits", len(layers))
    return [LinearHead(*head) for head in zip(weights.detach().numpy(), intercepts.detach()[:, 0].numpy())]
