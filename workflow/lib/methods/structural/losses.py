"""Both probes' losses over projected words, and their gradients, for many projections (lanes) at once.

depth     |norm^2 - depth|, mean over a sentence's words       distance  |squared distance - distance|, mean over its
pairs of words; then the mean over sentences. Means are in the batch's weights. Gradients are written out: automatic
differentiation would keep, and walk through, several arrays of all pairs.

Shapes: lanes m, words w of s sentences, rank r.
"""

import torch

from workflow.lib.methods.structural.batches import Batch


def depth_residuals(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, w) predicted minus gold."""
    return projected.square().sum(2).sub_(batch.depth)


def depth_loss(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m,) from (m, w, r)."""
    return depth_residuals(projected, batch).abs_() @ batch.word_weight


def depth_gradient(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, w, r): how each lane's loss changes with its projected words."""
    pull = depth_residuals(projected, batch).sign_().mul_(2 * batch.word_weight)
    return projected * pull[:, :, None]


def in_sentences(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m * s, longest, r): padded with zeros."""
    m, _, r = projected.shape
    with_nothing = torch.cat([projected, projected.new_zeros(m, 1, r)], dim=1)
    return with_nothing.index_select(1, batch.fill).view(m * batch.n_sentences, -1, r)


def distance_residuals(words: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, s, longest, longest) predicted minus gold, of padded sentences: |a - b|^2 = |a|^2 + |b|^2 - 2ab."""
    norms = words.square().sum(2).unflatten(0, (-1, batch.n_sentences))
    rest = (norms[:, :, None, :] - batch.distance).add_(norms[:, :, :, None])
    return torch.baddbmm(rest.flatten(0, 1), words, words.transpose(1, 2), alpha=-2).view_as(rest)


def distance_loss(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m,) from (m, w, r)."""
    residuals = distance_residuals(in_sentences(projected, batch), batch)
    return residuals.abs_().flatten(1) @ batch.pair_weight.flatten()


def distance_gradient(projected: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, w, r). A pair's residual pulls both words along their difference, once as (i, j) and once as (j, i)."""
    words = in_sentences(projected, batch)
    pull = distance_residuals(words, batch).sign_().mul_(-4 * batch.pair_weight)
    pull.diagonal(dim1=2, dim2=3).sub_(pull.sum(3))
    moved = torch.bmm(pull.flatten(0, 1), words)
    return moved.view(len(projected), -1, words.shape[2]).index_select(1, batch.slots)


LOSSES = {"depth": depth_loss, "distance": distance_loss}
GRADIENTS = {"depth": depth_gradient, "distance": distance_gradient}
