"""From measurements to holds / does not hold / cannot tell, by one rule for all claims.

A claim sets a quantity against a threshold. It holds if the quantity's 95 % confidence interval lies on the right side
of the threshold, does not hold if it lies on the other side, and cannot be told otherwise. The interval is taken over

- repetitions, if there are two or more: Student's t, because two or three of them guess their own spread. What a
  repetition is (a run of fine-tuning, an encoder, a label, a probe seed) stands in the evidence;
- test rows, where they are known: paired bootstrap (resampling.py). All repetitions share them, so that of both
  intervals the wider counts: a second run on the same few rows makes nobody surer of what other rows would give.

Without either nothing can be told. Evidence shows the interval, so that a reader sees what the verdict rests on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
from scipy.special import stdtrit

from workflow.lib.base.resampling import resampled_means

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "cannot tell"
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A quantity in every repetition, and its mean on resampled test rows, where these are known."""

    values: Sequence[float]
    unit: str = "runs"  # what a value is of, in the plural
    replicates: np.ndarray | None = None
    n_rows: int = 0

    @classmethod
    def of_rows(cls, runs: Iterable[np.ndarray], unit: str = "runs") -> "Estimate":
        """From the quantity in every test row (such as the difference of two classifiers), one array per run."""
        runs = [np.asarray(rows, dtype=float) for rows in runs]
        if not runs:
            return cls([], unit)
        return cls([float(rows.mean()) for rows in runs], unit, resampled_means(np.mean(runs, axis=0)), len(runs[0]))

    @property
    def known(self) -> list[float]:
        """NaN is what could not be measured."""
        return [float(value) for value in self.values if value == value]

    @property
    def mean(self) -> float:
        return fmean(self.known) if self.known else float("nan")

    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the mean. None if a repetition could not be measured: runs that have no
        number are no reason to believe those that have one."""
        if not self.known or len(self.known) < len(self.values):
            return None
        found = [ends for ends in (self._over_repetitions(), self._over_rows()) if ends]
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None

    def _over_repetitions(self) -> tuple[float, float] | None:
        if len(self.known) < 2:
            return None
        t = float(stdtrit(len(self.known) - 1, (1 + CONFIDENCE) / 2))
        half = t * stdev(self.known) / len(self.known) ** 0.5
        return self.mean - half, self.mean + half

    def _over_rows(self) -> tuple[float, float] | None:
        replicates = () if self.replicates is None else self.replicates[~np.isnan(self.replicates)]
        if not len(replicates):
            return None
        low, high = np.quantile(replicates, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return float(low), float(high)

    def side(self, threshold: float = 0.0) -> str:
        """Is the quantity above the threshold? holds, does not hold, cannot tell."""
        interval = self.interval()
        if interval is None:
            return UNCLEAR
        return HOLDS if interval[0] > threshold else FAILS if interval[1] < threshold else UNCLEAR

    def said(self, digits: int = 1) -> str:
        """`3.1 [2.5, 3.7] (3 runs)`, `(1 run, 700 test rows)`: the mean, its interval, and what that is over."""
        n, interval = len(self.known), self.interval()
        if not n:
            return "nothing measured"
        over = [f"{n} {self.unit if n > 1 else self.unit.removesuffix('s')}"]
        over += [f"{len(self.values) - n} without"] * (n < len(self.values))
        over += [f"{self.n_rows} test rows"] * bool(self.n_rows)
        ends = f" [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]" if interval else ""
        return f"{self.mean:.{digits}f}{ends} ({', '.join(over)})"


def opposite(verdict: str) -> str:
    return {HOLDS: FAILS, FAILS: HOLDS}.get(verdict, UNCLEAR)


def all_of(verdicts: Iterable[str]) -> str:
    """A claim about several tasks holds if it holds on each, and fails if it fails on any."""
    verdicts = list(verdicts)
    if FAILS in verdicts:
        return FAILS
    return UNCLEAR if not verdicts or UNCLEAR in verdicts else HOLDS
