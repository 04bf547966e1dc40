"""What an encoder makes of a batch, layer by layer."""

import inspect
from collections.abc import Mapping
from functools import cache

import torch
from transformers import PreTrainedModel

from workflow.lib.encoders.layers import blocks, final_norm
from workflow.lib.errors import UserError


@cache
def _parameters(model_class: type) -> frozenset[str]:
    """Reading a signature takes as long as a small model's layer, so it is done once."""
    return frozenset(inspect.signature(model_class.forward).parameters)


def model_inputs(model: PreTrainedModel, batch: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The part of a batch that the encoder knows (DistilBERT and ModernBERT have no token types, RoBERTa only one)."""
    known = _parameters(type(model))
    if getattr(model.config, "type_vocab_size", 2) < 2:
        known = known - {"token_type_ids"}
    return {name: tensor for name, tensor in batch.items() if name in known}


def hidden_states(model: PreTrainedModel, batch: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Layer 0 (what enters the first block) to layer L (what leaves the last block, BEFORE a final norm).

    transformers gives layers 0..L-1 before ModernBERT's final norm but layer L after it. Here all are before it, so
    that layers compare with each other and layer k depends on nothing above block k: it is the same in a model cut
    at k, and fine-tuning leaves it alone if blocks 1..k were frozen. What a head reads is `read_out` of the last one.
    Mode (eval or train) and gradients are the caller's choice.
    """
    norm, before_norm = final_norm(model), []
    hook = norm and norm.register_forward_pre_hook(lambda _, inputs: before_norm.append(inputs[0]))
    try:
        states = model(**model_inputs(model, batch), output_hidden_states=True, return_dict=True).hidden_states
    finally:
        if hook:
            hook.remove()
    if len(states) != len(blocks(model)) + 1:
        raise UserError(f"{type(model).__name__} gave {len(states)} hidden states for {len(blocks(model))} blocks")
    return (*states[:-1], *before_norm) if norm else tuple(states)


def read_out(model: PreTrainedModel, hidden: torch.Tensor) -> torch.Tensor:
    """A hidden state as a head reads it: through the final norm, if there is one. Of layer L: last_hidden_state."""
    norm = final_norm(model)
    return hidden if norm is None else norm(hidden)
