"""What the description length of a dataset's labels under a model reads: as edge probes, without the test rows."""

from workflow.lib.activations.plan import Cache

SPLITS = ("train", "dev")


def reads(config: dict, model: str, dataset: str) -> list[Cache]:
    places = [f"{dataset}/{split}" for split in SPLITS]
    return [Cache(model, "span", place, "all") for place in places]
