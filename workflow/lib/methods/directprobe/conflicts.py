"""One point under two labels, as when a text occurs twice: no representation can part them."""

import numpy as np


def places(points: np.ndarray) -> np.ndarray:
    """(n,) equal numbers for points that are equal to the bit."""
    return np.unique(points, axis=0, return_inverse=True)[1].ravel()


def is_conflicting(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(n,) True where the same point occurs under another label too. Labels are integers."""
    place = places(points)
    lowest, highest = np.full(len(place), labels.max()), np.full(len(place), labels.min())
    np.minimum.at(lowest, place, labels)
    np.maximum.at(highest, place, labels)
    return (lowest < highest)[place]


def cluster_floor(points: np.ndarray, labels: np.ndarray) -> int:
    """How many clusters are left where all is separated that can be.

    Every conflicting point is a cluster of its own under each of its labels, the other points of a label are one
    cluster. Without conflicts that is the number of labels. DirectProbe may leave one cluster fewer for such a point
    (at the rim of its label it passes the published sphere test) or one more (a label must split around it).
    """
    conflicts = is_conflicting(points, labels)
    alone = np.unique(np.stack([places(points)[conflicts], labels[conflicts]]), axis=1)
    return alone.shape[1] + len(np.unique(labels[~conflicts]))
