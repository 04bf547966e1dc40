"""What the probes of every layer of a model on a task read."""

from workflow.lib.activations.plan import Cache
from workflow.lib.base.tasks import places_of_task


def reads(config: dict, model: str, task: str) -> list[Cache]:
    return [Cache(model, "cls", place, "all") for place in places_of_task(config, task)]
