"""Self-attentive pooling over spans of any length, without padding: the members of all spans in one flat list.

`weights` softmax the members' scores within each span, `sums` add up the members' vectors; each with its gradient by
hand, because for small encoders automatic differentiation costs more than the arithmetic.
Shapes: lanes m, places (tokens) t, members n, vector width w.
"""

import torch
from torch.nn.functional import embedding_bag

from workflow.lib.methods.edges.examples import Batch


def weights(scores: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, n) that add up to 1 within each span, from the members' scores (m, n)."""
    spans = batch.span.expand_as(scores)
    highest = torch.full((len(scores), len(batch.first)), -torch.inf, device=scores.device)
    highest.scatter_reduce_(1, spans, scores, "amax")  # against overflow: it cancels out
    grown = (scores - highest.index_select(1, batch.span)).exp_()
    return grown.div_(totals(grown, batch).index_select(1, batch.span))


def totals(of_members: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, spans)"""
    zeros = torch.zeros(len(of_members), len(batch.first), device=of_members.device)
    return zeros.scatter_add_(1, batch.span.expand_as(of_members), of_members)


def gradient_of_scores(weights: torch.Tensor, gradient: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, n) from the gradient of the weights."""
    pulled = weights * gradient
    return pulled - weights * totals(pulled, batch).index_select(1, batch.span)


def sums(vectors: torch.Tensor, weights: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, spans, w): of each span its members' vectors (m, t, w), times their weights."""
    return _bags(vectors, batch.member, batch.first, weights)


def gradients_of_sums(
    vectors: torch.Tensor, weights: torch.Tensor, gradient: torch.Tensor, batch: Batch
) -> tuple[torch.Tensor, torch.Tensor]:
    """(m, t, w) of the vectors and (m, n) of the weights, from the gradient of the sums (m, spans, w)."""
    of_weights = (gradient.index_select(1, batch.span) * vectors.index_select(1, batch.member)).sum(2)
    # each token's spans stand together once the members are sorted by token: sums again, in the other direction
    order = batch.by_token
    of_vectors = _bags(gradient, batch.span[order], batch.first_by_token, weights.index_select(1, order))
    return of_vectors, of_weights


def _bags(vectors: torch.Tensor, at: torch.Tensor, first: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    m, places, width = vectors.shape
    lanes = torch.arange(m, device=vectors.device).unsqueeze(1)
    at, first = (at + lanes * places).view(-1), (first + lanes * len(at)).view(-1)
    flat = embedding_bag(at, vectors.reshape(m * places, width), first, mode="sum", per_sample_weights=weights.view(-1))
    return flat.view(m, -1, width)
