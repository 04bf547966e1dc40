"""Activations that the description length of a dataset's labels reads: those of the coded rows, and of dev."""

from workflow.lib.activations.plan import Cache, sentences_of


def splits_of(settings: dict) -> tuple[str, str]:
    """Whose labels are coded, and what early stopping looks at."""
    return settings["coded"], "dev"


def reads(config: dict, model: str, dataset: str) -> list[Cache]:
    places = [f"{dataset}/{split}" for split in splits_of(config["description_length"])]
    return [Cache(model, "span", place, "all", text=sentences_of(config, place)) for place in places]
