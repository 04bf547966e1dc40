"""From repeated measurements to holds / does not hold / cannot tell, by one rule for all claims."""

from dataclasses import dataclass
from statistics import mean, stdev

from scipy.special import stdtrit

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "cannot tell"


@dataclass
class Claim:
    paper: str
    name: str
    statement: str
    verdict: str
    evidence: str


def half_width(values: list[float]) -> float:
    """Of the mean's 95 % confidence interval: Student's, because two or three repetitions guess their own spread."""
    return float(stdtrit(len(values) - 1, 0.975)) * stdev(values) / len(values) ** 0.5


def above(values: list[float], threshold: float = 0.0) -> str:
    """Does the mean's confidence interval lie above the threshold, or below it? One repetition cannot tell."""
    values = [value for value in values if value == value]
    if len(values) < 2:
        return UNCLEAR
    error = half_width(values)
    if mean(values) - error > threshold:
        return HOLDS
    return FAILS if mean(values) + error < threshold else UNCLEAR


def all_of(verdicts: list[str]) -> str:
    """A claim about several tasks holds if it holds on each, and fails if it fails on any."""
    if FAILS in verdicts:
        return FAILS
    return UNCLEAR if not verdicts or UNCLEAR in verdicts else HOLDS


def said(values: list[float], digits: int = 1) -> str:
    """'3.1 ± 0.2 (n=3)'; what could not be measured (NaN) does not count."""
    values = [value for value in values if value == value]
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean(values):.{digits}f}{spread} (n={len(values)})" if values else "nothing measured"
