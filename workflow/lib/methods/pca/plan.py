"""Activations that PCA reads: the last layer's [CLS] of general sentences and of a task's rows."""

from workflow.lib.activations.plan import Cache
from workflow.lib.base.tasks import places_of_task


def reads(config: dict, model: str, task: str) -> list[Cache]:
    general = Cache(model, "cls", config["pca"]["general"], "last", labels=False)
    return [general, *(Cache(model, "cls", place, "last") for place in places_of_task(config, task))]
