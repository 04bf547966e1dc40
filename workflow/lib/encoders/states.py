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


class StateReader:
    """Reads all layers of one encoder; what is looked up in it (its blocks, its final norm) is looked up once."""

    def __init__(self, model: PreTrainedModel):
        self.model, self.n_blocks, self.norm = model, len(blocks(model)), final_norm(model)

    def hidden_states(self, batch: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Layer 0 (what enters the first block) to layer L (what leaves the last block, BEFORE a final norm).

        transformers gives layers 0..L-1 before ModernBERT's final norm but layer L after it. Here all are before it,
        so that layers compare with each other and layer k depends on nothing above block k: it is the same in a model
        cut at k, and fine-tuning leaves it alone if blocks 1..k were frozen. What a head reads is `read_out` of the
        last one. Mode (eval or train) and gradients are the caller's choice.
        """
        before_norm = []
        hook = self.norm and self.norm.register_forward_pre_hook(lambda _, inputs: before_norm.append(inputs[0]))
        try:
            inputs = model_inputs(self.model, batch)
            states = self.model(**inputs, output_hidden_states=True, return_dict=True).hidden_states
        finally:
            if hook:
                hook.remove()
        if len(states) != self.n_blocks + 1:
            raise UserError(f"{type(self.model).__name__} gave {len(states)} hidden states for {self.n_blocks} blocks")
        return (*states[:-1], *before_norm) if self.norm else tuple(states)

    def read_out(self, hidden: torch.Tensor) -> torch.Tensor:
        """A state as a head reads it: through the final norm, if there is one. Of layer L: last_hidden_state."""
        return hidden if self.norm is None else self.norm(hidden)
