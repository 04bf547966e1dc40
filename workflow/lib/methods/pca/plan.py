"""What the principal component analyses of a model on a task read."""

from workflow.lib.activations.plan import Cache
from workflow.lib.base.tasks import places_of_task


def reads(config: dict, model: str, task: str) -> list[Cache]:
    general = Cache(model, "cls", config["pca"]["general"], "last", labels=False)
    return [general, *(Cache(model, "cls", place, "last") for place in places_of_task(config, task))]
