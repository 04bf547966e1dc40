"""Where a page's numbers come from: versions, commit, machine, and what every rule took."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.base.gpus import gpus_here
from workflow.lib.base.machine import cores, processor
from workflow.lib.base.performance import jobs_of, time_by, without_pauses

PACKAGES = (
    *("snakemake", "torch", "transformers", "datasets", "scikit-learn", "scipy", "numpy", "pandas"),
    *("pyarrow", "matplotlib"),
)


def versions() -> dict[str, str]:
    return {"Python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def commit() -> str:
    """Of the workflow's own repository; a copy without one has none."""

    def git(*arguments: str) -> str:
        asked = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=20).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != ROOT:
            return "unknown (a copy outside its repository)"
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + (", with changes that are not committed" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown (no git, or a copy outside its repository)"


def machine() -> str:
    """This one: on a cluster not the one that trained."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    gpus = gpus_here()
    graphics = f"{len(gpus)} GPU{'s' if len(gpus) > 1 else ''}" if gpus else "no GPU"
    return f"{processor()}, {cores()}, {gigabytes:.0f} GB of memory, {graphics}, {platform.system()}"


def duration(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {seconds % 60:.0f} s"


def times(run: Path) -> tuple[str, pd.DataFrame]:
    """How long the run took and on what, in words, and jobs, core-seconds, longest job and hardware by rule; the
    slowest rule first."""
    try:
        jobs = without_pauses(jobs_of(run, without="page"))
    except UserError as error:
        return f"time unknown ({error})", pd.DataFrame()
    jobs["on"] = jobs["on"].fillna("unknown hardware") if "on" in jobs else "unknown hardware"
    by_rule = time_by(jobs, "rule")
    longest = (jobs["end"] - jobs["begin"]).groupby(jobs["rule"]).max()
    work = f"{jobs['cpu_seconds'].sum():,.0f} core-seconds in {len(jobs)} jobs"
    text = f"{duration(jobs['end'].max())} from the first job to the last, {work}, on {_names(jobs['on'])}"
    table = pd.DataFrame({"rule": by_rule.index, "jobs": by_rule["jobs"], "core-seconds": by_rule["seconds"].round(1),
                          "longest job (s)": longest.reindex(by_rule.index).round(1),
                          "on": jobs.groupby("rule")["on"].agg(_names).reindex(by_rule.index)})  # fmt: skip
    return text, table.reset_index(drop=True)


def _names(hardware: pd.Series) -> str:
    return "; ".join(sorted(set(hardware)))
