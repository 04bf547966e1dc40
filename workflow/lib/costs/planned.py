"""The jobs of a run with the work of each, before any of them runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from workflow.lib.base.names import encoder_of, model_of
from workflow.lib.base.plan import Plan
from workflow.lib.costs import analyses
from workflow.lib.costs.encoders import caching, encoder_shape, n_saved_steps, tuning
from workflow.lib.costs.sizes import measured
from workflow.lib.costs.work import Work
from workflow.lib.methods.edges.plan import MOST_IN_MEMORY

CACHING = ("cache_activations", "cache_temporarily")
STAGES = {"finetune_model": "models", "sweep": "sweeps", **dict.fromkeys(CACHING, "activations")}  # folders of logs
ON_GPU = {*STAGES, "edges", "description_length", "structural", "mlp", "neurons"}
SINGLE = {"directprobe", "paths", "label_distances"}  # a job each, whatever `share` says
MEGABYTE = 1e6


@dataclass(frozen=True)
class Planned:
    rule: str
    paper: str  # the first that asks for it
    name: str  # of its benchmark file
    items: tuple[str, ...]
    work: Work


def work_of(plan: Plan, rule: str, item: str) -> Work:
    """What one item of a rule takes."""
    config = plan.config
    if rule in ("finetune_model", "sweep"):
        return tuning(config, item, plan.training(item, is_sweep=rule == "sweep"), is_sweep=rule == "sweep")
    if rule in CACHING:
        training = plan.training(model_of(item)) if "/steps/" in item else None
        settings = plan.cache_settings(item)
        return caching(config, item, settings["places"], settings, training)
    if rule == "paths":
        return analyses.paths(config, item, n_saved_steps(config, plan.training(model_of(item))))
    if rule in ("edges", "description_length"):
        return getattr(analyses, rule)(config, item, MOST_IN_MEMORY)
    return getattr(analyses, rule)(config, item)


def planned_jobs(plan: Plan) -> Iterator[Planned]:
    """Jobs that compute: models, activations and analyses, not downloads and drawings."""
    for rule, items in plan.items.items():
        for job in plan.jobs(rule):
            is_single = job.items is None or rule in SINGLE
            for of_job in [[item] for item in job.items or items] if is_single else [list(job.items)]:
                name = of_job[0] if is_single else job.name
                total = sum((work_of(plan, rule, item) for item in of_job), start=Work())
                yield Planned(rule, items[of_job[0]][0], f"{STAGES.get(rule, rule)}/{name}", tuple(of_job), total)


def downloads(plan: Plan) -> dict[str, float]:
    """Bytes by what is downloaded: encoders from the Hub, and real data that no mirror holds."""
    config, needed = plan.config, {encoder_of(item) for items in plan.items.values() for item in items}
    found = {}
    for encoder in sorted({name.split(".")[0] for name in needed}):
        entry = config["encoders"][encoder]
        if entry["source"] == "hub" and "path" not in entry:
            found[entry["id"]] = 4.0 * encoder_shape(config, f"{encoder}.0").parameters
    if config["mirror"]:
        return found
    for name, entry in config["datasets"].items():
        size = measured()["real"].get(name, {}).get("megabytes")
        if entry["source"] == "real" and size:
            found[name] = size * MEGABYTE
    return found
