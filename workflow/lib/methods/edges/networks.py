"""Edge probes of one task trained side by side: one lane per model and input (mix, top, lexical).

Each lane: a mixture of layers (or one layer), dropout, a projection of every token (one for each span of a target),
self-attentive pooling per span, then Linear - tanh - LayerNorm - dropout - Linear, as in jiant's edge probing. Lanes
see the same sentences and dropout masks and start from the same weights; they share the cost of fetching vectors and of
calling operations, which for small encoders is most of the cost, and learn nothing from each other.

Shapes: lanes m, models n, layers l, tokens t, vector width w, targets g. All parameters of a lane are one row of a
matrix: then clipping and Adam are one pass over memory, and dropping a lane is dropping a row.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch.optim.adam import adam

from workflow.lib.base.errors import UserError
from workflow.lib.methods.edges import pooling
from workflow.lib.methods.edges.examples import Batch
from workflow.lib.methods.edges.parameters import Sizes, first_parameters, shapes_of, views
from workflow.lib.methods.edges.settings import EdgeSettings

INPUTS = ("mix", "top", "lexical")
NORM_EPSILON = 1e-5


class Lane(NamedTuple):
    input: str
    model: int = 0  # which of those that the vectors are of


@dataclass(frozen=True)
class Forward:
    """What the gradient needs of a pass."""

    shares: torch.Tensor  # (m, l) softmax of the layers' scalars
    mask: torch.Tensor | None  # (t, w)
    states: torch.Tensor  # (m, t, w) after dropout
    directions: torch.Tensor  # (m, spans, w)
    weights: torch.Tensor  # (m, members)
    sums: torch.Tensor  # (m x spans, g, w)
    pooled: torch.Tensor  # (m x spans, g, projection)
    bent: torch.Tensor  # (m, g, hidden) after tanh
    norm: tuple  # of layer norm: normed (m, g, hidden), mean, 1 / deviation
    hidden_mask: torch.Tensor | None  # (g, hidden)
    hidden: torch.Tensor  # (m, g, hidden) after dropout
    logits: torch.Tensor  # (m, g, labels)


class Probes:
    def __init__(self, sizes: Sizes, lanes: list[Lane], settings: EdgeSettings, seed: int, device: str = "cpu"):
        if unknown := {lane.input for lane in lanes} - set(INPUTS):
            raise UserError(f"the edge probe reads {', '.join(INPUTS)}, not '{min(unknown)}'")
        self.sizes, self.lanes, self.settings, self.device = sizes, list(lanes), settings, device
        self._shapes = shapes_of(sizes, settings)
        start = first_parameters(self._shapes, torch.Generator().manual_seed(seed))
        self.parameters = start.repeat(len(lanes), 1).to(device)
        self.moments = [torch.zeros_like(self.parameters) for _ in range(3)]  # first, second, highest second
        self.n_updates = [torch.zeros((), device=device) for _ in lanes]
        self._masks = torch.Generator(device).manual_seed(seed)
        self._look_at_parameters()

    def keep(self, lanes: list[int]) -> None:
        """Drop the other lanes."""
        self.moments = [moment[lanes] for moment in self.moments]
        self.n_updates = [self.n_updates[lane] for lane in lanes]
        self.put([self.lanes[lane] for lane in lanes], self.parameters[lanes])

    def put(self, lanes: list[Lane], parameters: torch.Tensor) -> None:
        self.lanes, self.parameters = list(lanes), parameters
        self._look_at_parameters()

    def _look_at_parameters(self) -> None:
        """Once, not at each update."""
        self.gradient = torch.zeros_like(self.parameters)
        self.part, self.slope = (views(flat, self._shapes) for flat in (self.parameters, self.gradient))
        n_layers, single = self.sizes.layers, {"top": self.sizes.layers - 1, "lexical": 0}
        chosen = torch.zeros(len(self.lanes), n_layers)
        for at, lane in enumerate(self.lanes):
            if lane.input in single:
                chosen[at, single[lane.input]] = 1
        self._chosen = chosen.to(self.device)
        self._is_mix = torch.tensor([[float(lane.input == "mix")] for lane in self.lanes], device=self.device)
        of_model = [[lane.model * n_layers + layer for layer in range(n_layers)] for lane in self.lanes]
        self._own_layers = torch.tensor(of_model, device=self.device)  # (m, l) places among all models' layers

    def forward(self, vectors: torch.Tensor, batch: Batch, training: bool) -> Forward:
        """Of a batch, from its tokens' vectors (n, l, t, w). A lane mixes all models' layers, of which others' count 0:
        that is one product of matrices, however many lanes a model still has.

        Projection and pooling are both linear, so tokens are pooled as they come and only the sums are projected; the
        attention's scores of projected tokens are those of the tokens in certain `directions`. (The projection's bias
        moves all scores of a span alike, and changes nothing.)
        """
        part, m, (n, n_layers, t, w), spans = self.part, len(self.lanes), vectors.shape, self.sizes.spans
        shares = torch.softmax(part["scalars"], dim=1)
        own = torch.addcmul(self._chosen, shares * part["gamma"], self._is_mix)
        mixture = torch.zeros(m, n * n_layers, device=self.device).scatter_(1, self._own_layers, own)
        states = (mixture @ vectors.reshape(n * n_layers, t * w)).view(m, t, w)
        mask = self._mask(t, w, self.settings.input_dropout) if training else None
        if training:
            states.mul_(mask)
        project = part["project"].flatten(0, 1)
        directions = torch.bmm(project, part["attention"].flatten(0, 1)).view(m, spans, w)
        scores = torch.bmm(directions, states.transpose(1, 2)).view(m, spans * t)
        weights = pooling.weights(scores.index_select(1, batch.score), batch)
        sums = pooling.sums(states, weights, batch).view(m * spans, -1, w)
        pooled = torch.baddbmm(part["project_bias"].flatten(0, 1), sums, project)
        hidden = torch.bmm(pooled, part["hidden"].flatten(0, 1)).view(m, spans, -1, self.settings.hidden).sum(1)
        bent = hidden.add_(part["hidden_bias"]).tanh_()
        norm = torch.native_layer_norm(bent, bent.shape[2:], None, None, NORM_EPSILON)
        hidden = torch.addcmul(part["norm_bias"], norm[0], part["norm"])
        hidden_mask = self._mask(*hidden.shape[1:], self.settings.dropout) if training else None
        if training:
            hidden.mul_(hidden_mask)
        logits = torch.baddbmm(part["output_bias"], hidden, part["output"])
        return Forward(shares, mask, states, directions, weights, sums, pooled, bent, norm, hidden_mask, hidden, logits)

    def _mask(self, n: int, width: int, dropout: float) -> torch.Tensor:
        kept = torch.rand(n, width, generator=self._masks, device=self.device) >= dropout
        return kept.float().div_(1 - dropout)

    def backward(self, vectors: torch.Tensor, batch: Batch, was: Forward, of_logits: torch.Tensor) -> None:
        """`gradient` becomes that of the loss whose gradient by the logits is given."""
        part, slope, m, spans = self.part, self.slope, len(self.lanes), self.sizes.spans
        torch.bmm(was.hidden.transpose(1, 2), of_logits, out=slope["output"])
        torch.sum(of_logits, dim=1, keepdim=True, out=slope["output_bias"])
        of_hidden = torch.bmm(of_logits, part["output"].transpose(1, 2))
        if was.hidden_mask is not None:
            of_hidden.mul_(was.hidden_mask)
        torch.sum(of_hidden, dim=1, keepdim=True, out=slope["norm_bias"])
        torch.sum(of_hidden * was.norm[0], dim=1, keepdim=True, out=slope["norm"])
        of_bent = torch.ops.aten.native_layer_norm_backward(
            of_hidden.mul_(part["norm"]), was.bent, was.bent.shape[2:], *was.norm[1:], None, None, [True, False, False]
        )[0]
        delta = torch.ops.aten.tanh_backward(of_bent, was.bent)
        torch.sum(delta, dim=1, keepdim=True, out=slope["hidden_bias"])
        delta = delta.repeat_interleave(spans, dim=0) if spans > 1 else delta
        slope["hidden"].copy_(torch.bmm(was.pooled.transpose(1, 2), delta).view_as(slope["hidden"]))
        of_pooled = torch.bmm(delta, part["hidden"].flatten(0, 1).transpose(1, 2))
        slope["project_bias"].copy_(of_pooled.sum(1).view_as(slope["project_bias"]))
        project, attention = part["project"].flatten(0, 1), part["attention"].flatten(0, 1)
        of_sums = torch.bmm(of_pooled, project.transpose(1, 2)).view(m, -1, self.sizes.width)
        of_states, of_weights = pooling.gradients_of_sums(was.states, was.weights, of_sums, batch)
        of_members = pooling.gradient_of_scores(was.weights, of_weights, batch)
        of_scores = torch.zeros(m, spans * was.states.shape[1], device=self.device)
        of_scores = of_scores.index_add_(1, batch.score, of_members).view(m, spans, -1)
        of_directions = torch.bmm(of_scores, was.states).view(m * spans, -1, 1)
        of_project = torch.bmm(was.sums.transpose(1, 2), of_pooled)
        of_project.baddbmm_(of_directions, attention.transpose(1, 2))
        slope["project"].copy_(of_project.view_as(slope["project"]))
        slope["attention"].copy_(torch.bmm(project.transpose(1, 2), of_directions).view_as(slope["attention"]))
        of_states.baddbmm_(of_scores.transpose(1, 2), was.directions)
        if was.mask is not None:
            of_states.mul_(was.mask)
        of_mixture = of_states.view(m, -1) @ vectors.flatten(0, 1).flatten(1).T
        of_mixture = of_mixture.gather(1, self._own_layers) * self._is_mix
        torch.sum(of_mixture * was.shares, dim=1, keepdim=True, out=slope["gamma"])
        slope["scalars"].copy_(was.shares * part["gamma"] * (of_mixture - slope["gamma"]))

    def update(self, learning_rates: np.ndarray) -> None:
        """One step of Adam (AMSGrad) in each lane, down its own gradient, clipped."""
        norms = torch.linalg.vector_norm(self.gradient, dim=1, keepdim=True)
        self.gradient.mul_((self.settings.clip_norm / (norms + 1e-6)).clamp_(max=1.0))
        first, second, highest = self.moments
        for rate in np.unique(learning_rates):  # a call for all lanes of one rate: calling costs more than computing
            at = np.flatnonzero(learning_rates == rate).tolist()
            adam(
                [self.parameters[lane] for lane in at],
                [self.gradient[lane] for lane in at],
                [first[lane] for lane in at],
                [second[lane] for lane in at],
                max_exp_avg_sqs=[highest[lane] for lane in at],
                state_steps=[self.n_updates[lane] for lane in at],
                fused=True,
                amsgrad=True,
                beta1=0.9,
                beta2=0.999,
                lr=float(rate),
                weight_decay=0.0,
                eps=1e-8,
                maximize=False,
            )
