"""From measurements to holds / does not hold / cannot tell, by one rule for all claims.

A claim sets a quantity against a threshold. It holds if the quantity's 95 % confidence interval lies on the right side
of the threshold, does not hold if it lies on the other side, and cannot be told otherwise. The interval is taken over

- repetitions, if there are two or more: Student's t, because two or three of them guess their own spread. What a
  repetition is (a run of fine-tuning, an encoder, a label, a probe seed) stands in the evidence;
- else the test rows of the only run: paired bootstrap (resampling.py).

Without either nothing can be told.
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
    """A quantity in every repetition; of a single run also on resampled test rows."""

    values: Sequence[float]
    unit: str = "runs"  # what a value is of, in the plural
    replicates: np.ndarray | None = None
    n_rows: int = 0

    @classmethod
    def of_rows(cls, runs: Iterable[np.ndarray], unit: str = "runs") -> "Estimate":
        """From the quantity in every test row (such as the difference of two classifiers), one array per run."""
        runs = [np.asarray(rows, dtype=float) for rows in runs]
        means = [float(rows.mean()) for rows in runs]
        return cls(means, unit, resampled_means(runs[0]), len(runs[0])) if len(runs) == 1 else cls(means, unit)

    @property
    def known(self) -> list[float]:
        """NaN is what could not be measured."""
        return [float(value) for value in self.values if value == value]

    @property
    def mean(self) -> float:
        return fmean(self.known) if self.known else float("nan")

    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the mean."""
        if len(self.known) > 1:
            t = float(stdtrit(len(self.known) - 1, (1 + CONFIDENCE) / 2))
            half = t * stdev(self.known) / len(self.known) ** 0.5
            return self.mean - half, self.mean + half
        replicates = () if self.replicates is None else self.replicates[~np.isnan(self.replicates)]
        if not self.known or not len(replicates):
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
        """`3.1 ± 0.2 (3 runs)`, or `3.1 [2.5, 3.7] (700 test rows)` for a single run."""
        n = len(self.known)
        if not n:
            return "nothing measured"
        text, interval = f"{self.mean:.{digits}f}", self.interval()
        if n > 1:
            missing = len(self.values) - n
            return (
                f"{text} ± {stdev(self.known):.{digits}f} ({n} {self.unit}{f', {missing} without' if missing else ''})"
            )
        if interval is None:
            return f"{text} (one of {self.unit})"
        return f"{text} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}] ({self.n_rows} test rows)"


def opposite(verdict: str) -> str:
    return {HOLDS: FAILS, FAILS: HOLDS}.get(verdict, UNCLEAR)


def all_of(verdicts: Iterable[str]) -> str:
    """A claim about several tasks holds if it holds on each, and fails if it fails on any."""
    verdicts = list(verdicts)
    if FAILS in verdicts:
        return FAILS
    return UNCLEAR if not verdicts or UNCLEAR in verdicts else HOLDS
