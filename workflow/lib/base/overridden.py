"""Training settings in a user's own config that do not reach every task, because an earlier file says something more
special: `training` gives way to a paper's `training`, and that to the task's own entry.

Such a key is legal and often meant, so that it is told before a run and stops nothing.
"""

from pathlib import Path

import yaml

from workflow.lib.base.digests import ROOT
from workflow.lib.base.names import task_of
from workflow.lib.base.plan import Plan

PRESETS = {Path(ROOT) / f"config/{name}.yaml" for name in ("config", "laptop", "paper", "encoders")}  # not a user's


def own_settings(files: list[Path | str], given: dict) -> dict[str, dict]:
    """By name, what the user wrote: config files that are no preset, and `--config`."""
    own = {path.name: yaml.safe_load(path.read_text()) or {} for path in map(Path, files) if path not in PRESETS}
    return own | ({"--config": {key: _parsed(value) for key, value in given.items()}} if given else {})


def _parsed(value: object) -> object:
    return yaml.safe_load(value) if isinstance(value, str) else value


def ways_of(config: dict, papers: dict) -> dict[str, set[str]]:
    """By task, the papers whose `training` it follows."""
    ways: dict[str, set[str]] = {}
    for key, paper in papers.items():
        for task in paper.plan.trained_tasks(config[key]) if "training" in config[key] else ():
            ways.setdefault(task, set()).add(key)
    return ways


def is_same(written: object, used: object) -> bool:
    """YAML reads 5e-4 as a text."""
    try:
        return float(written) == float(used)
    except (TypeError, ValueError):
        return written == used


def overridden(plan: Plan, own: dict[str, dict]) -> list[str]:
    """A line for every key of `training`, or of a paper's, that does not have its value in some trained task, and for
    which the user has said nothing more special."""
    config, papers = plan.config, plan.papers
    models = [model for rule in ("finetune_model", "sweep") for model in plan.items.get(rule, {})]
    trained, ways = list(dict.fromkeys(map(task_of, models))), ways_of(config, papers)
    of_tasks = {(task, key) for written in own.values()
                for task, entry in (written.get("tasks") or {}).items() for key in entry or {}}  # fmt: skip
    of_papers = {(task, key) for written in own.values() for task in trained for paper in ways.get(task, ())
                 for key in (written.get(paper) or {}).get("training") or {}}  # fmt: skip
    said = []
    for name, written in own.items():
        sections = {"training": (written.get("training"), trained, of_tasks | of_papers)}
        for paper in papers:
            tasks = [task for task in trained if paper in ways.get(task, ())]
            sections[f"{paper}.training"] = ((written.get(paper) or {}).get("training"), tasks, of_tasks)
        for section, (settings, tasks, meant) in sections.items():
            for key, value in (settings or {}).items():
                used = {task: config["tasks"][task].get(key) for task in tasks if (task, key) not in meant}
                others = [f"{task} has {other}" for task, other in used.items() if not is_same(value, other)]
                if others and key != "for_encoder":
                    said.append(f"{section}.{key}: {value} ({name}) does not reach every task: {', '.join(others)},"
                                f" by an earlier, more special setting; tasks.<task>.{key} changes that")  # fmt: skip
    return said
