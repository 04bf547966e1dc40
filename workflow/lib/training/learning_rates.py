"""Optimiser groups in which every layer may learn at its own rate (Matton and de Oliveira 2019)."""

from collections.abc import Iterator

from torch import nn
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.encoders.layers import blocks, is_norm, parts

EMBEDDINGS_LR_MODES = ("decayed", "full")


def layer_rate(layer: int, n_layers: int, lr: float, layer_decay: float, embeddings_lr_mode: str) -> float:
    """lr * decay^(L - layer); what stands above the blocks learns like the last one.

    Matton and de Oliveira's formula implies decayed embeddings, the code it builds on leaves them at the full rate.
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
    """Groups for a torch optimiser: each trainable parameter in exactly one, frozen ones in none, highest rates first.

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
                continue  # placed already: a head may be tied to the embeddings, whose rate then holds
            placed.add(parameter)
            group = {"params": [], "lr": rate, "weight_decay": weight_decay if decays else 0.0}
            groups.setdefault((rate, group["weight_decay"]), group)["params"].append(parameter)
    return sorted(groups.values(), key=lambda group: (-group["lr"], -group["weight_decay"]))


def _with_decay(path: str, module: nn.Module) -> Iterator[tuple[nn.Parameter, bool]]:
    """Each parameter, and whether weight decay pulls on it: not on norms nor on biases (MPNet's of position too)."""
    norms = {p for child in module.modules() if is_norm(child) for p in child.parameters()}
    for name, parameter in module.named_parameters(prefix=path):
        yield parameter, "bias" not in name and parameter not in norms
