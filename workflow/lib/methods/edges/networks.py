"""The edge probe of Tenney et al. (2019), as in jiant, and the forward pass of many probes side by side.

A probe: a mixture of layers (or one layer), dropout, a projection of every token (one for each span of a target),
self-attentive pooling per span, then Linear - tanh - LayerNorm - dropout - Linear.

Probes of one task are trained side by side, one lane per model and input (mix, top, lexical): they see the same
sentences and dropout masks and start from the same weights, and their parameters are stacked for batched products. So
they share the cost of fetching vectors and of calling operations, which for small encoders is most of the cost. They
share no parameters, so the gradient of the sum of their losses is each probe's own gradient.

Shapes: lanes m, models n, layers l, tokens t, vector width w, targets g.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import layer_norm, one_hot

from workflow.lib.base.errors import UserError
from workflow.lib.methods.edges.examples import Batch, Split
from workflow.lib.methods.edges.pooling import softmax_in_spans, weighted_sums
from workflow.lib.methods.edges.settings import EdgeSettings

INPUTS = ("mix", "top", "lexical")


class Lane(NamedTuple):
    input: str
    model: int = 0  # index into the models of `Split.vectors`


class Sizes(NamedTuple):
    layers: int
    width: int
    spans: int
    labels: int


def sizes_of(split: Split, n_labels: int) -> Sizes:
    _, layers, _, width = split.vectors.shape
    return Sizes(layers, width, split.n_spans, n_labels)


class EdgeProbe(nn.Module):
    """The parameters of one probe. Linear layers start like PyTorch's, and the mixture with equal weights."""

    def __init__(self, lane: Lane, sizes: Sizes, settings: EdgeSettings, seed: int):
        super().__init__()
        if lane.input not in INPUTS:
            raise UserError(f"the edge probe reads {', '.join(INPUTS)}, not '{lane.input}'")
        self.lane, generator = lane, torch.Generator().manual_seed(seed)
        layers, width, spans, labels = sizes
        projection, hidden = settings.projection, settings.hidden

        def uniform(n_inputs: int, *shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(shape).uniform_(-(n_inputs**-0.5), n_inputs**-0.5, generator=generator))

        self.layer_scores = nn.Parameter(torch.zeros(layers))
        self.mixture_scale = nn.Parameter(torch.ones(1))
        self.project = uniform(width, spans, width, projection)
        self.project_bias = uniform(width, spans, 1, projection)
        # no bias: it would shift all scores of a span equally
        self.attention = uniform(projection, spans, projection, 1)
        self.hidden = uniform(spans * projection, spans, projection, hidden)
        self.hidden_bias = uniform(spans * projection, 1, hidden)
        self.norm = nn.Parameter(torch.ones(1, hidden))
        self.norm_bias = nn.Parameter(torch.zeros(1, hidden))
        self.output = uniform(hidden, hidden, labels)
        self.output_bias = uniform(hidden, 1, labels)


class DropoutMasks(NamedTuple):
    """Factors, 0 or 1 / (1 - dropout), shared by all lanes."""

    tokens: torch.Tensor  # (t, w)
    hidden: torch.Tensor  # (g, hidden)


def draw_masks(batch: Batch, width: int, settings: EdgeSettings, generator: torch.Generator) -> DropoutMasks:
    def draw(n: int, width: int, dropout: float) -> torch.Tensor:
        kept = torch.rand(n, width, generator=generator, device=generator.device) >= dropout
        return kept.float() / (1 - dropout)

    return DropoutMasks(
        draw(len(batch.token), width, settings.input_dropout),
        draw(len(batch.target), settings.hidden, settings.dropout),
    )


def logits_of(
    probes: Sequence[EdgeProbe], vectors: torch.Tensor, batch: Batch, masks: DropoutMasks | None = None
) -> torch.Tensor:
    """(m, g, labels) logits of a batch, from its tokens' vectors (n, l, t, w); without masks there is no dropout.

    Projection and pooling are both linear, so tokens are pooled before projection and only the sums are projected;
    attention scores of projected tokens are products of the tokens with fixed directions. (The projection's bias shifts
    all scores of a span equally, and has no effect.)
    """
    parameters = [dict(probe.named_parameters()) for probe in probes]
    stacked = {name: torch.stack([of_probe[name] for of_probe in parameters]) for name in parameters[0]}
    tokens = mixed_layers([probe.lane for probe in probes], stacked, vectors)
    if masks:
        tokens = tokens * masks.tokens
    directions = (stacked["project"] @ stacked["attention"]).squeeze(3)  # (m, spans, w)
    scores = directions @ tokens.transpose(1, 2)  # (m, spans, t)
    sums = weighted_sums(tokens, softmax_in_spans(scores, batch), batch)
    pooled = sums.unflatten(1, (scores.shape[1], -1)) @ stacked["project"] + stacked["project_bias"]
    hidden = torch.tanh((pooled @ stacked["hidden"]).sum(1) + stacked["hidden_bias"])
    hidden = layer_norm(hidden, hidden.shape[2:]) * stacked["norm"] + stacked["norm_bias"]
    if masks:
        hidden = hidden * masks.hidden
    return torch.baddbmm(stacked["output_bias"], hidden, stacked["output"])


def mixed_layers(lanes: Sequence[Lane], stacked: dict[str, torch.Tensor], vectors: torch.Tensor) -> torch.Tensor:
    """(m, t, w) mixtures. Each lane mixes the layers of all models, with weight 0 for other models: this is a single
    matrix product, even when models have different numbers of lanes."""
    n_models, n_layers, n_tokens, width = vectors.shape
    learned = torch.softmax(stacked["layer_scores"], dim=1) * stacked["mixture_scale"]
    is_mix = torch.tensor([[lane.input == "mix"] for lane in lanes], device=vectors.device)
    single = torch.tensor([0 if lane.input == "lexical" else n_layers - 1 for lane in lanes], device=vectors.device)
    of_layers = torch.where(is_mix, learned, one_hot(single, n_layers).float())
    of_models = one_hot(torch.tensor([lane.model for lane in lanes], device=vectors.device), n_models)
    mixture = of_models[:, :, None] * of_layers[:, None, :]
    return (mixture.flatten(1) @ vectors.flatten(0, 1).flatten(1)).view(-1, n_tokens, width)
