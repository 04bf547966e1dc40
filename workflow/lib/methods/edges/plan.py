"""Activations that edge probes read: every layer of the tokens inside a dataset's spans."""

from workflow.lib.activations.plan import Cache, sentences_of

SPLITS = ("train", "dev", "test")
MOST_IN_MEMORY = 6 << 30  # bytes of vectors; more are mapped from a scratch file: OntoNotes at 12 x 768 takes 50 GB


def reads(config: dict, model: str, dataset: str) -> list[Cache]:
    places = [f"{dataset}/{split}" for split in SPLITS]
    return [Cache(model, "span", place, "all", text=sentences_of(config, place)) for place in places]
