"""`make plan`: what a run will take, by paper and rule, before anything runs.

python -m workflow.lib.costs.table [config file …] [key=value …]
"""

import sys
from pathlib import Path

import pandas as pd
import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

from workflow.lib.base.digests import ROOT
from workflow.lib.base.names import encoder_of, is_pretrained, model_of
from workflow.lib.base.plan import Plan
from workflow.lib.base.start import start
from workflow.lib.costs.encoders import encoder_shape
from workflow.lib.costs.estimates import core_seconds, gpu_seconds, memory_mb, of_core, speeds
from workflow.lib.costs.planned import ON_GPU, Planned, downloads, planned_jobs, work_of

CORES_PER_GPU = 8
GPU = "a100"
READ_SLOWLY = ("steps", "cls/wikipedia")


def plan_of(presets: list[str], changes: dict | None = None) -> Plan:
    """The plan of config files laid over the demo's."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    for each in [*(yaml.safe_load(Path(preset).read_text()) for preset in presets), changes or {}]:
        update_config(config, each)
    return start(config)[1]


def seconds_of(plan: Plan, job: Planned) -> tuple[float, bool]:
    """What a job takes, and whether of a GPU."""
    is_gpu = bool(plan.config["gpu"]) and job.rule in ON_GPU
    return gpu_seconds(job.rule, job.work, GPU) if is_gpu else core_seconds(job.rule, job.work), is_gpu


def rows_of(plan: Plan) -> pd.DataFrame:
    """One row per job that computes."""

    def row(job: Planned) -> dict:
        seconds, is_gpu = seconds_of(plan, job)
        work, gigabytes = job.work, {"memory": memory_mb(job.rule, job.work) / 1e3}
        gigabytes |= {"kept": work.kept / 1e9, "passing": work.passing / 1e9, "scratch": work.scratch / 1e9}
        return {
            "paper": job.paper,
            "rule": job.rule,
            "model": model_of(job.items[0]),
            "gpu_hours": seconds / 3600 if is_gpu else 0.0,
            "core_hours": 0.0 if is_gpu else seconds / 3600,
            **gigabytes,
        }

    return pd.DataFrame(map(row, planned_jobs(plan)))


def by_rule(rows: pd.DataFrame) -> pd.DataFrame:
    found = rows.groupby(["paper", "rule"], sort=False).agg(
        jobs=("rule", "size"), gpu_hours=("gpu_hours", "sum"), core_hours=("core_hours", "sum"),
        memory=("memory", "max"), kept=("kept", "sum"), passing=("passing", "sum"), scratch=("scratch", "max"),
    )  # fmt: skip
    return found.reset_index()


def passing_vectors(plan: Plan) -> pd.DataFrame:
    """Temporary vectors: what makes them temporary, whose they are, and gigabytes."""
    items = [("cache_temporarily", item, plan.temporary_as(item)) for item in plan.items.get("cache_temporarily", {})]
    items += [("finetune_model", model, "steps") for model in plan.items.get("finetune_model", {})]
    rows = [(entry, model_of(item), work_of(plan, rule, item).passing / 1e9) for rule, item, entry in items]
    return pd.DataFrame([row for row in rows if row[2]], columns=["entry", "model", "gigabytes"])


def disk(plan: Plan, rows: pd.DataFrame, jobs_at_once: int = 1) -> dict[str, float]:
    """Gigabytes that stay, and the most at a time: with what the largest jobs write for themselves, and with temporary
    vectors. Analyses that read these go before what makes more (Plan.priority), so that only one model more than there
    are jobs has some; but encoders' wait for all models that are compared with them, and PCA and trajectories, hours on
    the CPU, may lag behind all."""
    encoders = {encoder_of(model) for model in rows["model"]}
    stays = rows["kept"].sum() + sum(downloads(plan).values()) / 1e9
    stays += sum(4 * encoder_shape(plan.config, encoder).parameters for encoder in encoders) / 1e9
    passing, waiting = passing_vectors(plan), 0.0
    if "steps" not in plan.config["activations"]["temporary"]:
        stays += passing.loc[passing["entry"] == "steps", "gigabytes"].sum()
        passing = passing[passing["entry"] != "steps"]
    for entry, of_entry in passing.groupby("entry"):
        of_models = of_entry.groupby("model")["gigabytes"].sum()
        is_compared = of_models.index.map(is_pretrained) & entry.startswith("sampled")
        n_alive = len(of_models) if entry in READ_SLOWLY else 1 + jobs_at_once
        waiting += of_models[is_compared].sum() + of_models[~is_compared].nlargest(n_alive).sum()
    return {"stays": stays, "peak": stays + waiting + rows["scratch"].nlargest(jobs_at_once).sum()}


def wall_hours(rows: pd.DataFrame, n_gpus: int, n_cores: int) -> float:
    """The share of the work that falls to each, but no less than a chain: tune a model, cache it, analyse it."""
    longest = rows.groupby("rule")[["gpu_hours", "core_hours"]].max().sum(axis=1)
    groups = {"finetune_model": "model", "cache_activations": "cache", "cache_temporarily": "cache"}
    chain = longest.groupby(longest.index.map(lambda rule: groups.get(rule, "analysis"))).max().sum()
    return max(rows["gpu_hours"].sum() / max(1, n_gpus), rows["core_hours"].sum() / n_cores, chain)


def page(plan: Plan) -> str:
    rows, loaded = rows_of(plan), downloads(plan)
    table = by_rule(rows).rename(columns={"memory": "memory GB", "kept": "disk GB", "passing": "temporary GB"})
    gpu_hours, core_hours = rows["gpu_hours"].sum(), rows["core_hours"].sum()
    space = [disk(plan, rows, n) for n in (1, 4, 16)]
    text = [
        f"# {plan.config['run']}: what it takes",
        "",
        table.to_string(index=False, float_format="{:.2f}".format),
        "",
    ]
    text += [
        f"In all: {len(rows):,} jobs, {gpu_hours:,.1f} GPU hours, {core_hours:,.1f} core hours.",
        f"Largest memory of a job: {rows['memory'].max():.1f} GB ({rows.loc[rows['memory'].idxmax(), 'rule']}).",
        f"Disk: {space[0]['stays']:.1f} GB stay; at most {space[0]['peak']:.1f} GB with one job at a time, "
        f"{space[1]['peak']:.1f} GB with 4, {space[2]['peak']:.1f} GB with 16.",
        f"Downloads: {sum(loaded.values()) / 1e9:.2f} GB ({', '.join(loaded) or 'nothing'}).",
    ]
    if plan.config["gpu"]:
        of = speeds()["gpu"][GPU]
        hours = ", ".join(f"{wall_hours(rows, n, CORES_PER_GPU * n):.1f} h on {n}" for n in (1, 4, 16))
        text += [
            f"Wall time: {hours} GPUs with {CORES_PER_GPU} cores each. Assumed of a GPU ({GPU}): {1e3 * of['call']:g}"
            f" ms a call, {of['speed']:.0e} operations a second (workflow/resources/speeds.yaml)."
        ]
    else:
        minutes = ", ".join(f"{60 * wall_hours(rows, 0, n):.0f} min on {n}" for n in (1, 2, 8))
        text += [f"Wall time: {minutes} cores; data, drawings and tables not counted."]
    text += [f"Speeds of cores rest on: {', '.join(bases(rows))}."]
    return "\n".join([*text, ""])


def bases(rows: pd.DataFrame) -> list[str]:
    """Of rules on the CPU, what their speeds rest on."""
    rules = dict.fromkeys(rows.loc[rows["core_hours"] > 0, "rule"])
    by_basis: dict[str, list[str]] = {}
    for rule in rules:
        by_basis.setdefault(of_core(rule)["basis"], []).append(rule)
    return [f"{basis} ({' '.join(of_basis)})" for basis, of_basis in by_basis.items()]


if __name__ == "__main__":
    presets = [argument for argument in sys.argv[1:] if "=" not in argument]
    given = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    try:
        print(page(plan_of(presets, {key: yaml.safe_load(value) for key, value in given.items()})))
    except WorkflowError as error:
        sys.exit(str(error))
