"""The parameters of a probe: their shapes, where they stand in a row, and what they begin with."""

from dataclasses import dataclass
from math import prod

import torch

from workflow.lib.methods.edges.examples import Split
from workflow.lib.methods.edges.settings import EdgeSettings


@dataclass(frozen=True)
class Sizes:
    layers: int
    width: int
    spans: int
    labels: int


def sizes_of(split: Split, n_labels: int) -> Sizes:
    _, layers, _, width = split.vectors.shape
    return Sizes(layers, width, split.n_spans, n_labels)


def shapes_of(sizes: Sizes, settings: EdgeSettings) -> dict[str, tuple[int, ...]]:
    """Of one lane's parameters. Where biases are added to rows they are a row."""
    projection, hidden = settings.projection, settings.hidden
    return {
        "scalars": (sizes.layers,),
        "gamma": (1,),
        "project": (sizes.spans, sizes.width, projection),
        "project_bias": (sizes.spans, 1, projection),
        "attention": (sizes.spans, projection, 1),
        "hidden": (sizes.spans, projection, hidden),
        "hidden_bias": (1, hidden),
        "norm": (1, hidden),
        "norm_bias": (1, hidden),
        "output": (hidden, sizes.labels),
        "output_bias": (1, sizes.labels),
    }


def views(flat: torch.Tensor, shapes: dict[str, tuple[int, ...]]) -> dict[str, torch.Tensor]:
    """The parameters (m, ...) by name within a (m, parameters) matrix."""
    parts = flat.split([prod(shape) for shape in shapes.values()], dim=1)
    return {name: part.unflatten(1, shape) for (name, shape), part in zip(shapes.items(), parts)}


def first_parameters(shapes: dict[str, tuple[int, ...]], generator: torch.Generator) -> torch.Tensor:
    """(1, parameters): linear layers as PyTorch begins them, layers mixed equally."""
    flat = torch.zeros(1, sum(prod(shape) for shape in shapes.values()))
    parts = views(flat, shapes)
    spans, width, projection = shapes["project"]
    n_inputs = {"project": width, "attention": projection, "hidden": spans * projection, "output": shapes["output"][0]}
    for name, n in n_inputs.items():
        for key in (name, f"{name}_bias"):
            if key in parts:  # attention needs no bias: it would move all scores of a span alike
                parts[key].uniform_(-(n**-0.5), n**-0.5, generator=generator)
    for name in ("gamma", "norm"):
        parts[name].fill_(1)
    return flat
