"""Activations that label trajectories read: every block's output at every saved step of fine-tuning."""

from workflow.lib.activations.plan import STEPS, Cache
from workflow.lib.base.tasks import places_of_task


def reads(config: dict, model: str, task: str) -> list[Cache]:
    return [Cache(model, STEPS, places_of_task(config, task)[0], "blocks")]
