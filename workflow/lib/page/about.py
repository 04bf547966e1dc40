"""What a page says of its run before any number: encoders, data, seeds, papers. From the plan, for a rule's params."""

from dataclasses import asdict, replace
from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.base.plan import Plan
from workflow.lib.encoders.shapes import shape_of

SOURCES = {
    "shipped": "comes with the workflow",
    "pretrain": "trained in this run",
    "random": "never trained",
    "folder": "from a folder",
}
NOT_SHOWN = ("registry", "without_licence")  # added to the config at the start


def about_run(plan: Plan, only: str | None = None) -> dict:
    """`only`: one paper, for its own page."""
    keys = [only] if only else list(plan.papers)
    datasets = plan.config["datasets"]
    embedded = [name for name, entry in datasets.items() if entry["source"] == "embedded"]
    data = f"{len(embedded)} generated datasets" if embedded else ""
    real = f"{len(datasets) - len(embedded)} real datasets" if len(embedded) < len(datasets) else ""
    return {
        "run": plan.config["run"],
        "papers": [described(plan, key) for key in keys],
        "only": only,
        "notes": plan.notes(),
        # published numbers say nothing beside those of generated data
        "comparable": not embedded,
        "encoders": [encoder_in_words(plan.config, name) for name in plan.config["encoders"]],
        "data": " and ".join(filter(None, (data, real))),
    }


def described(plan: Plan, key: str) -> dict:
    """A paper with its artifacts, captions filled in."""
    paper = plan.papers[key]
    made = [replace(artifact, caption=plan.caption(key, id)) for id, (artifact, _) in plan.artifacts[key].items()]
    about = {name: paper.about.get(name) for name in ("title", "authors", "address", "methods")}
    return {"key": key, "summary": paper.summary, "artifacts": list(map(asdict, made)), **about}


def encoder_in_words(config: dict, name: str) -> str:
    entry = config["encoders"][name]
    instance = f"{name}.{entry['seeds'][0]}"
    layers, width = (shape_of(config, instance, what) for what in ("layers", "width"))
    shape = f"{layers} layers of {width}" if layers and width else ""
    source = SOURCES.get(entry["source"]) or entry["id"]
    seeds = f"{len(entry['seeds'])} seeds" if len(entry["seeds"]) > 1 else ""
    return f"{name} ({', '.join(filter(None, (shape, source, seeds)))})"


def shown_config(config: dict) -> dict:
    return {key: value for key, value in config.items() if key not in NOT_SHOWN}


def verdicts_of_runs(runs: list[str]) -> dict[str, float]:
    """Files with the verdicts of runs that are compared, and their times; an error names what is missing."""
    if len(runs) < 2:
        raise UserError("name the runs that you want to compare: snakemake compare --config runs='[demo, other]'")
    found = {run: sorted(Path("results", run, "scorecard").glob("*.claims.parquet")) for run in runs}
    if missing := [run for run, files in found.items() if not files]:
        finished = sorted({path.parts[1] for path in Path("results").glob("*/scorecard/*.claims.parquet")})
        raise UserError(f"no verdicts in results/{missing[0]}; runs that have some: {', '.join(finished) or 'none'}")
    return {str(path): path.stat().st_mtime for files in found.values() for path in files}
