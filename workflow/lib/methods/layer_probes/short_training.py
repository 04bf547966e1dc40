"""Linear classifiers on the vectors of frozen layers, trained as singh2020 trains them: for a few epochs, at 2e-5.

Under-trained on purpose. Adam moves a weight by at most about half the rate times the number of steps: 0.06 on SST-2
but 0.008 on CoLA, beside the 0.02 that is the spread of the first weights. There the head still answers much as chance
drew it; a converged probe (workflow.lib.methods.linear) says what the vectors really hold.

All layers are trained in one pass, from the same first head and on the same batches: what differs between them is the
vectors alone. The gradient of softmax regression has a closed form, so this needs no torch. What the authors' set-up
has and vectors from a cache have not: dropout below the head, and the frozen pooler of BERT's next-sentence head (their
later code keeps it; an encoder as it is fetched here has none, and most other encoders never had one).
"""

from collections.abc import Iterator

import numpy as np

from workflow.lib.methods.linear import SoftmaxModel

FIRST_SD = 0.02  # of BERT's own initialiser
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def first_head(width: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """(width + 1, n_classes): drawn weights, and a last row for the biases, which begin at zero."""
    weights = rng.normal(0.0, FIRST_SD, (width, n_classes))
    return np.vstack([weights, np.zeros((1, n_classes))]).astype(np.float32)


def shuffled_batches(n_rows: int, batch_size: int, epochs: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Row numbers, every row once an epoch; the last batch of an epoch may be smaller."""
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
) -> list[SoftmaxModel]:
    """A head for each layer's (rows, width) vectors, by AdamW without weight decay; the rate falls linearly to zero."""
    rng = np.random.default_rng(seed)
    n_rows, width = layers[0].shape
    heads = np.repeat(first_head(width, n_classes, rng)[None], len(layers), axis=0)
    mean, square = np.zeros_like(heads), np.zeros_like(heads)
    one_hot = (np.asarray(labels)[:, None] == np.arange(n_classes)).astype(np.float32)
    n_steps = epochs * -(-n_rows // batch_size)
    for step, rows in enumerate(shuffled_batches(n_rows, batch_size, epochs, rng)):
        gradient = _gradient(heads, np.stack([layer[rows] for layer in layers]), one_hot[rows])
        mean += (1 - BETA1) * (gradient - mean)
        square += (1 - BETA2) * (gradient * gradient - square)
        rate = learning_rate * (1 - step / n_steps) / (1 - BETA1 ** (step + 1))
        heads -= rate * mean / (np.sqrt(square / (1 - BETA2 ** (step + 1))) + EPSILON)
    as_they_are = np.zeros(width, dtype=np.float32), np.ones(width, dtype=np.float32)
    return [SoftmaxModel(*as_they_are, head[:-1], head[-1]) for head in heads]


def _gradient(heads: np.ndarray, vectors: np.ndarray, one_hot: np.ndarray) -> np.ndarray:
    """Of the mean cross-entropy: heads (layers, width + 1, classes), vectors (layers, rows, width)."""
    logits = vectors @ heads[:, :-1] + heads[:, -1:]
    odds = np.exp(logits - logits.max(axis=2, keepdims=True))
    residual = (odds / odds.sum(axis=2, keepdims=True) - one_hot) / np.float32(len(one_hot))
    of_weights = vectors.transpose(0, 2, 1) @ residual
    return np.concatenate([of_weights, residual.sum(axis=1, keepdims=True)], axis=1)
