"""Optimiser groups with layer-wise learning rates (Matton and de Oliveira 2019)."""

from collections.abc import Iterator

from torch import nn
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.encoders.layers import blocks, is_norm, parts

EMBEDDINGS_LR_MODES = ("decayed", "full")


def layer_rate(layer: int, n_layers: int, lr: float, layer_decay: float, embeddings_lr_mode: str) -> float:
    """lr * decay^(L - layer); modules above the blocks have the rate of the last block.

    Matton and de Oliveira's formula implies a decayed rate for embeddings, the code they build on uses the full rate.
    """
    if layer == 0 and embeddings_lr_mode == "full":
        return lr
    return lr * layer_decay ** (n_layers - min(layer, n_layers))


def parameter_groups(
    encoder: PreTrainedModel,
    head: nn.Module | None,
    lr: float,
    layer_decay: float = 1.0,
    weight_decay: float = 0.0,
    head_lr: float | None = None,
    embeddings_lr_mode: str = "decayed",
) -> list[dict]:
    """Groups for a torch optimiser: each trainable parameter in exactly one, frozen ones in none; highest rates first.

    Parameters with the same rate and decay share a group, because an optimiser takes one step per group.
    """
    if embeddings_lr_mode not in EMBEDDINGS_LR_MODES:
        modes = list(EMBEDDINGS_LR_MODES)
        raise UserError(f"embeddings_lr_mode '{embeddings_lr_mode}' is unknown{nearest(embeddings_lr_mode, modes)}")
    n_layers = len(blocks(encoder))
    rated = [
        (part.name, part.module, layer_rate(part.layer, n_layers, lr, layer_decay, embeddings_lr_mode))
        for part in parts(encoder)
    ]
    if head is not None:
        rated.append(("head", head, lr if head_lr is None else head_lr))

    groups, placed = {}, set()
    for name, module, rate in rated:
        for parameter, decays in _with_decay(name, module):
            if not parameter.requires_grad or parameter in placed:
                continue  # already placed: a head may be tied to the embeddings, and then has their rate
            placed.add(parameter)
            group = {"params": [], "lr": rate, "weight_decay": weight_decay if decays else 0.0}
            groups.setdefault((rate, group["weight_decay"]), group)["params"].append(parameter)
    return sorted(groups.values(), key=lambda group: (-group["lr"], -group["weight_decay"]))


def _with_decay(path: str, module: nn.Module) -> Iterator[tuple[nn.Parameter, bool]]:
    """Each parameter, and whether weight decay applies: not to norms or biases (also MPNet's position bias)."""
    norms = {p for child in module.modules() if is_norm(child) for p in child.parameters()}
    for name, parameter in module.named_parameters(prefix=path):
        yield parameter, "bias" not in name and parameter not in norms
