"""From work to seconds, megabytes and what rules ask a scheduler for.

seconds of a core   start + call * calls + flops / speed      memory   base + per_byte * held
of a GPU            the same with the numbers of its kind, and what its job does on a core
of both             bytes moved / speed of the disk

A core's numbers are measured, rule by rule (workflow/resources/speeds.yaml, by `python -m workflow.lib.costs.fit`);
GPUs and disks are assumptions, which `make plan` prints.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import yaml

from workflow.lib.base.plan import Plan
from workflow.lib.costs.planned import ON_GPU, work_of
from workflow.lib.costs.work import Work

FILE = Path(__file__).resolve().parents[2] / "resources/speeds.yaml"
LONGEST = 1440  # minutes: many partitions take no longer job, and training goes on where it was stopped
MARGIN_OF_TIME, MARGIN_OF_MEMORY = 3.0, 1.3
LEAST_MINUTES, LEAST_MB = (
    60,
    2000,
)  # solvers may need many more iterations on real vectors than where they were measured
OF_CUDA = 3000  # MB of a process that uses a GPU, assumed


@cache
def speeds() -> dict:
    return yaml.load(FILE.read_text(), yaml.CSafeLoader)


def of_core(rule: str) -> dict:
    """Two rules run one script."""
    return speeds()["core"][rule.replace("cache_temporarily", "cache_activations")]


def core_seconds(rule: str, work: Work) -> float:
    of = of_core(rule)
    return of["start"] + of["call"] * work.calls + work.flops / of["speed"] + aside(work)


def gpu_seconds(rule: str, work: Work, kind: str) -> float:
    of = speeds()["gpu"][kind]
    return of["start"] + of["call"] * work.calls + work.flops / of["speed"] + aside(work)


def aside(work: Work) -> float:
    """Seconds of fits by scikit-learn, whose speed is PCA's, and of the disk."""
    return work.on_core / of_core("pca")["speed"] + work.moved / speeds()["disk"]


def memory_mb(rule: str, work: Work) -> float:
    of = of_core(rule)
    return of["base_mb"] + of["per_byte"] * work.held / 1e6


def item_of(wildcards) -> list[str]:
    """Of rules with a wildcard for each part of an item."""
    return [f"{wildcards.encoder}/{wildcards.adapted}/{wildcards.task}"]


class Costs:
    """What rules ask for: functions of wildcards and attempt, as Snakemake calls them. `items_of`: wildcards -> items
    of the job. A second attempt asks for twice as much."""

    def __init__(self, plan: Plan):
        self.plan = plan

    def _work(self, rule: str, items: list[str]) -> Work:
        return sum((work_of(self.plan, rule, item) for item in items), start=Work())

    def memory(self, rule: str, items_of: Callable) -> Callable:
        def mem_mb(wildcards, attempt):
            needed = MARGIN_OF_MEMORY * memory_mb(rule, self._work(rule, items_of(wildcards)))
            needed += OF_CUDA if rule in ON_GPU and self.plan.config["gpu"] else 0
            return round(max(LEAST_MB, needed)) * 2 ** (attempt - 1)

        return mem_mb

    def minutes(self, rule: str, items_of: Callable) -> Callable:
        def runtime(wildcards, attempt):
            work = self._work(rule, items_of(wildcards))
            on_gpu = rule in ON_GPU and self.plan.config["gpu"]
            seconds = gpu_seconds(rule, work, "slow") if on_gpu else core_seconds(rule, work)
            return min(LONGEST, round(max(LEAST_MINUTES, MARGIN_OF_TIME * seconds / 60)) * 2 ** (attempt - 1))

        return runtime

    def disk(self, rule: str, items_of: Callable) -> Callable:
        def disk_mb(wildcards, attempt):
            work = self._work(rule, items_of(wildcards))
            return round(100 + MARGIN_OF_MEMORY * (work.kept + work.passing + work.scratch) / 1e6)

        return disk_mb
