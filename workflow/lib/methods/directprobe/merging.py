"""The order of merges: always the two closest clusters of one label, by the distance of their means."""

import heapq

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist


class MergeTree:
    """All merges down to one cluster per label, as if none were ever refused. Labels do not influence each other, so
    each has its own centroid linkage; the steps of all labels are then interleaved in the order of the merges."""

    def __init__(self, points: np.ndarray, rows_of_label: list[np.ndarray]) -> None:
        self.rows_of_label, self.n_points = rows_of_label, len(points)
        self.links, heights = [], []
        for rows in rows_of_label:
            steps = linkage(points[rows], "centroid") if len(rows) > 1 else np.empty((0, 4))
            self.links.append(steps[:, :2].astype(np.intp))
            heights.append(steps[:, 2])
        self.label_of_step = _interleave(heights)
        self.time_of = [np.flatnonzero(self.label_of_step == k) + 1 for k in range(len(rows_of_label))]

    @property
    def n_steps(self) -> int:
        return len(self.label_of_step)

    def state(self, time: int) -> list[list[np.ndarray]]:
        """The clusters of every label after the first `time` merges, each as row numbers of points."""
        return [
            self._clusters_of(k, int(np.searchsorted(self.time_of[k], time, "right"))) for k in range(len(self.links))
        ]

    def _clusters_of(self, label: int, n_merges: int) -> list[np.ndarray]:
        rows, links = self.rows_of_label[label], self.links[label][:n_merges]
        root = np.arange(len(rows) + n_merges)
        root[links] = (len(rows) + np.arange(n_merges))[:, None]
        while not np.array_equal(root[root], root):
            root = root[root]
        of_row = root[: len(rows)]
        order = np.argsort(of_row, kind="stable")
        starts = np.flatnonzero(np.diff(of_row[order], prepend=-1))
        return np.split(rows[order], starts[1:])

    def joined(self, label: int, rows: np.ndarray) -> int:
        """The number of merges after which these points of a label are in one cluster."""
        n, links = len(self.rows_of_label[label]), self.links[label]
        parent = np.full(n + len(links), -1)
        parent[links] = (n + np.arange(len(links)))[:, None]
        nodes = list(map(int, np.searchsorted(self.rows_of_label[label], rows)))
        heapq.heapify(nodes)
        # parents have higher numbers than their parts, so the lowest of several nodes is replaced by its parent
        while nodes[0] != max(nodes):
            oldest = heapq.heapreplace(nodes, int(parent[nodes[0]]))
            while nodes[0] == oldest:
                heapq.heapreplace(nodes, int(parent[oldest]))
        return int(self.time_of[label][nodes[0] - n]) if nodes[0] >= n else 0


def _interleave(heights: list[np.ndarray]) -> np.ndarray:
    """The label of each step. Heights need not increase within a label (the mean of two clusters may be closer to a
    third than either), so sorting is not enough: the next step is that of the label whose next height is lowest."""
    queue = [(float(h[0]), k, 0) for k, h in enumerate(heights) if len(h)]
    heapq.heapify(queue)
    order = []
    while queue:
        _, k, step = queue[0]
        order.append(k)
        if step + 1 < len(heights[k]):
            heapq.heapreplace(queue, (float(heights[k][step + 1]), k, step + 1))
        else:
            heapq.heappop(queue)
    return np.array(order, dtype=np.intp)


class ClosestPairs:
    """Finds the two closest clusters of one label that were not refused. Clusters are kept in slots, those of a label
    next to each other; a merged cluster stays in the first one's slot. One distance matrix per label, with row minima.
    `twin`: whether a cluster holds a point that also occurs with another label."""

    def __init__(self, centres: np.ndarray, label_of: np.ndarray, twin: np.ndarray) -> None:
        self.centres, self.twin = centres, twin
        self.alive = np.ones(len(centres), dtype=bool)
        self.first = np.searchsorted(label_of, label_of, "left")
        last = np.searchsorted(label_of, label_of, "right")
        self.matrix = {}
        self.nearest, self.distance = np.zeros(len(centres), dtype=np.intp), np.full(len(centres), np.inf)
        for start in np.unique(self.first):
            block = slice(start, last[start])
            distances = cdist(centres[block], centres[block])
            np.fill_diagonal(distances, np.inf)
            self.matrix[start] = distances
            self.nearest[block], self.distance[block] = distances.argmin(1) + start, distances.min(1)

    def closest(self) -> tuple[int, int] | None:
        i = int(self.distance.argmin())
        return (i, int(self.nearest[i])) if np.isfinite(self.distance[i]) else None

    def refuse(self, i: int, j: int) -> None:
        start, matrix = self.first[i], self.matrix[self.first[i]]
        matrix[i - start, j - start] = matrix[j - start, i - start] = np.inf
        self._renew(start, np.array([i, j]) - start)

    def merge(self, i: int, j: int, centre: np.ndarray) -> None:
        """Merge into slot i; slot j is left empty. Refusals of either part apply to the union, because hulls only grow.
        Only a point with two labels can undo a refusal (see `strict_spheres`), so there refusals are not inherited."""
        start, matrix = self.first[i], self.matrix[self.first[i]]
        block = slice(start, start + len(matrix))
        a, b = i - start, j - start
        twin = self.twin[block]
        refused = (np.isinf(matrix[a]) & ~(twin | twin[a])) | (np.isinf(matrix[b]) & ~(twin | twin[b]))
        self.alive[j] = False
        self.centres[i], self.twin[i] = centre, self.twin[i] | self.twin[j]
        row = np.sqrt(np.square(self.centres[block] - centre).sum(axis=1))
        row[refused | ~self.alive[block]] = np.inf
        row[a] = np.inf
        matrix[a], matrix[:, a], matrix[b], matrix[:, b] = row, row, np.inf, np.inf
        nearest, distance = self.nearest[block], self.distance[block]
        lost = ((nearest == i) | (nearest == j)) & (row > distance)
        closer = row <= distance
        nearest[closer], distance[closer] = i, row[closer]
        lost[a], lost[b] = True, True
        self._renew(start, np.flatnonzero(lost))

    def _renew(self, start: int, rows: np.ndarray) -> None:
        matrix = self.matrix[start]
        for some in np.array_split(rows, max(1, len(rows) * len(matrix) // 4_000_000)):
            part = matrix[some]
            best = part.argmin(1)
            self.nearest[start + some], self.distance[start + some] = best + start, part[np.arange(len(some)), best]
