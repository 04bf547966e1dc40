"""Activations that the search for salient neurons reads: the last layer's [CLS] on training and evaluation rows."""

from workflow.lib.activations.plan import Cache
from workflow.lib.base.tasks import places_of_task


def reads(config: dict, model: str, task: str) -> list[Cache]:
    return [Cache(model, "cls", place, "last") for place in places_of_task(config, task)]
