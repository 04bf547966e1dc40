"""The papers, one folder each: found here, listed nowhere. Whatever names a paper lives in its folder.

artifacts.yaml  title, authors, methods in two sentences, and every figure and table: id, kind, method, script, caption
schema.yaml     its section of the config: types, defaults, descriptions
plan.py         artifacts(config): what each is made from; scored(config): what its scores are; check(config, faults)
claims.yaml     what the paper claims, where, and how it is judged (workflow/lib/base/claims.py); claims.py judges
measured.py     measured numbers under the names of published.csv, and the verdicts on its claims (if it has any)
numbers.py, figures/, tables/, README.md
"""

import importlib
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

import yaml

from workflow.lib.base.needs import Needs

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Artifact:
    paper: str
    id: str
    kind: str  # figure or table
    script: str  # in the paper's folder
    caption: str
    method: str = ""  # a key of artifacts.yaml's `methods`
    name: str | None = None  # for readers, if it has no number
    published_as: str | None = None  # its name in published.csv, if that does not begin with the id

    @property
    def title(self) -> str:
        """fig4 -> Figure 4."""
        number = re.fullmatch(r"(fig|table)(\d+)", self.id)
        return self.name or ({"fig": "Figure ", "table": "Table "}[number[1]] + number[2] if number else self.id)

    @property
    def rule(self) -> str:
        return {"figure": "draw", "table": "tabulate"}[self.kind]

    def has_published(self, name: str) -> bool:
        """Are numbers of this name in published.csv its own? fig1 has fig1_depth_spearman and fig1v1_uuas."""
        return name == self.published_as or re.fullmatch(rf"{self.id}(v\d+)?(_.*)?", name) is not None

    def files(self, format: str) -> list[str]:
        """What a rule makes of it; `format`: that of figures in print."""
        endings = {"figure": (format, "png", "svg", "csv"), "table": ("csv", "md")}[self.kind]
        return [f"<results>/{self.kind}s/{self.paper}/{self.id}.{ending}" for ending in endings]


@dataclass(frozen=True)
class Paper:
    key: str
    folder: Path = FOLDER

    def _read(self, name: str) -> dict:
        return yaml.safe_load((self.folder / self.key / name).read_text())

    @cached_property
    def about(self) -> dict:
        return self._read("artifacts.yaml")

    @cached_property
    def summary(self) -> str:
        """What the paper asks, how, and what it finds: the first paragraph of its README."""
        path = self.folder / self.key / "README.md"
        parts = path.read_text().split("\n\n") if path.is_file() else []
        return " ".join(next((part for part in parts if not part.startswith(("#", "**", "|"))), "").split())

    @cached_property
    def schema(self) -> dict:
        return self._read("schema.yaml")

    @cached_property
    def plan(self) -> ModuleType:
        return importlib.import_module(f"workflow.papers.{self.key}.plan")

    @property
    def is_scored(self) -> bool:
        """Has it numbers to compare and claims to judge?"""
        return (self.folder / self.key / "measured.py").is_file()

    def _file(self, name: str) -> str | None:
        """As seen from where Snakemake runs: a repository that is moved with its results has the same inputs."""
        path = self.folder / self.key / name
        return os.path.relpath(path) if path.is_file() else None

    @property
    def published(self) -> str | None:
        """The file of its numbers."""
        return self._file("published.csv")

    @property
    def claims(self) -> str | None:
        """The file that says what its claims are."""
        return self._file("claims.yaml")

    def artifacts(self, config: dict) -> dict[str, tuple[Artifact, Needs]]:
        """What can be drawn with this config, in the order of artifacts.yaml."""
        needs = self.plan.artifacts(config)
        found = [Artifact(self.key, **entry) for entry in self.about["artifacts"]]
        return {artifact.id: (artifact, needs[artifact.id]) for artifact in found if artifact.id in needs}


def all_papers() -> dict[str, Paper]:
    """By key, in the order of their years; what no paper has comes last."""
    keys = sorted(path.parent.name for path in FOLDER.glob("*/artifacts.yaml"))
    keys.sort(key=lambda key: int(key[-4:]) if key[-4:].isdigit() else 9999)
    return {key: Paper(key) for key in keys}
