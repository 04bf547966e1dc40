"""Activations that layer probes read: [CLS] in every layer, on a task's training and evaluation rows."""

from workflow.lib.activations.plan import Cache
from workflow.lib.base.tasks import places_of_task


def reads(config: dict, model: str, task: str) -> list[Cache]:
    return [Cache(model, "cls", place, "all") for place in places_of_task(config, task)]
