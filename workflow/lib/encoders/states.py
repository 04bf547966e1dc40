"""Hidden states of a batch, layer by layer."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache

import torch
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from workflow.lib.base.errors import UserError
from workflow.lib.base.work import count
from workflow.lib.encoders.layers import blocks, final_norm


@cache
def _parameters(model_class: type) -> frozenset[str]:
    """Names of the parameters of `forward`; cached, because reading a signature takes as long as a small layer."""
    return frozenset(inspect.signature(model_class.forward).parameters)


def model_inputs(model: PreTrainedModel, batch: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The inputs that the encoder accepts (DistilBERT and ModernBERT have no token types, RoBERTa only one)."""
    known = _parameters(type(model))
    if getattr(model.config, "type_vocab_size", 2) < 2:
        known = known - {"token_type_ids"}
    return {name: tensor for name, tensor in batch.items() if name in known}


def forward(model: PreTrainedModel, batch: Mapping[str, torch.Tensor]) -> BaseModelOutput:
    """The encoder's output for a batch. Every pass of an encoder is made here, where its tokens are counted."""
    count("forward_tokens", batch["input_ids"].numel())
    return model(**model_inputs(model, batch))


class StateReader:
    """Reads the hidden states of all layers of one encoder, whose blocks and final norm are looked up once."""

    def __init__(self, model: PreTrainedModel):
        self.model, self.blocks, self.norm = model, blocks(model), final_norm(model)

    @property
    def n_blocks(self) -> int:
        return len(self.blocks)

    def run(self, batch: Mapping[str, torch.Tensor], see: Callable[[int, torch.Tensor], None]) -> None:
        """Run a batch and call `see(layer, state)` for layer 0 (the input of the first block) to L (the last block's
        output), as soon as each is computed: it is then still in the processor's cache, and need not be stored.

        In transformers' `hidden_states`, only layer L has passed ModernBERT's final norm. Here no layer has, so that
        layers are comparable and layer k depends on nothing above block k: it is the same in a model truncated at k,
        and fine-tuning does not change it if blocks 1..k are frozen. Heads read `read_out` of the last layer. Mode
        (eval or train) and gradients are the caller's choice.
        """
        seen = []

        def entering(_, args, kwargs):
            seen.append(0)
            see(0, args[0] if args else kwargs["hidden_states"])

        def leaving(_, args, out):
            seen.append(len(seen))
            see(seen[-1], out[0] if isinstance(out, tuple) else out)

        above_embeddings = next(iter(self.blocks), self.norm)
        hooks = [above_embeddings.register_forward_pre_hook(entering, with_kwargs=True)] if above_embeddings else []
        hooks += [block.register_forward_hook(leaving) for block in self.blocks]
        try:
            out = forward(self.model, batch)
        finally:
            for hook in hooks:
                hook.remove()
        if not hooks:  # truncate-0: only the embeddings are left
            entering(None, (out.last_hidden_state,), {})
        if len(seen) != self.n_blocks + 1:
            raise UserError(f"{type(self.model).__name__} ran {len(seen) - 1} of its {self.n_blocks} blocks")

    def read_out(self, hidden: torch.Tensor) -> torch.Tensor:
        """The state as a head reads it, after the final norm, if any; for layer L this is last_hidden_state."""
        return hidden if self.norm is None else self.norm(hidden)
