"""Shapes of encoders before they are fetched: from the config, or from a local encoder's folder."""

import json

from workflow.lib.base.errors import UserError
from workflow.lib.base.paths import local

LARGEST = 100_000  # of any of these: a plan has a model for each layer
NAMES = {
    "layers": ("num_hidden_layers", "n_layers"),
    "width": ("hidden_size", "dim"),
    "heads": ("num_attention_heads", "n_heads"),
    "feed_forward": ("intermediate_size", "hidden_dim"),
}


def shape_of(config: dict, encoder: str, what: str) -> int | None:
    """One of NAMES, of `<name>.<seed>` or `<name>`; None if unknown before the encoder is fetched."""
    name = encoder.split(".")[0]
    entry = config["encoders"][config["encoders"][name].get("like", name)]
    if "path" in entry:
        try:
            about = json.loads((local(entry["path"]) / "config.json").read_text())
        except (OSError, ValueError, RecursionError):
            about = {}
        # the rule that reads the folder will report the error: a number of layers that is none, or no mapping at all
        found = [about.get(key) for key in NAMES[what]] if isinstance(about, dict) else []
        if sizes := [size for size in found if type(size) is int and 0 < size < LARGEST]:
            return sizes[0]
    return entry.get(what)


def layers_of(config: dict, encoder: str) -> int:
    """Number of blocks."""
    found = shape_of(config, encoder, "layers")
    if not found:
        name = encoder.split(".")[0]
        raise UserError(
            f"config: encoders.{name}.layers is missing: a sweep must know how deep the encoder is before it is fetched"
        )
    return found


def are_all(config: dict, encoders: list[str], name: str) -> bool:
    """Are all of these the encoder that a paper calls so? Only then do its numbers stand beside theirs."""
    return set(published_as(config, encoders).values()) == {name} and len(published_as(config, encoders)) == len(
        encoders
    )


def published_as(config: dict, encoders: list[str]) -> dict[str, str]:
    """Encoders that a paper used -> their names in its tables; only these are compared with published numbers."""
    names = {encoder: config["encoders"][encoder.split(".")[0]].get("published_as") for encoder in encoders}
    return {encoder: name for encoder, name in names.items() if name}
