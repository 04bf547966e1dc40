"""Exact distance between two convex hulls, with a certificate: a separating hyperplane or a common point.

The closest points are convex combinations of a few vertices. An active-set method (Wolfe's minimum-norm point, with the
two hulls kept separate) holds these vertices, minimises over their affine hull, drops those whose weight would become
negative and adds points that lie beyond the current hyperplane. Except for the scan over all points, everything happens
in the Gram matrix of a small working set, so that the small steps depend neither on the number of points nor on the
dimension.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.optimize import linprog
from threadpoolctl import ThreadpoolController

from workflow.lib.base.work import count

# Resolution of float32 relative to the spread of the points: hulls closer than this overlap. After a LayerNorm all
# points lie in one hyperplane up to rounding, and along its normal any two labels would be separate, by 1e-9.
COINCIDE = 1e-7
CONVERGED = 1e-9  # relative difference of the distance and its lower bound
POINTS_PER_LOOK = 24  # points of each hull added to the working set at a time
POINTS_PER_STEP = 16  # points that become vertices at a time
BOLD_STEPS = 6  # times that all vertices of negative weight are dropped together, before dropping one at a time
RIDGES = (1e-14, 1e-12, 1e-10, 1e-8)  # added to the diagonal, relative to its largest, until it can be factorised
MAX_POLISHED = 50  # polishing steps against rounding, before a linear programme decides
NEAR = 1e-5  # below this fraction of the spread the Gram matrix, exact only to its square, cannot give the distance


@dataclass(frozen=True)
class Gap:
    """The gap between two hulls: `normal` is the unit vector from the second to the first, zero if they overlap;
    `support` holds the rows of both hulls whose convex combinations are the closest (or common) points."""

    distance: float
    normal: np.ndarray
    support: tuple[np.ndarray, np.ndarray]

    @property
    def overlap(self) -> bool:
        return self.distance == 0.0


def hull_distance(a: np.ndarray, b: np.ndarray, start: Gap | None = None, scale: float | None = None) -> Gap:
    """Distance between the convex hulls of the rows of `a` and `b`. Two arguments only make it faster: `start`, the gap
    of a similar pair with corresponding rows (such as an earlier training step), and `scale`, the approximate extent of
    points that the caller has already centred and converted to float64."""
    return _search(a, b, start, scale, exact=True)


def separation(a: np.ndarray, b: np.ndarray, start: Gap | None = None, scale: float | None = None) -> Gap:
    """As `hull_distance`, but stops at the first separating hyperplane: only whether the distance is 0 is exact."""
    return _search(a, b, start, scale, exact=False)


def one_blas_thread() -> AbstractContextManager:
    """Context for many distance computations: on such small matrices, BLAS threads mostly wait for each other."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # cached, because finding the libraries takes as long as several distances


def width_along(normal: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Width of the gap between the hulls along a direction; positive if the direction separates them."""
    return float((a @ normal).min() - (b @ normal).max()) / max(float(np.sqrt(normal @ normal)), 1e-300)


def _search(a: np.ndarray, b: np.ndarray, start: Gap | None, scale: float | None, exact: bool) -> Gap:
    count("hull_distances")
    if scale is None:
        a, b, scale = _centred(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    if scale == 0.0:  # all points coincide
        return _gap(0.0, np.zeros(a.shape[1]), np.array([0]), np.array([0]))
    if start is not None and not exact and start.normal.any():
        width = width_along(start.normal, a, b)
        if width > COINCIDE * scale:
            return _gap(width, start.normal, *start.support)
    work = _WorkingSet(a, b, scale, start)
    while True:
        work.minimise()
        difference, upper = work.difference()
        n_polished = int(upper < NEAR * scale)
        if n_polished:
            difference, upper = work.polish()
        while True:
            if upper <= COINCIDE * scale:
                return _gap(0.0, np.zeros(a.shape[1]), *work.support())
            along_a, along_b = a @ difference, b @ difference
            lower = float(along_a.min() - along_b.max()) / upper
            if lower > COINCIDE * scale and (not exact or upper - lower <= CONVERGED * upper):
                return _gap(upper if exact else lower, difference, *work.support())
            if work.take_in(along_a, along_b):
                break
            # no point is left to add, so rounding in the Gram matrix prevents convergence
            entered = work.enter(along_a, along_b)
            if n_polished > (MAX_POLISHED if entered else 0):
                return _doubtful(a, b, scale, work, difference, lower, upper)
            n_polished, (difference, upper) = n_polished + 1, work.polish()


def _gap(distance: float, difference: np.ndarray, rows_a: np.ndarray, rows_b: np.ndarray) -> Gap:
    norm = float(np.sqrt(difference @ difference))
    return Gap(distance, difference / norm if norm else difference, (rows_a, rows_b))


def _centred(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Both sets, centred if they lie far from the origin (only then, as a copy costs as much as a scan over all
    points), and their largest extent along an axis."""
    lowest, highest = np.minimum(a.min(0), b.min(0)), np.maximum(a.max(0), b.max(0))
    scale, offset = float((highest - lowest).max()), float(np.maximum(-lowest, highest).max())
    if offset > 8 * scale:
        middle = lowest + (highest - lowest) / 2
        return a - middle, b - middle, scale
    return a, b, scale


def _doubtful(a, b, scale: float, work: "_WorkingSet", difference: np.ndarray, lower: float, upper: float) -> Gap:
    """The result if neither certificate was reached to full precision: a linear programme decides on separation."""
    if lower > COINCIDE * scale:
        return _gap(upper, difference, *work.support())
    normal = _widest_by_programme(a, b, scale, work)
    if normal is None:
        return _gap(0.0, np.zeros(a.shape[1]), *work.support())
    return _gap(width_along(normal, a, b), normal, *work.support())


def _widest_by_programme(a: np.ndarray, b: np.ndarray, scale: float, work: "_WorkingSet") -> np.ndarray | None:
    """A separating direction, found by HiGHS on the working set, which is extended by points on the wrong side."""
    rows_a, rows_b = work.points()
    while True:
        inside_a, inside_b = a[rows_a] / scale, b[rows_b] / scale
        d, n_a, n_b = a.shape[1], len(rows_a), len(rows_b)
        # variables: normal in [-1, 1]^d, offset, half width; maximise the half width
        signed = np.vstack([-inside_a, inside_b])
        offset = np.concatenate([np.ones(n_a), -np.ones(n_b)])[:, None]
        constraints = np.hstack([signed, offset, np.ones((n_a + n_b, 1))])
        bounds = [(-1, 1)] * d + [(None, None), (0, 1)]
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        cost = np.append(np.zeros(d + 1), -1.0)
        count("linear_programmes")
        answer = linprog(cost, constraints, np.zeros(n_a + n_b), bounds=bounds, method="highs", options=options)
        if not answer.success or width_along(answer.x[:d], inside_a, inside_b) <= COINCIDE:
            return None
        normal = answer.x[:d]
        along_a, along_b = a @ normal, b @ normal
        if along_a.min() - along_b.max() > COINCIDE * scale * np.sqrt(normal @ normal):
            return normal
        new_a = np.setdiff1d(np.argsort(along_a)[:POINTS_PER_LOOK], rows_a)
        new_b = np.setdiff1d(np.argsort(-along_b)[:POINTS_PER_LOOK], rows_b)
        if not len(new_a) + len(new_b):
            return None
        rows_a, rows_b = np.append(rows_a, new_a), np.append(rows_b, new_b)


class _WorkingSet:
    """A few points of both hulls as signed vectors (a, 1, 0) and (-b, 0, 1), with their Gram matrix. Their weighted sum
    is the difference of two convex combinations. Since the weights of each side sum to one, the last two coordinates
    only add a constant, but they make the matrix regular if the vertices are affinely independent."""

    def __init__(self, a: np.ndarray, b: np.ndarray, scale: float, start: Gap | None) -> None:
        self.a, self.b, self.scale, self.size = a, b, scale, 0
        self.taken_a, self.taken_b = np.zeros(len(a), dtype=bool), np.zeros(len(b), dtype=bool)
        capacity = min(len(a) + len(b), 8 * POINTS_PER_LOOK)
        self.vectors, self.gram = np.empty((capacity, a.shape[1] + 2)), np.empty((capacity, capacity))
        self.row, self.from_a = np.empty(capacity, dtype=np.intp), np.empty(capacity, dtype=bool)
        rows_a, rows_b = start.support if start is not None else (np.array([], int), np.array([], int))
        if len(rows_a) and len(rows_b):
            self._append(rows_a, rows_b)
            self.vertices = np.arange(self.size)
            self.weights = np.where(self.from_a[: self.size], 1 / len(rows_a), 1 / len(rows_b))
        else:
            between = a.mean(0) - b.mean(0)
            along_a, along_b = a @ between, b @ between
            near_a, near_b = along_a.argmin(), along_b.argmax()
            self._append(np.array([near_a]), np.array([near_b]))
            self.vertices, self.weights = np.array([0, 1]), np.ones(2)
            self.take_in(along_a, along_b)

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        return np.flatnonzero(self.taken_a), np.flatnonzero(self.taken_b)

    def support(self) -> tuple[np.ndarray, np.ndarray]:
        rows, from_a = self.row[self.vertices], self.from_a[self.vertices]
        return rows[from_a], rows[~from_a]

    def difference(self) -> tuple[np.ndarray, float]:
        """The vector from the closest point of `b` to that of `a`, and its length."""
        difference = (self.weights @ self.vectors[self.vertices, :-2]) * self.scale
        return difference, float(np.sqrt(difference @ difference))

    def take_in(self, along_a: np.ndarray, along_b: np.ndarray) -> bool:
        """Add the points farthest beyond the two hyperplanes through the vertices; returns False if there are none."""
        rows_a, rows_b = self.support()
        beyond_a = np.where(self.taken_a, np.inf, along_a - along_a[rows_a].min())
        beyond_b = np.where(self.taken_b, np.inf, along_b[rows_b].max() - along_b)
        new_a, new_b = _smallest_negative(beyond_a, POINTS_PER_LOOK), _smallest_negative(beyond_b, POINTS_PER_LOOK)
        self._append(new_a, new_b)
        return len(new_a) + len(new_b) > 0

    def _append(self, rows_a: np.ndarray, rows_b: np.ndarray) -> None:
        self.taken_a[rows_a], self.taken_b[rows_b] = True, True
        old, new = self.size, self.size + len(rows_a) + len(rows_b)
        if new > len(self.row):
            self._enlarge(max(new, 2 * len(self.row)))
        middle = old + len(rows_a)
        self.vectors[old:middle, :-2], self.vectors[old:middle, -2:] = self.a[rows_a] / self.scale, (1, 0)
        self.vectors[middle:new, :-2], self.vectors[middle:new, -2:] = self.b[rows_b] / -self.scale, (0, 1)
        self.row[old:middle], self.row[middle:new] = rows_a, rows_b
        self.from_a[old:middle], self.from_a[middle:new] = True, False
        self.gram[old:new, :new] = self.vectors[old:new] @ self.vectors[:new].T
        self.gram[:old, old:new] = self.gram[old:new, :old].T
        self.size = new

    def _enlarge(self, capacity: int) -> None:
        old = self.size
        vectors, gram = np.empty((capacity, self.vectors.shape[1])), np.empty((capacity, capacity))
        row, from_a = np.empty(capacity, dtype=np.intp), np.empty(capacity, dtype=bool)
        vectors[:old], gram[:old, :old], row[:old], from_a[:old] = (
            self.vectors[:old],
            self.gram[:old, :old],
            self.row[:old],
            self.from_a[:old],
        )
        self.vectors, self.gram, self.row, self.from_a = vectors, gram, row, from_a

    def minimise(self) -> None:
        """Move to the closest points of the working set's two hulls."""
        gram, from_a = self.gram[: self.size, : self.size], self.from_a[: self.size]
        square, weight_of_all = np.inf, np.zeros(self.size)
        for _ in range(20 * self.size + 100):
            previous, square = square, self._to_affine_minimum(gram, from_a, square)
            if square < 1e-14 or square >= previous:
                break
            weight_of_all[:] = 0.0
            weight_of_all[self.vertices] = self.weights
            beyond = gram @ weight_of_all
            beyond[from_a] -= beyond[self.vertices[from_a[self.vertices]]].min()
            beyond[~from_a] -= beyond[self.vertices[~from_a[self.vertices]]].min()
            beyond[self.vertices] = 0.0
            new = _smallest_negative(beyond, POINTS_PER_STEP)
            worst = beyond[new].min(initial=0.0)
            if worst > -max(1e-12 * square, 1e-15):
                break
            new = new[beyond[new] < 0.1 * worst]
            self.vertices, self.weights = np.append(self.vertices, new), np.append(self.weights, np.zeros(len(new)))

    def _to_affine_minimum(self, gram: np.ndarray, from_a: np.ndarray, square: float) -> float:
        """Move to the closest points of the vertices' affine hulls, dropping vertices of negative weight. Returns the
        squared distance. Dropping all of them at once is faster, and safe if the distance decreases."""
        vertices, weights = self.vertices, self.weights
        target, value = first = _affine_weights(gram[vertices[:, None], vertices], from_a[vertices])
        for _ in range(BOLD_STEPS):
            rising = target > 0
            if rising.all():
                if value < square:
                    self.vertices, self.weights = vertices, target
                    return value
                break
            vertices = vertices[rising]
            side = from_a[vertices]
            if side.all() or not side.any():
                break
            target, value = _affine_weights(gram[vertices[:, None], vertices], side)
        vertices, (target, value) = self.vertices, first
        while True:
            falling = target <= 0
            if not falling.any():
                break
            ratio = weights[falling] / (weights[falling] - target[falling])
            step = ratio.min()
            weights = weights + step * (target - weights)
            keep = np.ones(len(weights), dtype=bool)
            keep[np.flatnonzero(falling)[ratio <= step]] = False
            vertices, weights = vertices[keep], weights[keep]
            target, value = _affine_weights(gram[vertices[:, None], vertices], from_a[vertices])
        self.vertices, self.weights = vertices, target
        return value

    def enter(self, along_a: np.ndarray, along_b: np.ndarray) -> bool:
        """Make the farthest points vertices, if rounding in the Gram matrix has hidden that they should be."""
        row, from_a = self.row[: self.size], self.from_a[: self.size]
        farthest = np.where(from_a, row == along_a.argmin(), row == along_b.argmax())
        farthest[self.vertices] = False
        new = np.flatnonzero(farthest)
        self.vertices, self.weights = np.append(self.vertices, new), np.append(self.weights, np.zeros(len(new)))
        return len(new) > 0

    def polish(self) -> tuple[np.ndarray, float]:
        """Minimise over the same vertices again, on the points themselves: the Gram matrix squares rounding errors."""
        vertices, weights = self.vertices, self.weights
        while True:
            sides = np.stack([self.from_a[vertices], ~self.from_a[vertices]])
            # changes must keep each side's sum of weights at one: they are taken relative to its heaviest vertex
            heaviest = (sides * weights).argmax(axis=1)
            base = np.where(sides[0], heaviest[0], heaviest[1])
            vectors = self.vectors[vertices, :-2]
            change = np.linalg.lstsq((vectors - vectors[base]).T, -(weights @ vectors), rcond=1e-12)[0]
            change[heaviest] = 0.0
            change[heaviest] = -(sides @ change)
            falling = weights + change < 0
            if not falling.any():
                weights = weights + change
                break
            ratio = weights[falling] / -change[falling]
            weights = weights + ratio.min() * change
            keep = np.ones(len(weights), dtype=bool)
            keep[np.flatnonzero(falling)[ratio <= ratio.min()]] = False
            vertices, weights = vertices[keep], weights[keep]
        self.vertices, self.weights = vertices, weights
        return self.difference()


def _smallest_negative(values: np.ndarray, at_most: int) -> np.ndarray:
    some = np.argpartition(values, at_most)[:at_most] if len(values) > at_most else np.arange(len(values))
    return some[values[some] < 0]


def _affine_weights(gram: np.ndarray, from_a: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the shortest vector, which sum to one on each side, and its squared length (without the two extra
    coordinates). A small ridge handles duplicate points."""
    sides = np.empty((2, len(gram)))
    sides[0], sides[1] = from_a, ~from_a
    largest = gram.diagonal().max()
    for ridge in RIDGES:
        gram.flat[:: len(gram) + 1] += ridge * largest  # the caller's matrix is a copy
        _, solved, failed = dposv(gram.T, sides.T, lower=1)
        if not failed:
            break
    else:
        raise np.linalg.LinAlgError("the Gram matrix of the vertices is not positive definite")
    (aa, ab), (_, bb) = sides @ solved
    multipliers = np.array([bb - ab, aa - ab]) / (aa * bb - ab * ab)
    return solved @ multipliers, float(multipliers.sum()) - 2
