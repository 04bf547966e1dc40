"""The current clusters, with a test whether a cluster overlaps any cluster of another label.

Nearly all pairs are separate, and projecting on the line between their centres usually proves it. How far each
cluster's points extend along these lines is therefore kept in a matrix (clusters of several points x all clusters),
updated with every merge; only pairs for which this proof fails need the exact test.
"""

from dataclasses import dataclass

import numpy as np

from workflow.lib.methods.directprobe.hulls import COINCIDE, Gap, separation

BYTES_FOR_GAPS = 400e6
ENTRIES_AT_A_TIME = 8_000_000  # size of temporary matrix products
ROUNDING = 1e-11  # relative to the spread of the points
REFERENCE_LASTS = 1.5  # a cluster's reference point is recomputed when it has grown by this factor


@dataclass(frozen=True)
class Overlap:
    """Two overlapping clusters of different labels: their slots, and the points that prove it."""

    slots: tuple[int, int]
    rows: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Union:
    """Two clusters that may be merged, and what their test has computed for the union."""

    slots: tuple[int, int]
    reference: np.ndarray
    reference_size: int
    reach: np.ndarray
    back: np.ndarray
    gaps: dict[int, Gap]


def distances_to(centre: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distances of points to a centre. Radii and distances between centres use this same formula, so that they are
    bit-identical for copies of a point."""
    return np.sqrt(np.square(points - centre).sum(axis=1))


class Front:
    """Clusters are kept in slots, those of a label next to each other. A union takes the slot of its first part, whose
    points keep their positions in it, so that stored results about them stay valid."""

    def __init__(self, points: np.ndarray, clusters: list[list[np.ndarray]], scale: float, strict: bool) -> None:
        self.points, self.scale, self.strict = points, scale, strict
        self.rows = [rows for of_label in clusters for rows in of_label]
        self.label_of = np.repeat(np.arange(len(clusters)), [len(of_label) for of_label in clusters])
        self.sizes = np.array([len(rows) for rows in self.rows])
        self.blocks = [points[rows] for rows in self.rows]
        self.centres = np.array([block.mean(axis=0) if len(block) > 1 else block[0] for block in self.blocks])
        self.radii = np.array([distances_to(c, block).max() for c, block in zip(self.centres, self.blocks)])
        n = len(self.rows)
        self.alive = np.ones(n, dtype=bool)
        self.slot_of = np.empty(len(points), dtype=np.intp)
        self.slot_of[np.concatenate(self.rows)] = np.repeat(np.arange(n), self.sizes)
        # directions are between reference points: a cluster's mean, not updated while the cluster grows a little
        self.references, self.reference_sizes = self.centres.copy(), self.sizes.copy()
        self.squares = np.square(self.references).sum(axis=1)
        self.own_product = np.einsum("nd,nd->n", points, self.references[self.slot_of])
        self.gaps: list[dict[int, Gap]] = [{} for _ in range(n)]
        self.n_gaps, self.max_gaps = 0, BYTES_FOR_GAPS / (8 * points.shape[1] + 1500)
        self.blocker = np.full(n, -1)
        several = np.flatnonzero(self.sizes > 1)
        self.reach = np.empty((len(several) + (n - len(several)) // 2, n))  # rows take memory only once they are used
        self.reach_row = np.full(n, -1)
        self.reach_row[several] = np.arange(len(several))
        self.free_rows = list(range(len(self.reach) - 1, len(several) - 1, -1))
        for i in several:
            self.reach[self.reach_row[i]] = self._reach_of(self.blocks[i], self.references[i])

    def _reach_of(self, block: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """For every slot's reference point r, how far these points extend beyond r in the direction from their own
        reference point: max over x of (r - reference).(x - r)."""
        at_once = max(1, ENTRIES_AT_A_TIME // len(self.references))
        reach = np.full(len(self.references), -np.inf)
        for first in range(0, len(block), at_once):
            some = block[first : first + at_once]
            along = self.references @ (some + reference).T
            along -= some @ reference
            np.maximum(reach, along.max(axis=1), out=reach)
        return reach - self.squares

    def _reach_towards(self, reference: np.ndarray) -> np.ndarray:
        """The same for the points of every slot, in the direction of one reference point."""
        reach = np.full(len(self.references), -np.inf)
        np.maximum.at(reach, self.slot_of, self.points @ reference - self.own_product)
        return reach + self.references @ reference - reference @ reference

    def _open_slots(
        self, label: int, reference: np.ndarray, reach: np.ndarray, back: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slots of other labels that the line between the reference points does not separate from this cluster, and by
        how much it fails. For a single point, which is its own reference, `reach` decides; else both sides count."""
        slack = np.where(self.alive & (self.label_of != label), reach, -np.inf)
        several = np.flatnonzero((self.sizes > 1) & (self.label_of != label))
        slack[several] += back[several] + np.square(self.references[several] - reference).sum(axis=1)
        slots = np.flatnonzero(slack >= -COINCIDE * self.scale**2)
        return slots, slack[slots]

    def _touching(self, centre: np.ndarray, radius: float, slots: np.ndarray) -> np.ndarray:
        """The published prefilter; strict, so that spheres that only touch (up to rounding) count as separate."""
        if not self.strict:
            return np.ones(len(slots), dtype=bool)
        return radius + self.radii[slots] > distances_to(centre, self.centres[slots]) + ROUNDING * self.scale

    def try_union(self, i: int, j: int) -> Union | Overlap:
        """Test the merge of two clusters, without changing anything yet."""
        big, small = (j, i) if self.sizes[j] > self.sizes[i] else (i, j)
        size = self.sizes[i] + self.sizes[j]
        block = None
        is_new = size >= REFERENCE_LASTS * self.reference_sizes[big]
        centre = (self.sizes[i] * self.centres[i] + self.sizes[j] * self.centres[j]) / size
        if is_new:
            block = np.concatenate([self.blocks[i], self.blocks[j]])
            reference = centre
            reach, back = self._reach_of(block, reference), self._reach_towards(reference)
        else:
            reference = self.references[big]
            reach = np.maximum(self.reach[self.reach_row[big]], self._reach_of(self.blocks[small], reference))
            back = self._back(big)
        slots, slack = self._open_slots(self.label_of[i], reference, reach, back)
        gaps: dict[int, Gap] = {}
        if len(slots):
            block = np.concatenate([self.blocks[i], self.blocks[j]]) if block is None else block
            touching = self._touching(centre, distances_to(centre, block).max(), slots)
            slots, slack = slots[touching], slack[touching]
            # the cluster that blocked a merge of either part before is most likely to block this one
            slack[(slots == self.blocker[i]) | (slots == self.blocker[j])] = np.inf
            for k in map(int, slots[np.argsort(-slack)]):
                gap = separation(block, self.blocks[k], self._known(i, j, k), self.scale)
                if gap.overlap:
                    self.blocker[i] = self.blocker[j] = k
                    rows = np.concatenate([self.rows[i], self.rows[j]])
                    return Overlap((i, k), (rows[gap.support[0]], self.rows[k][gap.support[1]]))
                gaps[k] = gap
        reference_size = int(size if is_new else self.reference_sizes[big])
        return Union((i, j), reference.copy(), reference_size, reach, back, gaps)

    def _back(self, slot: int) -> np.ndarray:
        """How far the clusters of several points extend towards this slot."""
        back = np.zeros(len(self.references))
        several = self.reach_row >= 0
        back[several] = self.reach[self.reach_row[several], slot]
        return back

    def _known(self, i: int, j: int, k: int) -> Gap | None:
        """A known gap of one part of the union, as a starting point. The second part's rows follow the first's."""
        gap = _from_first(self.gaps[i].get(k), i, k)
        if gap is not None:
            return gap
        gap = _from_first(self.gaps[j].get(k), j, k)
        return Gap(gap.distance, gap.normal, (gap.support[0] + self.sizes[i], gap.support[1])) if gap else None

    def _keep_gap(self, i: int, k: int, gap: Gap) -> None:
        if self.n_gaps < self.max_gaps or k in self.gaps[i]:
            self.n_gaps += k not in self.gaps[i]
            self.gaps[i][k] = self.gaps[k][i] = _from_first(gap, i, k)

    def merge(self, union: Union) -> None:
        """Carry out a merge that `try_union` found to be free of overlap."""
        i, j = union.slots
        size = self.sizes[i] + self.sizes[j]
        self.centres[i] = (self.sizes[i] * self.centres[i] + self.sizes[j] * self.centres[j]) / size
        self.rows[i] = np.concatenate([self.rows[i], self.rows[j]])
        self.blocks[i] = np.concatenate([self.blocks[i], self.blocks[j]])
        self.radii[i] = distances_to(self.centres[i], self.blocks[i]).max()
        self.references[i], self.reference_sizes[i] = union.reference, union.reference_size
        self.squares[i] = union.reference @ union.reference
        self.sizes[i] = size
        self.slot_of[self.rows[i]], self.own_product[self.rows[i]] = i, self.blocks[i] @ union.reference
        self._forget(j)
        if self.reach_row[i] < 0:
            self.reach_row[i] = self.free_rows.pop()
        several = self.reach_row >= 0
        self.reach[self.reach_row[several], i] = union.back[several]
        self.reach[self.reach_row[i]] = union.reach
        for k, gap in union.gaps.items():
            self._keep_gap(i, k, gap)

    def _forget(self, slot: int) -> None:
        self.alive[slot], self.sizes[slot], self.rows[slot], self.blocks[slot] = False, 0, None, None
        if self.reach_row[slot] >= 0:
            self.free_rows.append(int(self.reach_row[slot]))
            self.reach_row[slot] = -1
        for k in self.gaps[slot]:
            del self.gaps[k][slot]
        self.n_gaps -= len(self.gaps[slot])
        self.gaps[slot] = {}

    def first_overlap(self) -> Overlap | None:
        """Two overlapping clusters of different labels, if any; the likeliest pairs are tested first."""
        doubtful = []
        for i in np.flatnonzero(self.sizes > 1):
            reach = self.reach[self.reach_row[i]]
            slots, slack = self._open_slots(self.label_of[i], self.references[i], reach, self._back(i))
            mine = (self.sizes[slots] == 1) | (slots > i)  # two clusters of several points are tested only once
            mine &= self._touching(self.centres[i], self.radii[i], slots)
            doubtful += [(-s, int(i), int(k)) for s, k in zip(slack[mine], slots[mine])]
        for _, i, k in sorted(doubtful):
            gap = separation(self.blocks[i], self.blocks[k], None, self.scale)
            if gap.overlap:
                return Overlap((i, k), (self.rows[i][gap.support[0]], self.rows[k][gap.support[1]]))
            self._keep_gap(i, k, gap)
        return None


def _from_first(gap: Gap | None, i: int, k: int) -> Gap | None:
    """Converts a gap between the stored orientation (from the lower slot) and the orientation from slot i."""
    return gap if gap is None or i < k else Gap(gap.distance, -gap.normal, gap.support[::-1])
