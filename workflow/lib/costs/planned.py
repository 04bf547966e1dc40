"""The jobs of a run with the work of each, before any of them runs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workflow.lib.base.errors import UserError
from workflow.lib.base.names import encoder_of, model_of
from workflow.lib.base.plan import Plan
from workflow.lib.costs import analyses
from workflow.lib.costs.encoders import bytes_of, caching, encoder_shape, n_saved_steps, n_vectors, tuning
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
        is_sweep = rule == "sweep"
        steps = None if is_sweep else plan.steps(item)
        return tuning(config, item, plan.training(item, is_sweep=is_sweep), steps, is_sweep)
    if rule in CACHING:
        return caching(config, item, plan.cache_settings(item), rule == "cache_temporarily")
    if rule == "paths":
        if model_of(item) not in plan.tracked:
            followed = ", ".join(sorted(plan.tracked)) or "none"
            raise UserError(f"{model_of(item)} is not followed while it is tuned; models that are: {followed}")
        return analyses.paths(config, item, n_saved_steps(config, plan.training(model_of(item))))
    if rule in ("edges", "description_length"):
        caches = (plan.cache_settings(cache) for cache in plan.cache_items(rule)(item))
        largest = max(n_vectors(config, "span", settings["places"], settings) for settings in caches)
        of_layer = largest * encoder_shape(config, encoder_of(item)).width * bytes_of(config)
        return getattr(analyses, rule)(config, item, MOST_IN_MEMORY, of_layer)
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
    for name in dict.fromkeys(place.partition("/")[0] for place in places_of(plan)):
        size = measured()["real"].get(name, {}).get("megabytes")
        if config["datasets"][name]["source"] == "real" and size:
            found[name] = size * MEGABYTE
    return found


def places_of(plan: Plan) -> list[str]:
    """<dataset>/<split> of all rows that this run reads."""
    return places_in(plan.data_files())


def places_in(files: Iterable[str]) -> list[str]:
    return [file.removeprefix("<results>/data/").removesuffix(".parquet") for file in files]
