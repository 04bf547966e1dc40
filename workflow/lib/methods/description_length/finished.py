"""Portions of an online code that are done, kept beside the output, because a code of all portions takes hours.

Each portion has a probe of its own, trained from scratch, so that a job that goes on gives the same numbers.
"""

import json
from pathlib import Path

from workflow.lib.base.files import whole_file


class FinishedPortions:
    """One file of JSON, replaced atomically; that of another code, data or settings is not read."""

    def __init__(self, output: str | Path, made_from: object):
        self.path = Path(output).with_name(f".{Path(output).name}.resume.json")
        self.made_from, self.rows = repr(made_from), {}
        if self.path.exists():
            try:
                stored = json.loads(self.path.read_text())
            except ValueError:
                stored = {}
            self.rows = stored.get("rows", {}) if stored.get("made_from") == self.made_from else {}

    def get(self, end: int) -> list[dict] | None:
        """The rows of all models for the portion that ends at this sentence."""
        return self.rows.get(str(end))

    def add(self, end: int, rows: list[dict]) -> None:
        self.rows[str(end)] = rows
        with whole_file(self.path) as beside:
            beside.write_text(json.dumps({"made_from": self.made_from, "rows": self.rows}))

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
