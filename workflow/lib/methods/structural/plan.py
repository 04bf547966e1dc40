"""Activations that structural probes read: every layer of every word of a treebank."""

from workflow.lib.activations.plan import Cache

SPLITS = ("train", "dev", "test")


def reads(config: dict, model: str, treebank: str) -> list[Cache]:
    places = [f"{treebank}/{split}" for split in SPLITS]
    return [Cache(model, "word", place, "all") for place in places]
