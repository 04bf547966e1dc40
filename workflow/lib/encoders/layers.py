"""Finds an encoder's embeddings, blocks and projections, by structure rather than by name."""

from collections.abc import Iterator
from typing import NamedTuple

from torch import nn
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError


class Part(NamedTuple):
    """A part of an encoder. Layer: 0 below the blocks, 1..L a block, L+1 above the blocks."""

    name: str
    layer: int
    module: nn.Module


def blocks(model: PreTrainedModel) -> nn.ModuleList:
    """The stack of transformer blocks: the outermost list with as many modules as the config has layers."""
    n_layers = model.config.num_hidden_layers  # DistilBERT's config maps this name to `n_layers`
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == n_layers:
            return module
    raise UserError(
        f"{type(model).__name__} has no list of {n_layers} blocks: encoders that share weights between layers (ALBERT) "
        "or nest their blocks cannot be frozen, cut or compared layer by layer"
    )


def embeddings(model: PreTrainedModel) -> nn.Module:
    """The module that embeds token ids, including position embeddings and norm."""
    table = model.get_input_embeddings()
    return next(child for child in model.children() if table in set(child.modules()))


def linear_projections(block: nn.Module) -> dict[str, nn.Linear]:
    """All linear projections of a block by name: six in BERT, four in ModernBERT, whose Wqkv and Wi are fused."""
    return {name: module for name, module in block.named_modules() if isinstance(module, nn.Linear)}


def output_projection(block: nn.Module) -> nn.Linear:
    """The last feed-forward projection, which writes the block's output (BertOutput.dense and its equivalents)."""
    return list(linear_projections(block).values())[-1]


def is_norm(module: nn.Module) -> bool:
    # also by name, because many architectures define their own norm class
    return isinstance(module, nn.LayerNorm | nn.RMSNorm) or type(module).__name__.endswith("Norm")


def parts(model: PreTrainedModel) -> list[Part]:
    """All parts of the encoder, bottom to top; every parameter is in exactly one.

    A module outside the blocks that is neither a pooler nor a final norm belongs to layer 0: ELECTRA's projection of
    narrow embeddings acts below the blocks, and MPNet's relative position bias acts in all of them, so that frozen
    lower blocks compute the same only if it is frozen too.
    """
    stack, found = blocks(model), []
    passed_stack = False
    for name, module in _pieces(model, {stack, embeddings(model)}):
        if module is stack:
            found += [Part(f"{name}.{index}", index + 1, block) for index, block in enumerate(stack)]
            passed_stack = True
        elif any(True for _ in module.parameters()):
            # only direct children of the model: a norm deeper inside (DeBERTa's) may belong to position embeddings
            above = passed_stack and "." not in name and (is_norm(module) or name == "pooler")
            found.append(Part(name, len(stack) + 1 if above else 0, module))
    covered = {id(p) for part in found for p in part.module.parameters()}
    loose = [name for name, p in model.named_parameters() if id(p) not in covered]
    if loose:
        raise UserError(f"{type(model).__name__} keeps parameters outside its modules: {', '.join(loose)}")
    return sorted(found, key=lambda part: part.layer)


def final_norm(model: PreTrainedModel) -> nn.Module | None:
    """The norm after the last block, which only pre-norm encoders (ModernBERT) have; otherwise None."""
    above = (part.module for part in parts(model) if part.layer > len(blocks(model)))
    return next((module for module in above if is_norm(module)), None)


def _pieces(module: nn.Module, landmarks: set[nn.Module], path: str = "") -> Iterator[tuple[str, nn.Module]]:
    """The largest modules that contain no landmark, and the landmarks themselves, in order of registration."""
    for name, child in module.named_children():
        here = f"{path}.{name}" if path else name
        if child not in landmarks and landmarks & set(child.modules()):
            yield from _pieces(child, landmarks, here)
        else:
            yield here, child
