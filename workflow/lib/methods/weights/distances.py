"""How far fine-tuning has moved the weights: norms of W_after - W_before, block by block."""

from collections.abc import Callable

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.encoders.layers import blocks, linear_projections, output_projection

NORMS = {"frobenius": "fro", "spectral": 2}


def attention_output(block: nn.Module) -> nn.Linear:
    """The output projection of attention: the last projection of the module that contains the block's first one."""
    projections = linear_projections(block)
    attention = next(iter(projections)).split(".")[0]
    return [module for name, module in projections.items() if name.split(".")[0] == attention][-1]


SHORT_NAMES: dict[str, Callable[[nn.Module], list[nn.Linear]]] = {
    "output": lambda block: [output_projection(block)],
    "attention_output": lambda block: [attention_output(block)],
    "all": lambda block: list(linear_projections(block).values()),
}


@torch.no_grad()
def block_distances(
    before: PreTrainedModel, after: PreTrainedModel, projections: list[str], norms: list[str]
) -> list[dict]:
    """Rows of layer (1..L), projection, norm, distance, and `relative`: distance / norm of the weights before.

    A projection is `output` (the last one of the feed-forward part, as in the paper), `attention_output`, `all` (root
    of the sum of squares over a block's projections) or a projection's name in its block, such as attention.self.query.
    """
    if unknown := [norm for norm in norms if norm not in NORMS]:
        raise UserError(f"unknown norm '{unknown[0]}'{nearest(unknown[0], list(NORMS))}")
    if len(blocks(before)) != len(blocks(after)):
        raise UserError(
            f"weights of {len(blocks(before))} blocks cannot be compared with those of {len(blocks(after))}: "
            "one model was cut, or they come from different encoders"
        )
    rows = []
    for layer, (old_block, new_block) in enumerate(zip(blocks(before), blocks(after)), start=1):
        for projection in projections:
            old, new = _weights(old_block, projection), _weights(new_block, projection)
            if [weight.shape for weight in old] != [weight.shape for weight in new]:
                raise UserError(f"projection '{projection}' of block {layer} has another shape in the other model")
            moved = [n - o for n, o in zip(new, old)]
            for norm in norms:
                distance, size = _size(moved, norm), _size(old, norm)
                relative = distance / size if size else float("nan")
                rows.append({"layer": layer, "projection": projection, "norm": norm, "distance": distance,
                             "relative": relative})  # fmt: skip
    return rows


def _weights(block: nn.Module, projection: str) -> list[torch.Tensor]:
    """Weight matrices in float64, because a norm is a sum over millions of squares."""
    by_name = linear_projections(block)
    if projection in SHORT_NAMES:
        found = SHORT_NAMES[projection](block)
    elif projection in by_name:
        found = [by_name[projection]]
    else:
        valid = [*SHORT_NAMES, *by_name]
        raise UserError(f"unknown projection '{projection}'{nearest(projection, valid)}")
    return [linear.weight.double() for linear in found]


def _size(matrices: list[torch.Tensor], norm: str) -> float:
    sizes = [torch.linalg.matrix_norm(matrix, ord=NORMS[norm]).item() for matrix in matrices]
    return sum(size * size for size in sizes) ** 0.5
