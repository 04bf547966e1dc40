"""Distances between the convex hulls of whole labels, and label centroids."""

from itertools import combinations

import numpy as np

from workflow.lib.methods.directprobe.hulls import Gap, hull_distance, one_blas_thread

Pair = tuple[str, str]


def label_hull_distances(
    points: np.ndarray, labels: np.ndarray, starts: dict[Pair, Gap] | None = None
) -> dict[Pair, Gap]:
    """The gap between the hulls of each pair of labels (distance 0: they overlap), sorted by name.

    `starts`, the gaps of the same points at another training step, only make it faster.
    """
    points = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    scale = float(np.abs(points).max())
    members = {name: points[labels == name] for name in sorted(set(labels))}
    with one_blas_thread():
        return {
            (a, b): hull_distance(members[a], members[b], (starts or {}).get((a, b)), scale)
            for a, b in combinations(members, 2)
        }


def centroids(points: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    return {name: points[labels == name].mean(axis=0, dtype=np.float64) for name in sorted(set(labels))}
