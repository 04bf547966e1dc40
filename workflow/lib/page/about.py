"""What a page says of its run before any number: encoders, data, seeds, papers. From the plan, for a rule's params."""

import re
from dataclasses import asdict, replace
from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.base.names import encoder_of, model_of
from workflow.lib.base.plan import Plan
from workflow.lib.base.tasks import is_generated
from workflow.lib.costs.planned import places_of
from workflow.lib.encoders.shapes import shape_of

SOURCES = {
    "shipped": "comes with the workflow",
    "pretrain": "trained in this run",
    "random": "never trained",
    "folder": "from a folder",
}
COMPARED = ("scorecard/*.claims.parquet", "figures/*/*.csv", "tables/*/*.md")
NOT_SHOWN = ("registry", "without_licence", "runs")  # added at the start, or of another page


def about_run(plan: Plan, only: str | None = None) -> dict:
    """`only`: one paper, for its own page."""
    keys = [only] if only else list(plan.papers)
    items = [item for of_rule in plan.items.values() for item, papers in of_rule.items() if set(keys) & set(papers)]
    used = {encoder_of(item).partition(".")[0] for item in items}
    read = {place.partition("/")[0] for place in places_of(plan)}
    embedded = [name for name in read if is_generated(plan.config, name)]
    counts = {"generated": len(embedded), "real": len(read) - len(embedded)}
    return {
        "run": plan.config["run"],
        "papers": [described(plan, key) for key in keys],
        "only": only,
        "notes": plan.notes(),
        "comparable": plan.comparable(),
        "seeds": tuning_seeds(items),
        "encoders": [encoder_in_words(plan.config, name) for name in plan.config["encoders"] if name in used],
        "data": " and ".join(f"{n} {kind} dataset{'s' if n > 1 else ''}" for kind, n in counts.items() if n),
    }


def tuning_seeds(items: list[str]) -> str:
    """Of the models among items of work, in words; nothing if no model is tuned."""
    seeds = sorted({int(model_of(item).rpartition(".s")[2]) for item in items if re.search(r"\.s\d+$", model_of(item))})
    return f"fine-tuning seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}" if seeds else ""


def described(plan: Plan, key: str) -> dict:
    """A paper with its artifacts, captions filled in."""
    paper = plan.papers[key]
    made = [replace(artifact, caption=plan.caption(key, id)) for id, (artifact, _) in plan.artifacts[key].items()]
    about = {name: paper.about.get(name) for name in ("title", "authors", "address", "methods")}
    about["models"] = plan.items_of("finetune_model", key)  # tuned here
    return {"key": key, "summary": paper.summary, "artifacts": list(map(asdict, made)), **about}


def encoder_in_words(config: dict, name: str) -> str:
    entry = config["encoders"][name]
    instance = f"{name}.{entry['seeds'][0]}"
    layers, width = (shape_of(config, instance, what) for what in ("layers", "width"))
    shape = f"{layers} layers of {width}" if layers and width else ""
    source = SOURCES["folder"] if "path" in entry else SOURCES.get(entry["source"]) or entry["id"]
    seeds = f"{len(entry['seeds'])} seeds" if len(entry["seeds"]) > 1 else ""
    return f"{name} ({', '.join(filter(None, (shape, source, seeds)))})"


def shown_config(config: dict) -> dict:
    return {key: value for key, value in config.items() if key not in NOT_SHOWN}


def files_of_runs(runs: list[str]) -> dict[str, float]:
    """What the page that compares runs is made from, and its time; an error names a run that has nothing."""
    if len(runs) < 2:
        raise UserError("name the runs that you want to compare: snakemake compare --config runs='[demo, other]'")
    found = {run: [path for pattern in COMPARED for path in sorted(Path("results", run).glob(pattern))] for run in runs}
    if missing := [run for run, files in found.items() if not files]:
        finished = sorted({path.parts[1] for pattern in COMPARED for path in Path("results").glob(f"*/{pattern}")})
        raise UserError(f"nothing to compare in results/{missing[0]}; runs that have: {', '.join(finished) or 'none'}")
    return {str(path): path.stat().st_mtime for files in found.values() for path in files}
