"""Quantities of singh2020's curves in every repetition, so that claims can weigh them."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pandas as pd

from workflow.lib.base.claims import Claim
from workflow.lib.base.verdicts import CONFIDENCE, Estimate
from workflow.lib.plotting.figures import name_of
from workflow.papers.singh2020.numbers import Curves, size_name

BOTH = ("sst2", "qnli")
Found = dict[tuple[str, str], Estimate]  # by task, and what else there is to say
OfSize = dict[tuple[str, float], Estimate]  # by task and share of its rows
Sizes = dict[str, list[float]]  # shares of the rows by task, the largest first


class CurveEstimate(Estimate):
    """NaN is a curve that falls too little to have a shape; more than one in twenty resampled ones without leave the
    question open, as a run without does."""

    def interval(self) -> tuple[float, float] | None:
        flat = 0.0 if self.replicates is None else np.isnan(self.replicates).mean()
        return None if flat > 1 - CONFIDENCE else super().interval()

    def said(self, digits: int = 1) -> str:
        n_flat = len(self.values) - len(self.known)
        mean = f"{self.mean:.{digits}f}, " if self.known else ""
        return f"{mean}{n_flat} of {len(self.values)} {self.unit} fall too little" if n_flat else super().said(digits)


def of(curves: Curves, quantity: Callable[[np.ndarray], np.ndarray]) -> CurveEstimate:
    drawn = None if curves.resampled is None else quantity(curves.resampled)
    return CurveEstimate(quantity(curves.runs.to_numpy()), "runs", drawn, curves.n_rows)


def shape_of(curves: Curves, shape: Callable[..., np.ndarray], *arguments: int) -> CurveEstimate:
    """A drop within the noise of the test rows has none."""
    return of(curves, lambda scores: shape(scores, *arguments, tolerance=curves.noise))


def minus(one: Estimate, other: Estimate) -> CurveEstimate:
    """Run by run. Of a single run: on the same resampled rows if both are of one task, else on rows of their own."""
    has_rows = one.replicates is not None and other.replicates is not None
    drawn = one.replicates - other.replicates if has_rows else None
    return CurveEstimate(np.subtract(one.values, other.values), one.unit, drawn, min(one.n_rows, other.n_rows))


def steps(sizes: Sizes) -> Iterator[tuple[str, float, float]]:
    """Task, share of its rows, next smaller share."""
    return ((task, *step) for task, shares in sizes.items() for step in pairwise(shares))


def step_key(task: str, larger: float, smaller: float) -> tuple[str, str]:
    return task, f"{100 * larger:g} against {size_name(smaller)}"


def by_step(of_size: OfSize, sizes: Sizes) -> Found:
    """Every size minus the next smaller one."""
    return {
        step_key(task, larger, smaller): minus(of_size[task, larger], of_size[task, smaller])
        for task, larger, smaller in steps(sizes)
    }


def fewest_minus_all(of_size: OfSize, sizes: Sizes) -> Found:
    several = {task: shares for task, shares in sizes.items() if len(shares) > 1}
    return {(task, ""): minus(of_size[task, few], of_size[task, every]) for task, (every, *_, few) in several.items()}


def repeated(of_probes: pd.Series) -> pd.Series:
    """Repetitions of probes (index: encoder, probe seed) are encoders; of a single encoder its probe seeds."""
    by_encoder = of_probes.groupby(level="encoder", sort=False).agg(lambda seeds: seeds.mean(skipna=False))
    return of_probes.droplevel("encoder") if len(by_encoder) == 1 < len(of_probes) else by_encoder


def like_probes(of_runs: pd.Series, probed: pd.Series) -> pd.Series:
    """Runs of fine-tuning beside repetitions of probes: an encoder's mean, or one fine-tuning seed for each probe seed,
    so that the spread of both counts."""
    if probed.index.name == "encoder":
        return of_runs.groupby(level="encoder").agg(lambda seeds: seeds.mean(skipna=False)).reindex(probed.index)
    return pd.Series(np.resize(of_runs.to_numpy(), len(probed)), probed.index)


def over_probes(values: pd.Series) -> CurveEstimate:
    return CurveEstimate(values.to_numpy(), "encoders" if values.index.name == "encoder" else "probe seeds")


def label(key: tuple[str, str]) -> str:
    task, detail = key
    return f"{name_of(task)}, {detail}" if detail else name_of(task)


def judged(
    compare: Callable[..., Claim],
    name: str,
    found: Found,
    what: str,
    tasks: tuple[str, ...] = BOTH,
    digits: int = 1,
    beside: Found | None = None,
) -> Claim:
    """By `compare` (Claims.above or Claims.below), on the tasks that the paper makes the claim of; what other tasks
    give, and what is put `beside`, is evidence only."""
    voting = [label(key) for key in found if key[0] in tasks]
    said = {label(key): estimate for key, estimate in (found | (beside or {})).items()}
    return compare(name, said if voting else {}, what, digits, voting=voting)
