"""Activations that the classifier probe reads: the last layer of a task's training and evaluation rows."""

from workflow.lib.activations.plan import Cache
from workflow.lib.base.tasks import places_of_task, unit_of_task


def reads(config: dict, model: str, task: str) -> list[Cache]:
    return [Cache(model, unit_of_task(config, task), place, "last") for place in places_of_task(config, task)]
