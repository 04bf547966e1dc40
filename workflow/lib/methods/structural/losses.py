"""The L1 losses of Hewitt and Manning over projected words, for probes trained side by side.

depth     |norm^2 - depth|, mean over a sentence's words, then over sentences
distance  |squared distance - tree distance|, mean over a sentence's pairs of words, then over sentences
The batch's weights implement these means. Shapes: probes m, words w of s sentences, rank r.
"""

import torch

from workflow.lib.methods.structural.batches import Batch


def depth_loss(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m,) losses from projected words (m, w, r)."""
    predicted = projected.square().sum(2)
    return (predicted - batch.depth).abs() @ batch.word_weight


def distance_loss(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m,) losses from projected words (m, w, r)."""
    predicted = squared_distances(padded(projected, batch))
    errors = (predicted.unflatten(0, (-1, len(batch.distance))) - batch.distance).abs()
    return errors.flatten(1) @ batch.pair_weight.flatten()


def padded(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m * s, longest, r) sentences, padded with zeros."""
    m, _, r = projected.shape
    n_sentences, longest, _ = batch.distance.shape
    zeros = projected.new_zeros(m, n_sentences * longest, r)
    return zeros.index_copy(1, batch.slots, projected).view(m * n_sentences, longest, r)


def squared_distances(words: torch.Tensor) -> torch.Tensor:
    """(s, n, n) squared distances of words (s, n, r), by |a - b|^2 = |a|^2 + |b|^2 - 2ab."""
    norms = words.square().sum(2)
    return torch.baddbmm(norms[:, :, None] + norms[:, None, :], words, words.transpose(1, 2), alpha=-2)


LOSSES = {"depth": depth_loss, "distance": distance_loss}
