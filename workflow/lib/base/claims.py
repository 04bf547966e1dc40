"""A paper's claims: claims.yaml in its folder says what each is, its claims.py judges them by the analysis tables.

claims.yaml has, for each claim by name:
  says       where and how the paper says it
  statement  what is judged; {threshold} stands for the number below
  threshold  what "little", "far" or "few" is taken to mean (0 where the paper says "more" or "less")
  because    why this threshold; none was chosen after looking at a result
  artifact   the figure or table that it is read from
  judged     the quantity, in words
  slip       (optional) why the paper's own numbers do not bear its sentence out
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from workflow.lib.base.verdicts import UNCLEAR, Estimate, all_of, opposite

PAPERS = Path(__file__).resolve().parents[2] / "papers"


@dataclass
class Claim:
    paper: str
    name: str
    says: str
    statement: str
    artifact: str
    verdict: str
    evidence: str


class Claims:
    """The claims of one paper, by name."""

    def __init__(self, paper: str):
        self.paper = paper
        self.entries: dict[str, dict] = yaml.safe_load((PAPERS / paper / "claims.yaml").read_text())

    def threshold(self, name: str) -> float:
        return self.entries[name].get("threshold", 0.0)

    def statement(self, name: str) -> str:
        return self.entries[name]["statement"].format(threshold=self.threshold(name))

    def judged(self, name: str, verdict: str, evidence: str) -> Claim:
        entry = self.entries[name]
        slip = f". On the paper's own numbers: {entry['slip']}" if "slip" in entry else ""
        statement = self.statement(name)
        return Claim(self.paper, name, entry["says"], statement, entry["artifact"], verdict, evidence + slip)

    def above(
        self,
        name: str,
        quantities: Mapping[str, Estimate],
        what: str,
        digits: int = 1,
        voting: Iterable[str] | None = None,
    ) -> Claim:
        """Holds if every quantity (of a task, of a model) is above the threshold.

        `voting`: only these decide (without any of them nothing can be told); the others stand beside as evidence.
        """
        return self._compared(name, quantities, what, digits, voting, is_above=True)

    def below(
        self,
        name: str,
        quantities: Mapping[str, Estimate],
        what: str,
        digits: int = 1,
        voting: Iterable[str] | None = None,
    ) -> Claim:
        return self._compared(name, quantities, what, digits, voting, is_above=False)

    def _compared(self, name, quantities, what, digits, voting, is_above) -> Claim:
        threshold = self.threshold(name)
        deciding = list(quantities) if voting is None else [key for key in voting if key in quantities]
        sides = [quantities[key].side(threshold) for key in deciding]
        verdict = all_of(sides if is_above else map(opposite, sides))
        evidence = "; ".join(f"{key} {quantity.said(digits)}" for key, quantity in quantities.items())
        return self.judged(name, verdict, f"{what}: {evidence or 'nothing measured'}")

    def complete(self, found: Iterable[Claim]) -> list[Claim]:
        """In the order of claims.yaml; what this run has nothing to judge by cannot be told."""
        by_name = {claim.name: claim for claim in found}
        unknown = set(by_name) - set(self.entries)
        if unknown:
            raise ValueError(f"claims.yaml of {self.paper} has no {', '.join(sorted(unknown))}")
        nothing = "not measured in this run"
        return [by_name.get(name) or self.judged(name, UNCLEAR, nothing) for name in self.entries]
