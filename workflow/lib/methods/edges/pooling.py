"""Self-attentive pooling over spans of any length without padding: the members of all spans form one flat list.

Shapes: lanes m, tokens t, vector width w; `members` are all spans' tokens, `spans` the first spans of all targets, then
the second ones.
"""

import torch
from torch.nn.functional import embedding_bag

from workflow.lib.methods.edges.examples import Batch


def softmax_in_spans(scores: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, members) attention weights that sum to 1 within each span, from scores (m, spans per target, t)."""
    scores = scores.flatten(1)
    scores = scores.gather(1, batch.score_index.expand(len(scores), -1))
    spans = batch.span.expand_as(scores)
    zeros = scores.new_zeros(len(scores), len(batch.first))
    highest = zeros.scatter_reduce(1, spans, scores.detach(), "amax", include_self=False)
    exponentials = (scores - highest.gather(1, spans)).exp()  # `highest` cancels out, and prevents overflow
    return exponentials / zeros.scatter_add(1, spans, exponentials).gather(1, spans)


def weighted_sums(tokens: torch.Tensor, weights: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(m, spans, w) sums of each span's members among tokens (m, t, w), weighted by weights (m, members)."""
    m, n_tokens, width = tokens.shape
    lanes = torch.arange(m, device=tokens.device)[:, None]
    sums = embedding_bag(
        (batch.member + lanes * n_tokens).flatten(),
        tokens.reshape(m * n_tokens, width),
        (batch.first + lanes * len(batch.member)).flatten(),
        mode="sum",
        per_sample_weights=weights.flatten(),
    )
    return sums.view(m, -1, width)
