"""Activations that the description length of a dataset's labels reads: those of edge probes, without the test rows."""

from workflow.lib.activations.plan import Cache

SPLITS = ("train", "dev")


def reads(config: dict, model: str, dataset: str) -> list[Cache]:
    places = [f"{dataset}/{split}" for split in SPLITS]
    return [Cache(model, "span", place, "all") for place in places]
