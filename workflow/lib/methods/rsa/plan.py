"""Activations that representational similarity reads: the same sampled tokens in a model and in its encoder."""

from workflow.lib.activations.plan import Cache
from workflow.lib.base.names import encoder_of, place_of, pretrained


def reads(config: dict, model: str, folder: str) -> list[Cache]:
    """`folder`: the text's <dataset>-<split>."""
    models = (pretrained(encoder_of(model)), model)
    return [Cache(of, "sampled", place_of(folder), "all", labels=False) for of in models]
