"""Clusters labelled points into as few single-label clusters as possible, such that the convex hulls of clusters with
different labels do not overlap. One cluster per label means that the labels are pairwise linearly separable.
"""

from dataclasses import dataclass

import numpy as np

from workflow.lib.base.errors import UserError
from workflow.lib.methods.directprobe.conflicts import is_conflicting
from workflow.lib.methods.directprobe.front import Front, Overlap
from workflow.lib.methods.directprobe.hulls import one_blas_thread
from workflow.lib.methods.directprobe.merging import ClosestPairs, MergeTree

LARGEST = 1e100


@dataclass(frozen=True)
class Clusters:
    """The cluster of every point, numbered in order of first occurrence, and the label of every cluster."""

    of_point: np.ndarray
    labels: np.ndarray

    @property
    def n_clusters(self) -> int:
        return len(self.labels)

    @property
    def is_linear(self) -> bool:
        """As many clusters as labels, as in the paper."""
        return self.n_clusters == len(np.unique(self.labels))

    def members(self) -> list[np.ndarray]:
        """The points of every cluster, as row numbers."""
        order = np.argsort(self.of_point, kind="stable")
        return np.split(order, np.searchsorted(self.of_point[order], np.arange(1, self.n_clusters)))


def probe(x: np.ndarray, y: np.ndarray, strict_spheres: bool = True) -> Clusters:
    """Clusters of the points `x` (n, d) with labels `y`, merged as published: always the closest two of one label,
    unless the union would overlap a cluster of another label; then these two are never tried again.

    `strict_spheres` is a property of the published tool: clusters overlap only if the spheres around their means
    through their farthest points overlap too, rA + rB > distance. This matters only if one point has two labels: the
    two single-point clusters count as separate, and so does a cluster of which it is the farthest point. Off: only
    hulls count.
    """
    points, y = checked(x, y)
    points = points - points.mean(axis=0)
    scale = float(np.abs(points).max())
    rows_of_label = [np.flatnonzero(y == label) for label in np.unique(y)]
    with one_blas_thread():
        whole = Front(points, [[rows] for rows in rows_of_label], scale, strict_spheres)
        if whole.first_overlap() is None:
            return _numbered(rows_of_label, y)
        return _numbered(_merge_while_apart(points, rows_of_label, scale, strict_spheres), y)


def checked(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points as float64, and labels; raises an error that says what is wrong with them."""
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != 2 or not x.size:
        raise UserError(f"points must be a non-empty table (n x d), these have shape {x.shape}")
    if not np.issubdtype(x.dtype, np.floating) and not np.issubdtype(x.dtype, np.integer):
        raise UserError(f"points must be numbers, not {x.dtype}")
    if y.shape != (len(x),):
        raise UserError(f"there must be one label per point: {len(x)} points, labels of shape {y.shape}")
    if not np.issubdtype(y.dtype, np.integer):
        raise UserError(f"labels must be integers, not {y.dtype}")
    wrong = ~np.isfinite(x).all(axis=1)
    if wrong.any():
        raise UserError(f"points hold NaN or infinity, first in row {int(wrong.argmax())}")
    if np.abs(x := x.astype(np.float64)).max() > LARGEST:
        raise UserError(f"points hold numbers beyond {LARGEST:g}; the squares of their distances would overflow")
    return x, y


def _merge_while_apart(
    points: np.ndarray, rows_of_label: list[np.ndarray], scale: float, strict: bool
) -> list[np.ndarray]:
    """Clusters after all merges in order, each tested, starting from the last state known to have no overlap."""
    tree = MergeTree(points, rows_of_label)
    front = _last_clean_state(tree, points, scale, strict)
    pairs = ClosestPairs(front.centres, front.label_of, _with_twin(front))
    while (pair := pairs.closest()) is not None:
        outcome = front.try_union(*pair)
        if isinstance(outcome, Overlap):
            pairs.refuse(*pair)
        else:
            front.merge(outcome)
            pairs.merge(*pair, front.centres[pair[0]])
    return [rows for rows in front.rows if rows is not None]


def _last_clean_state(tree: MergeTree, points: np.ndarray, scale: float, strict: bool) -> Front:
    """The state before the first merge that leads to an overlap; merges up to it need no test. Hulls only grow, so it
    is found by bisection; the points that prove an overlap date it, which shortens the search."""
    clean, bad = 0, tree.n_steps
    front = None
    while bad - clean > 1:
        middle = (clean + bad) // 2
        tested = Front(points, tree.state(middle), scale, strict)
        overlap = tested.first_overlap()
        if overlap is None:
            clean, front = middle, tested
        else:
            bad = max(min(middle, _since_when(tree, tested, overlap)), clean + 1)
    return front if front is not None else Front(points, tree.state(0), scale, strict)


def _since_when(tree: MergeTree, front: Front, overlap: Overlap) -> int:
    """The number of merges after which the overlap exists."""
    return max(
        tree.joined(int(front.label_of[slot]), np.unique(rows)) for slot, rows in zip(overlap.slots, overlap.rows)
    )


def _with_twin(front: Front) -> np.ndarray:
    """(clusters,) whether a cluster holds a point that also occurs with another label."""
    twin = np.zeros(len(front.rows), dtype=bool)
    twin[front.slot_of[is_conflicting(front.points, front.label_of[front.slot_of])]] = True
    return twin


def _numbered(clusters: list[np.ndarray], y: np.ndarray) -> Clusters:
    clusters = sorted(clusters, key=min)
    of_point = np.empty(len(y), dtype=np.intp)
    for k, rows in enumerate(clusters):
        of_point[rows] = k
    return Clusters(of_point, np.array([y[rows[0]] for rows in clusters]))
