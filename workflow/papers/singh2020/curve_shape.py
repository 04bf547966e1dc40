"""The shape of a curve of scores over depth, as numbers that a claim can weigh.

`scores[k]` is the score with the top k layers re-initialised: k = 0 is the unharmed model, k = L has no pre-trained
layer left. Adding a constant to all scores changes none of the answers; nor does scaling them, as long as the drop
stays beyond the tolerance, below which a curve counts as flat.
"""

from collections.abc import Sequence

import numpy as np

FLAT = 0.01  # of accuracy or correlation: a smaller drop has no shape to speak of
ROUNDING = 1e-9  # shares closer than this are equal: scores are sums of floats


def concavity(scores: Sequence[float], tolerance: float = FLAT) -> float:
    """How far the curve lies above the straight line between its ends, as a share of that line's drop.

    The mean over all points between the ends: 0 for a straight fall, 1/2 if everything is lost in the last step, -1/2
    if in the first, whatever the number of layers. NaN where the line falls by no more than `tolerance`, or where
    there is no point between the ends.
    """
    return float(_above_chord(scores, tolerance).mean())


def departure(scores: Sequence[float], tolerance: float = FLAT) -> float:
    """Mean distance from the straight line between the ends, as a share of its drop: 0 only for a straight fall.

    Unlike `concavity`, whose signs cancel: a cliff in the middle is far from straight. NaN as there.
    """
    return float(np.abs(_above_chord(scores, tolerance)).mean())


def drop_begins(scores: Sequence[float], share: float = 0.1, tolerance: float = FLAT) -> int | None:
    """The first k from which on more than `share` of the drop, from the unharmed to the worst score, stays lost.

    None where the whole drop is no more than `tolerance`, or where the end of the curve has recovered.
    """
    curve = _checked(scores)
    drop = curve[0] - curve.min()
    if drop <= tolerance:
        return None
    harmless = np.flatnonzero((curve[0] - curve) / drop <= share + ROUNDING)
    first = int(harmless[-1]) + 1  # k = 0 is always harmless
    return first if first < len(curve) else None


def _above_chord(scores: Sequence[float], tolerance: float) -> np.ndarray:
    """Of the points between the ends, as shares of the drop; [NaN] where there is no such point, or next to no drop."""
    curve = _checked(scores)
    drop = curve[0] - curve[-1]
    if len(curve) < 3 or drop <= tolerance:
        return np.array([np.nan])
    return (curve - np.linspace(curve[0], curve[-1], len(curve)))[1:-1] / drop


def _checked(scores: Sequence[float]) -> np.ndarray:
    curve = np.asarray(scores, dtype=np.float64)
    if curve.ndim != 1 or len(curve) < 2 or not np.isfinite(curve).all():
        raise ValueError(f"a curve is two or more finite scores, one per number of layers, not {scores}")
    return curve
