"""Faults in a config that a schema cannot express: names that do not exist, values that do not fit together.

All faults are collected, so that a user sees them at once. A fault is one line: the key, its value, what is allowed.
"""

import json

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.base.paths import is_file, local
from workflow.lib.encoders.shapes import layers_of


def show(value: object) -> str:
    text = f"'{value}'" if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Faults:
    def __init__(self, config: dict):
        self.config, self.found = config, []
        self.used: dict[str, str] = {}  # encoder instances that some paper uses -> the config key that names them

    def add(self, text: str) -> None:
        if text not in self.found:
            self.found.append(text)

    def unless(self, holds: bool, key: str, value: object, must: str) -> None:
        if not holds:
            self.add(f"{key} is {show(value)}; must be {must}")

    def name(self, key: str, value: object, valid, what: str) -> bool:
        valid = list(valid)
        if value not in valid:
            self.add(f"{key} is {show(value)}: no such {what}{nearest(value, valid)}")
        return value in valid

    def names(self, key: str, values: list, valid, what: str) -> bool:
        return all([self.name(f"{key}[{at}]", value, valid, what) for at, value in enumerate(values)])

    def known(self, instance: str) -> bool:
        name, _, seed = instance.partition(".")
        return name in self.config["encoders"] and int(seed) in self.config["encoders"][name]["seeds"]

    def instance(self, key: str, value: str, source: str = "") -> None:
        """Check that `<encoder>.<seed>` exists; `source`: `random`, or `trained` for any other source."""
        what = f"{source} encoder".strip()
        valid = [
            f"{name}.{seed}"
            for name, entry in self.config["encoders"].items()
            for seed in entry["seeds"]
            if not source or (entry["source"] == "random") == (source == "random")
        ]
        if self.name(key, value, valid, what):
            self.used.setdefault(value, key)

    def folder(self, key: str, path: str, file: str) -> None:
        """Check that a folder holds a file."""
        self.unless(is_file(local(path) / file), key, path, f"a folder with {file}")

    def instances(self, key: str, values: list[str], source: str = "") -> None:
        for at, value in enumerate(values):
            self.instance(f"{key}[{at}]", value, source)

    def same_depth(self, key: str, encoders: list[str]) -> None:
        """Check that encoders have the same number of layers, because curves are averaged layer by layer."""
        try:
            layers = {encoder: layers_of(self.config, encoder) for encoder in encoders if self.known(encoder)}
        except UserError as error:
            self.add(str(error).removeprefix("config: "))
            return
        if len(set(layers.values())) > 1:
            self.add(f"{key} must all have the same number of layers, not {show(layers)}")

    def tasks(self, key: str, values: list[str], heads: tuple[str, ...] = ()) -> None:
        """Check that tasks exist and have one of these `heads`, if any are given (texts: with or without a pooler)."""
        heads = (*heads, "pooled") if "sequence" in heads else heads
        for at, task in enumerate(values):
            known = self.name(f"{key}[{at}]", task, self.config["tasks"], "task")
            if known and heads and self.config["tasks"][task]["head"] not in heads:
                must = f"a task whose head is {' or '.join(map(repr, heads))}"
                self.add(f"{key}[{at}] is {show(task)}; must be {must}")

    def place(self, key: str, value: str) -> None:
        valid = [f"{name}/{split}" for name, entry in self.config["datasets"].items() for split in entry["rows"]]
        self.name(key, value, valid, "dataset/split")

    def rows(self, place: str) -> int | None:
        """Number of rows of a split in the config; None: all available rows, or no such split."""
        dataset, split = place.split("/")
        return self.config["datasets"].get(dataset, {"rows": {}})["rows"].get(split)

    def splits(self, key: str, dataset: str, needed: tuple[str, ...]) -> None:
        if not self.name(key, dataset, self.config["datasets"], "dataset"):
            return
        for split in needed:
            if split not in self.config["datasets"][dataset]["rows"]:
                self.add(
                    f"{key} is {show(dataset)}: datasets.{dataset}.rows has no split '{split}', which a probe needs"
                )
