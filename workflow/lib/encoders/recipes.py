"""Recipes: how an encoder is adapted before and during fine-tuning.

full         all weights are trained
freeze-k     embeddings and the first k blocks are frozen
truncate-k   only the first k blocks are kept
reinit-k     the top k blocks are re-initialised
nearzero-k   the same as in the authors' later code: weights near zero and reset norms, so that a block is close to the
             identity
frozen       the whole encoder is frozen, only the head is trained

Frozen blocks still apply dropout in training mode; call `eval()` for fixed features.
"""

import copy
import re
from typing import NamedTuple

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.encoders.layers import blocks, is_norm, linear_projections, parts

WITHOUT_DEPTH = ("full", "frozen")
WITH_DEPTH = ("freeze", "truncate", "reinit", "nearzero")
SD = 0.02
# Singh and Giovanardi (2020) truncate the normal distribution at two standard deviations. Their later code passes the
# bounds of the weights, 2 x 0.02, to a function that expects standard deviations, and so truncates at 0.04 of one.
REINITIALISED = ("reinit", "nearzero")


class Recipe(NamedTuple):
    name: str
    depth: int | None


def parse_recipe(text: str, n_layers: int | None = None) -> Recipe:
    """Parse a recipe; its depth is checked if the number of layers is given."""
    if text in WITHOUT_DEPTH:
        return Recipe(text, None)
    # one spelling per recipe (no freeze-03), because recipes become folder names
    match = re.fullmatch(rf"({'|'.join(WITH_DEPTH)})-(0|[1-9][0-9]*)", str(text))
    if not match:
        valid = [*WITHOUT_DEPTH, *(f"{name}-k" for name in WITH_DEPTH)]
        stem = re.sub(r"-?\d*$", "", str(text))
        hint = nearest(stem if stem in WITHOUT_DEPTH else f"{stem}-k", valid)
        raise UserError(f"recipe '{text}' is none of {', '.join(valid)}{hint}")
    recipe = Recipe(match[1], int(match[2]))
    if n_layers is not None and recipe.depth > n_layers:
        raise UserError(
            f"recipe '{text}' asks for {recipe.depth} layers; this encoder has {n_layers}, so k is 0..{n_layers}"
        )
    return recipe


def apply_recipe(
    model: PreTrainedModel,
    recipe: str,
    seed: int,
    *,
    reinit_sd: float = SD,
    reinit_bias: bool = False,
    reinit_layernorm: bool = False,
) -> PreTrainedModel:
    """Adapt a freshly loaded encoder in place, and return it. The options apply to `reinit-k` and `nearzero-k`.

    `reinit_layernorm` is an option because the paper does not mention norms; `nearzero-k`, the later code, always
    resets them.
    """
    name, depth = parse_recipe(recipe, len(blocks(model)))
    if name == "frozen":
        model.requires_grad_(False)
    elif name == "freeze":
        freeze(model, depth)
    elif name == "truncate":
        truncate(model, depth)
    elif name in REINITIALISED:
        near = name == "nearzero"
        bound = 2 * reinit_sd * (reinit_sd if near else 1)
        reinitialise(model, depth, seed, reinit_sd, bound, reinit_bias, reinit_layernorm or near)
    return model


def freeze(model: PreTrainedModel, n_frozen: int) -> None:
    for part in parts(model):
        if part.layer <= n_frozen:
            part.module.requires_grad_(False)


def truncate(model: PreTrainedModel, n_kept: int) -> None:
    """Drop the blocks above the first `n_kept`; modules above the stack (ModernBERT's final norm) are kept."""
    layer_types = getattr(model.config, "layer_types", None)
    if layer_types is not None and n_kept == 0:
        raise UserError("truncate-0: transformers cannot reload a ModernBERT without blocks; k must be at least 1")
    del blocks(model)[n_kept:]
    # a copy, because models made from one config object share it; every submodule must see the new one
    old, new = model.config, copy.deepcopy(model.config)
    new.num_hidden_layers = n_kept
    if layer_types is not None:
        new.layer_types = layer_types[:n_kept]
    for module in model.modules():
        if getattr(module, "config", None) is old:
            module.config = new


@torch.no_grad()
def reinitialise(
    model: PreTrainedModel, n_top: int, seed: int, sd: float, bound: float, bias: bool, layernorm: bool
) -> None:
    """Re-initialise the projections of the top blocks from a normal distribution truncated at `bound`.

    From the top down and on the CPU, so that a block's weights do not depend on `n_top` or the device.
    """
    generator = torch.Generator().manual_seed(seed)
    for block in list(blocks(model))[::-1][:n_top]:
        for linear in linear_projections(block).values():
            draw = torch.empty(linear.weight.shape)
            linear.weight.copy_(nn.init.trunc_normal_(draw, 0, sd, -bound, bound, generator))
            if bias and linear.bias is not None:
                linear.bias.zero_()
        for norm in filter(is_norm, block.modules() if layernorm else ()):
            norm.weight.fill_(1)
            if getattr(norm, "bias", None) is not None:
                norm.bias.zero_()
