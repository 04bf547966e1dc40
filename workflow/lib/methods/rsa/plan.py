"""Activations that representational similarity reads: the same sampled tokens in a model and in its encoder."""

from workflow.lib.activations.plan import Cache
from workflow.lib.base.names import encoder_of, place_of, pretrained

FIRST = ".first"  # ending of targets that are the first texts of pairs alone


def reads(config: dict, model: str, target: str) -> list[Cache]:
    """`target`: <dataset>-<split> of the text, or <dataset>-<split>.first for its first texts alone."""
    unit = "sampled_first" if target.endswith(FIRST) else "sampled"
    models = (pretrained(encoder_of(model)), model)
    return [Cache(of, unit, place_of(target.removesuffix(FIRST)), "all", labels=False) for of in models]
