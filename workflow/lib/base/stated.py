"""What the papers state of their settings (stated.yaml in their folders), and what a config makes of it."""

from collections.abc import Iterator
from importlib import import_module

import yaml

from workflow.papers import Paper

FILE = "stated.yaml"


def stated(paper: Paper) -> list[dict]:
    """Entries with `setting`, `value`, perhaps `of` (an encoder), and `stated` (where) or `silent` (why ours)."""
    path = paper.folder / paper.key / FILE
    return yaml.safe_load(path.read_text()) if path.is_file() else []


def found(config: dict, paper: Paper, entry: dict) -> Iterator[tuple[str, object]]:
    """Every place of a checked config that an entry speaks of, and what it holds; or a constant of the code."""
    first, *keys = entry["setting"].split(".")
    if first == "workflow":
        module, _, name = entry["setting"].rpartition(".")
        yield entry["setting"], getattr(import_module(module), name)
        return
    if first != "tasks":
        value = config[first]
        for key in keys:
            value = value[key]
        yield entry["setting"], value
        return
    name, key = keys
    for task in paper.plan.trained_tasks(config[paper.key]) if name == "*" else [name]:
        settings = config["tasks"][task]
        of_encoders = {name: own[key] for name, own in settings["for_encoder"].items() if key in own}
        if "of" in entry:
            yield f"tasks.{task}.{key}", of_encoders.get(entry["of"], settings[key])
        else:  # with every encoder
            yield from ((f"tasks.{task}.{key}", value) for value in (settings[key], *of_encoders.values()))
