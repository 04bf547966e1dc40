"""What edge probes of a model on a dataset of spans read: every layer of the tokens inside spans."""

from workflow.lib.activations.plan import Cache

SPLITS = ("train", "dev", "test")


def reads(config: dict, model: str, dataset: str) -> list[Cache]:
    places = [f"{dataset}/{split}" for split in SPLITS]
    return [Cache(model, "span", place, "all") for place in places]
