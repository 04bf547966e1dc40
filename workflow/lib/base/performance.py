"""Where a run's time goes: docs/performance.md and docs/performance.svg from results/demo, by `make performance`.

A job's begin and end are those of its benchmark file: it is written at the end and holds the seconds. Processor time
and work are those of the last line of its log, because Snakemake looks at long jobs only every 30 seconds.
"""

import csv
import os
import sys
from pathlib import Path

import pandas as pd

from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.base.gpus import gpus_here
from workflow.lib.base.work import COUNTED, work_in
from workflow.lib.plotting.figures import new_figure, plt

RUN, PAGE, PICTURE = ROOT / "results/demo", ROOT / "docs/performance.md", ROOT / "docs/performance.svg"
PAUSE = 60.0  # seconds without any job: nobody's work, but the time between two runs
HOW = """\
Made by `make performance` from the benchmark files and rule logs of the demo in `results/demo`, on a machine with
{machine}. Core-seconds are those of jobs, without Snakemake itself. "Start" is what a process uses before its script
begins: Python, and above all imports. Pauses of over a minute, between two runs, are left out."""


def jobs_of(run: Path, without: str | None = None) -> pd.DataFrame:
    """One row per job: stage (the folder of its log), begin, end, and the work that its log tells of.

    `without`: a stage that is left out, because its job asks and has not ended.
    """
    rows = []
    for path in sorted((run / "benchmarks").rglob("*.tsv")):
        name = path.relative_to(run / "benchmarks").as_posix().removesuffix(".tsv")
        if name.split("/")[0] == without:
            continue
        log = run / "logs" / f"{name}.log"
        work = work_in(log.read_text()) if log.exists() else None
        if work is None:
            raise UserError(
                f"{log} has no line of work: the job was killed, or ran before there were any; run it again"
            )
        with path.open() as file:
            seconds = float(next(csv.DictReader(file, delimiter="\t"))["s"])
        end = path.stat().st_mtime
        rows.append({"stage": name.split("/")[0], "begin": end - seconds, "end": end, **work})
    if not rows:
        raise UserError(f"{run} has no benchmark files: run the workflow first")
    jobs = pd.DataFrame(rows)
    return jobs.assign(**{what: jobs.get(what, pd.Series(0, jobs.index)).fillna(0).astype(int) for what in COUNTED})


def without_pauses(jobs: pd.DataFrame) -> pd.DataFrame:
    """Begin and end in seconds since the first job's begin, as if the runs that made the results had been one."""
    jobs = jobs.sort_values("begin", ignore_index=True)
    idle = (jobs["begin"] - jobs["end"].cummax().shift()).fillna(0.0)
    left_out = jobs["begin"].min() + idle.where(idle > PAUSE, 0.0).cumsum()
    return jobs.assign(begin=jobs["begin"] - left_out, end=jobs["end"] - left_out)


def totals(jobs: pd.DataFrame) -> dict[str, int]:
    """Work of all jobs: numbers that do not depend on how fast or busy the machine is."""
    processes = {"processes": len(jobs), "processes_that_import_torch": int(jobs["imports_torch"].sum())}
    return processes | {what: int(jobs[what].sum()) for what in COUNTED}


def bytes_written(run: Path) -> int:
    """Size of all files of a run, without logs and benchmarks."""
    made = (
        path for part in run.iterdir() if part.name not in ("logs", "benchmarks") for path in [part, *part.rglob("*")]
    )
    return sum(path.stat().st_size for path in made if path.is_file())


def time_by(jobs: pd.DataFrame, what: str) -> pd.DataFrame:
    """Jobs, core-seconds, their share and how many of them are imports, by rule or by stage; the slowest first."""
    table = jobs.groupby(what).agg(
        jobs=("end", "size"), seconds=("cpu_seconds", "sum"), start=("import_seconds", "sum")
    )
    table["share"] = table["seconds"] / table["seconds"].sum()
    return table.sort_values("seconds", ascending=False)


def time_table(table: pd.DataFrame) -> list[str]:
    lines = [
        f"| {table.index.name} | jobs | core-seconds | share | of which start |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in table.itertuples():
        lines.append(f"| {row.Index} | {row.jobs} | {row.seconds:,.0f} | {row.share:.0%} | {row.start:,.0f} |")
    return lines


def summary(jobs: pd.DataFrame, n_bytes: int, cores: int) -> list[str]:
    whole, busy = jobs["end"].max(), jobs["cpu_seconds"].sum()
    work = totals(jobs)
    numbers = {
        "from the first job's begin to the last one's end": f"{whole // 60:.0f} min {whole % 60:.0f} s",
        "core-seconds of all jobs": f"{busy:,.0f}",
        f"CPU use: core-seconds / (whole time x {cores} cores)": f"{busy / (whole * cores):.0%}",
        "start and imports, share of core-seconds": f"{jobs['import_seconds'].sum() / busy:.0%}",
        "processes": f"{work.pop('processes'):,}",
        "processes that import torch": f"{work.pop('processes_that_import_torch'):,}",
        **{what.replace("_", " "): f"{n:,}" for what, n in work.items()},
        "size of all results": f"{n_bytes / 1e6:,.0f} MB",
    }
    return ["| the whole run | |", "| --- | --- |", *(f"| {what} | {number} |" for what, number in numbers.items())]


def text(jobs: pd.DataFrame, n_bytes: int, cores: int) -> str:
    """All numbers as Markdown, for the page and for `make bench`."""
    parts = [
        *summary(jobs, n_bytes, cores),
        *("", "## By stage", "", *time_table(time_by(jobs, "stage"))),
        *("", "## The ten slowest rules", "", *time_table(time_by(jobs, "rule").head(10))),
    ]
    return "\n".join(parts) + "\n"


def page(numbers: str, machine: str) -> str:
    picture = f"![Core-seconds of every stage, and when its jobs ran]({PICTURE.name})"
    return f"# Where the demo's time goes\n\n{HOW.format(machine=machine)}\n\n{picture}\n\n{numbers}"


def draw(jobs: pd.DataFrame, path: Path) -> None:
    """Left: core-seconds by stage, start and imports lighter. Right: when the stage's jobs ran."""
    table = time_by(jobs, "stage")
    figure, (left, right) = new_figure(0.5 + 0.2 * len(table), 7.0, ncols=2, sharey=True)
    at = range(len(table))
    left.barh(
        at, table["start"], color="#0072B2", alpha=0.4, hatch="////", edgecolor="white", label="start and imports"
    )
    left.barh(at, table["seconds"] - table["start"], left=table["start"], color="#0072B2", label="work")
    left.set(xlabel="core-seconds", yticks=at, yticklabels=table.index)
    left.invert_yaxis()
    for axes in (left, right):
        axes.set_axisbelow(True)
    left.legend(loc="lower right")
    for row, stage in enumerate(table.index):
        of_stage = jobs[jobs["stage"] == stage]
        spans = list(zip(of_stage["begin"] / 60, (of_stage["end"] - of_stage["begin"]) / 60))
        right.broken_barh(spans, (row - 0.4, 0.8), color="#D55E00", alpha=0.5, linewidth=0)
    right.set(xlabel="minutes (darker: several jobs)")
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def measured(run: Path, cores: int) -> tuple[pd.DataFrame, str]:
    """The jobs of a run, and all numbers as Markdown."""
    jobs = without_pauses(jobs_of(run))
    return jobs, text(jobs, bytes_written(run), cores)


if __name__ == "__main__":
    cores = os.cpu_count() or 1
    try:
        jobs, numbers = measured(RUN, cores)
    except UserError as error:
        sys.exit(f"Error: {error}")
    PAGE.write_text(page(numbers, f"{cores} cores and {'a' if bool(gpus_here()) else 'no'} GPU"))
    draw(jobs, PICTURE)
