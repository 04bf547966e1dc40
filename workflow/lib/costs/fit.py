"""Fits the speed of a core and the memory of every rule to the benchmark files of finished runs.

    python -m workflow.lib.costs.fit [<config file>,<config file>,…]=<folder of the run> …      no file: the demo

Relative errors count, not seconds, so that small jobs and large ones are met alike. No coefficient is negative.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy.optimize import nnls

from workflow.lib.base.plan import Plan
from workflow.lib.base.work import work_in
from workflow.lib.costs.estimates import FILE, core_seconds, speeds
from workflow.lib.costs.planned import planned_jobs
from workflow.lib.costs.table import plan_of

FASTEST = 1e11  # operations a second: no core multiplies matrices faster, whatever small jobs seem to say
# measured at full size by tests/benchmarks/largest.py, which demos do not reach: calls, operations, and seconds
# without the start of a job
HULLS, STEP = (289, 4.4e10, 2.0), (36, 5.25e11, 5.8)  # 16,854 x 768, 17 labels; BERT-base on 1,024 tokens
LARGE = {
    "pca": (14, 1.2e12, 16.0),  # axes of 1,000,000 x 768, a classifier on 25 components of 560,000
    "directprobe": HULLS,
    "label_distances": HULLS,
    "paths": HULLS,
    "finetune_model": STEP,
    "sweep": STEP,
    "cache_activations": (12, 1.75e11, 1.85),
    "rsa": (1, 3.84e10, 0.25),  # 5,000 x 768
    "layer_probes": (1699, 1.84e10, 2.0),  # 6,000 x 768, 13 layers
    "neurons": (70, 1.13e12, 11.3),  # a step of 16,000 x 768, 14 classes, 5 folds
}
UNITS = np.array([1.0, 1e-3, 1e-9])  # a second, a millisecond a call, a second per 1e9 operations


def measured_jobs(plan: Plan, run: Path) -> pd.DataFrame:
    """Jobs of a run that have a benchmark file: rule, work, processor seconds and largest memory."""
    rows = []
    for job in planned_jobs(plan):
        path, log = run / "benchmarks" / f"{job.name}.tsv", run / "logs" / f"{job.name}.log"
        if not path.exists():
            continue
        with path.open() as file:
            found = next(csv.DictReader(file, delimiter="\t"))
        work = work_in(log.read_text()) if log.exists() else None
        seconds = work["cpu_seconds"] if work else float("nan")
        took = {"core_seconds": seconds, "mb": pd.to_numeric(found["max_rss"], errors="coerce")}
        counted = {"starts": 1.0, "calls": job.work.calls, "flops": job.work.flops, "held": job.work.held / 1e6}
        rule = job.rule.replace("cache_temporarily", "cache_activations")
        rows.append({"rule": rule, "name": job.name} | counted | took)
    return pd.DataFrame(rows)


def fitted_speed(jobs: pd.DataFrame) -> dict:
    jobs = jobs.dropna(subset="core_seconds")
    terms = np.stack([jobs["starts"], jobs["calls"], jobs["flops"]], axis=1) * UNITS
    found = nnls(terms / jobs["core_seconds"].to_numpy()[:, None], np.ones(len(jobs)))[0] * UNITS
    start, call, of_flop = map(float, found)
    return {"start": start, "call": call, "speed": min(FASTEST, 1 / of_flop if of_flop else FASTEST)}


def basis(rule: str, n_jobs: int, speed: float) -> str:
    """What a speed rests on."""
    if rule in LARGE:
        return "full size"
    return "assumed" if speed == FASTEST else "small jobs" if n_jobs > 2 else "two small jobs"


def fitted_memory(jobs: pd.DataFrame) -> dict:
    """Python and its libraries, as the smallest job has them, and what jobs take for each byte that they hold: never
    less than one, and as much as the job that takes the most, of those that hold enough to tell."""
    jobs = jobs.dropna(subset="mb")
    base = float((jobs["mb"] - jobs["held"]).min().clip(50))
    large = jobs[jobs["held"] > 100]
    over = ((large["mb"] - base) / large["held"]).max() if len(large) else 1.0
    short = (jobs["mb"] - jobs["held"] * max(1.0, over)).max()
    return {"base_mb": max(base, float(short)), "per_byte": max(1.0, float(over))}


def rounded(number: float) -> float:
    return float(f"{number:.3g}")


def as_whole(plan: Plan, run: Path, jobs: pd.DataFrame) -> str:
    """What all measured jobs of a run were estimated at, against what they took, and the same of its disk."""
    speeds.cache_clear()
    done = [job for job in planned_jobs(plan) if job.name in set(jobs["name"])]
    seconds = sum(core_seconds(job.rule, job.work) for job in done) / jobs["core_seconds"].sum()
    files = [path for stage in ("models", "activations") for path in (run / stage).rglob("*") if path.is_file()]
    size = sum(job.work.kept + job.work.passing for job in done) / max(1, sum(path.stat().st_size for path in files))
    return f"{run}: estimated / measured {seconds:.2f} in core-seconds, {size:.2f} in bytes of models and activations"


if __name__ == "__main__":
    runs = [argument.split("=", 1) for argument in sys.argv[1:]]
    plans = {Path(run): plan_of(names.split(",") if names else []) for names, run in runs}
    by_run = {run: measured_jobs(plan, run) for run, plan in plans.items()}
    jobs = pd.concat(by_run.values())
    found, known = {}, speeds()["core"]
    for rule, of_rule in jobs.groupby("rule"):
        large = pd.DataFrame([LARGE[rule]] if rule in LARGE else [], columns=["calls", "flops", "core_seconds"])
        large["starts"] = 0.0
        # full size counts three times as much as all small jobs together: plans matter where work is large
        whole = large.loc[large.index.repeat(3 * len(of_rule))]
        memory = fitted_memory(of_rule)
        # a peak that was seen once stays: short jobs on a fast machine are over before Snakemake looks at them
        memory |= {key: max(value, known.get(rule, {}).get(key, value)) for key, value in memory.items()}
        both = fitted_speed(pd.concat([of_rule, whole])) | memory
        found[rule] = {name: rounded(value) for name, value in both.items()} | {"jobs": len(of_rule)}
        found[rule]["basis"] = basis(rule, len(of_rule), found[rule]["speed"])
        of = found[rule]
        ratio = (of["start"] + of["call"] * of_rule["calls"] + of_rule["flops"] / of["speed"]) / of_rule["core_seconds"]
        print(f"{rule:20} {len(of_rule):4} jobs, predicted / measured {ratio.min():.2f} to {ratio.max():.2f}", of)
    lines = [f"  {rule}: {yaml.safe_dump(of, default_flow_style=True, width=200)}" for rule, of in found.items()]
    FILE.write_text(FILE.read_text().partition("core:\n")[0] + "core:\n" + "".join(lines))
    for run, plan in plans.items():
        print(as_whole(plan, run, by_run[run]))
