"""Measures from clusters: distances between clusters and between labels, and predicted labels of new points."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from scipy.spatial.distance import cdist

from workflow.lib.base.errors import UserError
from workflow.lib.methods.directprobe.clustering import Clusters
from workflow.lib.methods.directprobe.hulls import hull_distance, one_blas_thread

Distances = list[tuple[int, int, float]]


def cluster_distances(x: np.ndarray, clusters: Clusters) -> Distances:
    """(a, b, distance of their hulls) for all pairs of clusters a < b with different labels."""
    points, _, scale = _centred(x)
    blocks = [points[rows] for rows in clusters.members()]
    pairs = [(a, b) for a, b in combinations(range(len(blocks)), 2) if clusters.labels[a] != clusters.labels[b]]
    with one_blas_thread():
        return [(a, b, hull_distance(blocks[a], blocks[b], scale=scale).distance) for a, b in pairs]


def label_distances(distances: Distances, clusters: Clusters) -> Distances:
    """(label, label, mean distance over pairs of their clusters), the lower label first."""
    of_pair: dict[tuple[int, int], list[float]] = {}
    for a, b, distance in distances:
        low, high = sorted((int(clusters.labels[a]), int(clusters.labels[b])))
        of_pair.setdefault((low, high), []).append(distance)
    return [(low, high, float(np.mean(values))) for (low, high), values in sorted(of_pair.items())]


def predict(x: np.ndarray, clusters: Clusters, new: np.ndarray) -> np.ndarray:
    """The label of the cluster whose hull is nearest to each new point; of equally near ones the first.

    Most often a cluster's nearest point is closer than any other hull can be, and no hull distance is needed.
    """
    with one_blas_thread():
        near = _Neighbourhood(x, clusters, new)
        possible = near.at_least <= near.at_most.min(axis=1, keepdims=True) + 1e-9 * near.scale
        choice = possible.argmax(axis=1)
        for i in np.flatnonzero(possible.sum(axis=1) > 1):
            if len(np.unique(clusters.labels[possible[i]])) > 1:
                choice[i] = near.nearest(i, np.flatnonzero(possible[i]))
        return clusters.labels[choice]


class _Neighbourhood:
    """New points and hulls, with bounds on their distances: a lower bound along the line to a hull's mean, an upper
    bound by its nearest point."""

    def __init__(self, x: np.ndarray, clusters: Clusters, new: np.ndarray) -> None:
        new = np.asarray(new)
        if new.ndim != 2 or new.shape[1] != x.shape[1] or not np.isfinite(new).all():
            raise UserError(f"new points must be finite and of {x.shape[1]} dimensions, these have shape {new.shape}")
        points, middle, scale = _centred(x)
        self.new = new.astype(np.float64) - middle
        self.scale = max(scale, float(np.abs(self.new).max(initial=0.0)))
        self.blocks = [points[rows] for rows in clusters.members()]
        self.at_least = np.stack([_lower_bounds(self.new, block) for block in self.blocks], axis=1)
        self.at_most = np.stack([cdist(self.new, block).min(axis=1) for block in self.blocks], axis=1)

    def nearest(self, i: int, among: Iterable[int]) -> int:
        best, distance = -1, np.inf
        for k in sorted(among, key=lambda k: self.at_least[i, k]):
            if self.at_least[i, k] > distance + 1e-9 * self.scale:
                break
            found = hull_distance(self.new[i][None], self.blocks[k], scale=self.scale).distance
            if (found, k) < (distance, best):
                best, distance = int(k), found
        return best


def _lower_bounds(new: np.ndarray, block: np.ndarray) -> np.ndarray:
    mean = block.mean(axis=0)
    direction = new - mean
    length = np.sqrt(np.square(direction).sum(axis=1))
    along = (direction @ (block - mean).T).max(axis=1)
    return np.maximum(0.0, length - along / np.maximum(length, 1e-300))


def _centred(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    points = np.asarray(x, dtype=np.float64)
    middle = points.mean(axis=0)
    points = points - middle
    return points, middle, float(np.abs(points).max())
