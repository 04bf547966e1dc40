"""What an encoder makes of a batch, layer by layer."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache

import torch
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError
from workflow.lib.encoders.layers import blocks, final_norm


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
        self.model, self.blocks, self.norm = model, blocks(model), final_norm(model)

    @property
    def n_blocks(self) -> int:
        return len(self.blocks)

    def run(self, batch: Mapping[str, torch.Tensor], see: Callable[[int, torch.Tensor], None]) -> None:
        """`see(layer, state)`: layer 0 (what enters the first block) to L (what leaves the last), as soon as each is
        there: what is taken of it then is still in the processor's cache, and it need not be kept.

        transformers' `hidden_states` has layer L behind ModernBERT's final norm and the others before it. Here all are
        before it, so that layers compare with each other and layer k depends on nothing above block k: it is the same
        in a model cut at k, and fine-tuning leaves it alone if blocks 1..k were frozen. What a head reads is `read_out`
        of the last one. Mode (eval or train) and gradients are the caller's choice.
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
            out = self.model(**model_inputs(self.model, batch))
        finally:
            for hook in hooks:
                hook.remove()
        if not hooks:  # embeddings are all that is left of a cut encoder
            entering(None, (out.last_hidden_state,), {})
        if len(seen) != self.n_blocks + 1:
            raise UserError(f"{type(self.model).__name__} ran {len(seen) - 1} of its {self.n_blocks} blocks")

    def read_out(self, hidden: torch.Tensor) -> torch.Tensor:
        """A state as a head reads it: through the final norm, if there is one. Of layer L: last_hidden_state."""
        return hidden if self.norm is None else self.norm(hidden)
