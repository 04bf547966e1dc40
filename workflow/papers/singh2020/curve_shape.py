"""The shape of curves of scores over depth, as numbers that a claim can weigh.

`scores[..., k]` is the score with the pre-training of the top k layers lost: k = 0 is the unharmed model, at k = L no
pre-trained layer is left. Any number of curves at once: runs, or one run on resampled test rows. Adding a constant to
all scores changes none of the answers; nor does scaling them, as long as the drop stays beyond the tolerance, below
which a curve counts as flat and has no shape: NaN.
"""

import numpy as np
from numpy.typing import ArrayLike

FLAT = 0.01  # of accuracy or correlation: a smaller drop has no shape to speak of
ROUNDING = 1e-9  # shares closer than this are equal: scores are sums of floats


def concavity(scores: ArrayLike, tolerance: float = FLAT) -> np.ndarray:
    """How far a curve lies above the straight line between its ends, as a share of that line's drop.

    The mean over all points between the ends: 0 for a straight fall, 1/2 if everything is lost in the last step, -1/2
    if in the first, whatever the number of layers. NaN where the line falls by no more than `tolerance`, or where
    there is no point between the ends.
    """
    return _above_chord(scores, tolerance).mean(axis=-1)


def departure(scores: ArrayLike, tolerance: float = FLAT) -> np.ndarray:
    """Mean distance from the straight line between the ends, as a share of its drop: 0 only for a straight fall.

    Unlike `concavity`, whose signs cancel: a cliff in the middle is far from straight. NaN as there.
    """
    return np.abs(_above_chord(scores, tolerance)).mean(axis=-1)


def drop_begins(scores: ArrayLike, tolerance: float = FLAT, share: float = 0.1) -> np.ndarray:
    """The first k from which on more than `share` of the drop, from the unharmed to the worst score, stays lost.

    NaN where the whole drop is no more than `tolerance`, or where the end of the curve has recovered.
    """
    curves = _checked(scores)
    lost = (curves[..., :1] - curves) / _beyond(curves[..., :1] - curves.min(axis=-1, keepdims=True), tolerance)
    harmless = lost <= share + ROUNDING
    first = curves.shape[-1] - harmless[..., ::-1].argmax(axis=-1)  # after the last harmless one
    return np.where(harmless.any(axis=-1) & ~harmless[..., -1], first, np.nan)


def steepest_step(scores: ArrayLike, tolerance: float = FLAT) -> np.ndarray:
    """The largest fall by one more layer, as a share of the way from the best to the worst score: 1 for a cliff, 1 / L
    for a straight fall. NaN where that way is no longer than `tolerance`."""
    curves = _checked(scores)
    return -np.diff(curves).min(axis=-1) / _beyond(np.ptp(curves, axis=-1), tolerance)


def half_gained(scores: ArrayLike, tolerance: float = FLAT) -> np.ndarray:
    """How many pre-trained layers it takes to get halfway from the worst to the best score, linear between points.

    Counted from no layer up, where the score reaches the half for the first time. NaN as in `steepest_step`.
    """
    kept = _checked(scores)[..., ::-1]
    worst, way = kept.min(axis=-1, keepdims=True), _beyond(np.ptp(kept, axis=-1, keepdims=True), tolerance)
    gained = (kept - worst) / way
    first = (gained >= 0.5 - ROUNDING).argmax(axis=-1, keepdims=True)
    after, before = (np.take_along_axis(gained, at, axis=-1)[..., 0] for at in (first, np.maximum(first - 1, 0)))
    rise = np.where(after > before, after - before, 1.0)  # no rise: the half is reached without any layer
    reached = first[..., 0] - np.where(first[..., 0] > 0, (after - 0.5) / rise, 0.0)
    return np.where(np.isnan(way[..., 0]), np.nan, reached)


def lost_between(scores: ArrayLike, begin: int, end: int) -> np.ndarray:
    """What it costs to lose the layers from the `begin`-th to the `end`-th from the top, the ones above them gone."""
    curves = _checked(scores)
    return curves[..., begin] - curves[..., end]


def share_lost_between(scores: ArrayLike, begin: int, end: int, tolerance: float = FLAT) -> np.ndarray:
    """The same as a share of what it costs to lose all."""
    curves = _checked(scores)
    return lost_between(curves, begin, end) / _beyond(lost_between(curves, 0, -1), tolerance)


def _beyond(drop: np.ndarray, tolerance: float) -> np.ndarray:
    return np.where(drop > tolerance, drop, np.nan)


def _above_chord(scores: ArrayLike, tolerance: float) -> np.ndarray:
    """Of the points between the ends, as shares of the drop; NaN where there is no such point, or next to no drop."""
    curves = _checked(scores)
    first, last, n_points = curves[..., 0], curves[..., -1], curves.shape[-1]
    if n_points < 3:
        return np.full((*curves.shape[:-1], 1), np.nan)
    chord = np.linspace(first, last, n_points, axis=-1)
    return (curves - chord)[..., 1:-1] / _beyond(first - last, tolerance)[..., None]


def _checked(scores: ArrayLike) -> np.ndarray:
    curves = np.asarray(scores, dtype=np.float64)
    if curves.ndim == 0 or curves.shape[-1] < 2 or not np.isfinite(curves).all():
        raise ValueError(f"a curve is two or more finite scores, one per number of layers, not {scores}")
    return curves
