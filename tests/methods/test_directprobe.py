"""DirectProbe against closed forms, against independent solvers, against a plain slow version of the same algorithm
and, where the folder is there, against the published tool's own answers."""

import json
import logging
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from tests.scripts import run_script
from workflow.lib.activations.cache import LayerWriter, layer_file
from workflow.lib.base.errors import UserError
from workflow.lib.base.tables import read_table
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.methods.directprobe.__main__ import main
from workflow.lib.methods.directprobe.clustering import Clusters, probe
from workflow.lib.methods.directprobe.conflicts import cluster_floor, is_conflicting
from workflow.lib.methods.directprobe.hulls import hull_distance, separation, width_along
from workflow.lib.methods.directprobe.measures import cluster_distances, label_distances, predict
from workflow.lib.methods.directprobe.merging import MergeTree

ROOT = Path(__file__).parents[2]
REFERENCE = Path(os.environ.get("TUNESCOPE_REFERENCE", ROOT.parent / "shared" / "reference" / "directprobe"))
SQUARE = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])


def overlap_by_programme(a: np.ndarray, b: np.ndarray) -> bool:
    """Is there a common convex combination? Asked of HiGHS directly."""
    sums = np.block([[np.ones((1, len(a))), np.zeros((1, len(b)))], [np.zeros((1, len(a))), np.ones((1, len(b)))]])
    equal = np.vstack([np.hstack([a.T, -b.T]), sums])
    right = np.append(np.zeros(a.shape[1]), [1, 1])
    return linprog(np.zeros(len(a) + len(b)), A_eq=equal, b_eq=right, method="highs").status == 0


def plain_probe(x: np.ndarray, y: np.ndarray, strict: bool = True) -> list[set[int]]:
    """The published algorithm without any short cut: every merge is tested, from the first, by a linear programme."""
    clusters = [{i} for i in range(len(x))]
    refused: set[frozenset] = set()

    def mean(cluster):
        return x[sorted(cluster)].mean(axis=0)

    def radius(cluster):
        return np.linalg.norm(x[sorted(cluster)] - mean(cluster), axis=1).max()

    def overlaps(a, b):
        if strict and radius(a) + radius(b) <= np.linalg.norm(mean(a) - mean(b)) + 1e-12:
            return False
        return overlap_by_programme(x[sorted(a)], x[sorted(b)])

    while True:
        pairs = [(a, b) for a, b in combinations(clusters, 2) if y[min(a)] == y[min(b)]]
        pairs = [(a, b) for a, b in pairs if frozenset([frozenset(a), frozenset(b)]) not in refused]
        if not pairs:
            return clusters
        a, b = min(pairs, key=lambda pair: np.linalg.norm(mean(pair[0]) - mean(pair[1])))
        others = [c for c in clusters if y[min(c)] != y[min(a)]]
        if any(overlaps(a | b, c) for c in others):
            refused.add(frozenset([frozenset(a), frozenset(b)]))
        else:
            clusters = [c for c in clusters if c is not a and c is not b] + [a | b]


def as_sets(clusters: Clusters) -> set[frozenset]:
    return {frozenset(map(int, rows)) for rows in clusters.members()}


def labelled_points(seed: int, n: int, d: int, n_labels: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_labels, n)
    return spread * rng.normal(size=(n_labels, d))[y] + rng.normal(size=(n, d)), y


def with_twin(outlier: bool) -> tuple[np.ndarray, np.ndarray]:
    """Three labels far apart, and one point, inside the first label's hull or far outside, that carries two labels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 16)) + np.repeat(5 * rng.normal(size=(3, 16)), 40, axis=0)
    away = rng.normal(size=16)
    twin = x[:40].mean(axis=0) + 12 * away / np.linalg.norm(away) if outlier else x[:3].mean(axis=0)
    return np.vstack([x, twin, twin]), np.append(np.repeat([0, 1, 2], 40), [0, 1])


# -- hulls ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ([[0, 0]], [[3, 4]], 5),
        ([[2, 1]], [[0, 0], [4, 0]], 1),
        ([[5, 4]], [[0, 0], [2, 0]], 5),
        (SQUARE, SQUARE + [3, 0], 2),
        (SQUARE, SQUARE + [4, 5], 5),
        (np.repeat(SQUARE, 5, axis=0), np.repeat(SQUARE, 3, axis=0) + [3, 0], 2),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]], 3**0.5),
        (np.eye(5), [[0, 0, 0, 0, 0]], 5**-0.5),
        (1e6 + SQUARE, 1e6 + SQUARE + [3, 0], 2),
        (1e-6 * SQUARE, 1e-6 * SQUARE + [3e-6, 0], 2e-6),
        (SQUARE, SQUARE + [1 + 1e-6, 0.3], 1e-6),
    ],
)
def test_distances_with_a_closed_form(a, b, expected):
    gap = hull_distance(np.array(a, dtype=float), np.array(b, dtype=float))
    assert gap.distance == pytest.approx(expected, rel=1e-6)
    assert width_along(gap.normal, np.array(a), np.array(b)) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("offset", [[0.5, 0.5], [0, 0], [1, 0], [1, 1], [1, -1], [1, 0.3], [0, 1e-3]])
def test_hulls_that_share_a_point_overlap(offset):
    """Inside, the same, along an edge, at a corner."""
    assert hull_distance(SQUARE, SQUARE + offset).overlap
    assert separation(SQUARE, SQUARE + offset).overlap
    assert hull_distance(1e5 + SQUARE, 1e5 + SQUARE + np.array(offset)).overlap


def test_points_inside_and_identical_points_overlap():
    assert hull_distance(np.array([[0.2, 0.2]]), SQUARE).overlap
    assert hull_distance(np.ones((1, 3)), np.ones((1, 3))).overlap
    assert hull_distance(np.ones((4, 3)), np.ones((2, 3))).overlap
    line = np.outer(np.arange(10.0), [1, 2, 3])
    assert hull_distance(line[::2], line[1::2]).overlap


def test_distances_agree_with_a_general_solver():
    rng = np.random.default_rng(0)
    for _ in range(12):
        d, n, m = rng.integers(1, 7), rng.integers(1, 7), rng.integers(1, 7)
        a, b = rng.normal(size=(n, d)), rng.normal(size=(m, d)) + rng.choice([0.5, 1, 2])

        def square(weights, a=a, b=b, n=n):
            return np.square(weights[:n] @ a - weights[n:] @ b).sum()

        sums = [
            {"type": "eq", "fun": lambda w, n=n: w[:n].sum() - 1},
            {"type": "eq", "fun": lambda w, n=n: w[n:].sum() - 1},
        ]
        start = np.append(np.full(n, 1 / n), np.full(m, 1 / m))
        best = minimize(square, start, method="SLSQP", bounds=[(0, 1)] * (n + m), constraints=sums, tol=1e-14)
        assert hull_distance(a, b).distance == pytest.approx(max(best.fun, 0) ** 0.5, abs=2e-4)


@pytest.mark.parametrize("n, d, shift", [(60, 5, 1.5), (200, 32, 0.6), (40, 100, 0.1), (400, 64, 0.4)])
def test_distances_are_proven_from_both_sides(n, d, shift):
    """The hyperplane bounds the distance from below, the closest points from above."""
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, d)) + shift, rng.normal(size=(n, d)) - shift
    gap = hull_distance(a, b)
    assert width_along(gap.normal, a, b) == pytest.approx(gap.distance, rel=1e-8)
    of_support = hull_distance(a[gap.support[0]], b[gap.support[1]])
    assert of_support.distance == pytest.approx(gap.distance, rel=1e-8)
    assert np.linalg.norm(gap.normal) == pytest.approx(1)
    assert not separation(a, b).overlap


def test_a_start_changes_nothing():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(80, 20)) + 0.6, rng.normal(size=(90, 20)) - 0.6
    moved_a, moved_b = a + 0.1 * rng.normal(size=a.shape), b + 0.1 * rng.normal(size=b.shape)
    start = hull_distance(a, b)
    assert hull_distance(a, b, start).distance == pytest.approx(start.distance, rel=1e-9)
    cold, warm = hull_distance(moved_a, moved_b), hull_distance(moved_a, moved_b, start)
    assert warm.distance == pytest.approx(cold.distance, rel=1e-9)
    assert hull_distance(a, np.vstack([b, a[:3]]), start).overlap


def test_overlap_agrees_with_a_linear_programme_on_degenerate_points():
    """Small integers: many copies, collinear points, touching hulls, more dimensions than points."""
    rng = np.random.default_rng(2)
    outcomes = []
    for _ in range(300):
        d, n, m = rng.integers(1, 8), rng.integers(1, 12), rng.integers(1, 12)
        a = rng.integers(-3, 4, size=(n, d)).astype(float)
        b = rng.integers(-3, 4, size=(m, d)) + float(rng.integers(0, 4))
        gap = hull_distance(a, b)
        assert gap.overlap == overlap_by_programme(a, b) == separation(a, b).overlap
        outcomes.append(gap.overlap)
    assert 0.2 < np.mean(outcomes) < 0.8


# -- clusters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_clusters_are_those_of_the_plain_algorithm(seed):
    d, n_labels, spread = [1, 2, 3, 5][seed % 4], [2, 3, 4][seed % 3], [0.0, 0.7, 1.5, 3.0][(seed // 4) % 4]
    x, y = labelled_points(seed, n=26, d=d, n_labels=n_labels, spread=spread)
    assert as_sets(probe(x, y)) == {frozenset(c) for c in plain_probe(x, y)}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_points_under_two_labels_as_in_the_plain_algorithm(seed, strict):
    x, y = labelled_points(100 + seed, n=22, d=2 + seed % 3, n_labels=2, spread=1.5)
    x[:2], y[:2] = x[-2:], 1 - y[-2:]
    assert probe(x, y, strict).n_clusters == len(plain_probe(x, y, strict))


@pytest.mark.parametrize(
    "outlier, strict, n_clusters", [(False, True, 5), (True, True, 4), (False, False, 6), (True, False, 5)]
)
def test_one_point_under_two_labels(outlier, strict, n_clusters):
    """The published tool's signature: two more than there are labels if the point lies inside, one more if outside."""
    assert probe(*with_twin(outlier), strict_spheres=strict).n_clusters == n_clusters


def test_two_labels_of_one_identical_point_each():
    x, y = np.ones((2, 3)), np.array([0, 1])
    assert probe(x, y).is_linear
    assert probe(x, y).n_clusters == probe(x, y, strict_spheres=False).n_clusters == 2


def test_a_larger_case_keeps_what_defines_the_result():
    """Too large for the plain version: no overlap is left, and any two clusters of a label would overlap something."""
    x, y = labelled_points(5, n=240, d=6, n_labels=4, spread=0.8)
    clusters = probe(x, y)
    blocks = [x[rows] for rows in clusters.members()]
    assert 4 < clusters.n_clusters < 120 and not clusters.is_linear
    for a, b in combinations(range(clusters.n_clusters), 2):
        if clusters.labels[a] != clusters.labels[b]:
            assert not separation(blocks[a], blocks[b]).overlap
            continue
        union = np.vstack([blocks[a], blocks[b]])
        others = [block for block, label in zip(blocks, clusters.labels) if label != clusters.labels[a]]
        assert any(separation(union, other).overlap for other in others)


def test_separable_labels_are_one_cluster_each():
    x, y = labelled_points(0, n=300, d=16, n_labels=5, spread=3)
    clusters = probe(x.astype(np.float32), 10 * y - 20)
    assert clusters.is_linear and clusters.n_clusters == 5
    assert np.array_equal(clusters.labels[clusters.of_point], 10 * y - 20)


@pytest.mark.parametrize(
    "x, y, n_clusters",
    [
        (np.random.default_rng(0).normal(size=(9, 3)), np.zeros(9, int), 1),
        (np.random.default_rng(0).normal(size=(5, 3)), np.arange(5), 5),
        (np.random.default_rng(0).normal(size=(20, 50)), np.arange(20) % 4, 4),
        (np.ones((6, 2)), np.zeros(6, int), 1),
        (np.repeat(np.eye(4), 5, axis=0), np.repeat([0, 1, 0, 1], 5), 2),
        (np.outer(np.arange(12), [1.0, 2.0]), np.repeat([0, 1, 0, 1], 3), 4),
        (np.outer(np.arange(4), [1.0]), np.array([0, 1, 0, 1]), 4),
    ],
    ids=["one label", "one point each", "more dimensions", "one place", "copies", "a line", "alternating"],
)
def test_special_cases(x, y, n_clusters):
    clusters = probe(x, y)
    assert clusters.n_clusters == n_clusters
    assert clusters.is_linear == (n_clusters == len(np.unique(y)))
    assert len(cluster_distances(x, clusters)) == sum(a != b for a, b in combinations(clusters.labels, 2))


@pytest.mark.parametrize("spread", [0.5, 4.0])
def test_rotation_and_translation_change_nothing_and_scaling_scales(spread):
    x, y = labelled_points(7, n=90, d=4, n_labels=3, spread=spread)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    clusters = probe(x, y)
    distances = np.array([row[2] for row in cluster_distances(x, clusters)])
    for moved, factor in ((x @ rotation, 1), (x + 300, 1), (1e3 * x, 1e3), (1e-4 * x, 1e-4)):
        assert np.array_equal(probe(moved, y).of_point, clusters.of_point)
        of_moved = np.array([row[2] for row in cluster_distances(moved, clusters)])
        assert np.allclose(of_moved, factor * distances, rtol=1e-6, atol=1e-7 * factor)


def test_the_first_common_time_in_the_order_of_merges():
    x, y = labelled_points(1, n=60, d=3, n_labels=3, spread=1)
    tree = MergeTree(x, [np.flatnonzero(y == k) for k in range(3)])
    assert tree.n_steps == 57
    rng = np.random.default_rng(0)
    for label in range(3):
        rows = np.sort(rng.choice(np.flatnonzero(y == label), 4, replace=False))
        time = tree.joined(label, rows)
        together = [any(set(rows) <= set(c) for c in tree.state(t)[label]) for t in (time - 1, time)]
        assert together == [False, True]


def test_points_under_two_labels_and_the_clusters_that_they_cost():
    x = np.array([[0.0], [1], [1], [2], [2], [2], [3], [3]])
    y = np.array([0, 0, 5, 0, 5, 7, 7, 7])
    assert is_conflicting(x, y).tolist() == [False, True, True, True, True, True, False, False]
    # the point 1 under 0 and 5, the point 2 under 0, 5 and 7, and what is left of 0 and 7; of 5 nothing is left
    assert cluster_floor(x, y) == 2 + 3 + 2
    assert cluster_floor(*labelled_points(0, n=60, d=3, n_labels=4, spread=0)) == 4


@pytest.mark.parametrize("outlier, n_clusters", [(True, 4), (False, 5)])
def test_one_point_under_two_labels_leaves_the_floor_or_one_less(outlier, n_clusters):
    """The published tool's answers (51 or 52 clusters of TREC-50's 50 labels) on planted points."""
    x, y = with_twin(outlier)
    assert (probe(x, y).n_clusters, cluster_floor(x, y)) == (n_clusters, 5)


# -- distances and prediction -----------------------------------------------------------------------------------------


def test_distance_of_labels_is_the_mean_over_their_clusters():
    clusters = Clusters(np.arange(4), np.array([5, 3, 5, 4]))
    distances = [(0, 1, 1.0), (0, 3, 2.0), (1, 2, 4.0), (1, 3, 8.0), (2, 3, 3.0)]
    assert label_distances(distances, clusters) == [(3, 4, 8.0), (3, 5, 2.5), (4, 5, 2.5)]


def test_new_points_go_to_the_nearest_hull():
    x, y = labelled_points(2, n=80, d=3, n_labels=3, spread=1.5)
    clusters = probe(x, y)
    new = 2 * np.random.default_rng(0).normal(size=(40, 3))
    distances = np.array([[hull_distance(p[None], x[rows]).distance for rows in clusters.members()] for p in new])
    assert np.array_equal(predict(x, clusters, new), clusters.labels[distances.argmin(axis=1)])
    assert (distances.min(axis=1) == 0).any() and (distances.min(axis=1) > 0).any()
    assert np.array_equal(predict(x, clusters, x), y)


# -- the published tool -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="answers of the published tool are not here (TUNESCOPE_REFERENCE)")
@pytest.mark.parametrize(
    "name, n_clusters",
    [
        ("synth_dup_inside_122x16_3", 5),
        ("synth_dup_outlier_122x16_3", 4),
        ("synth_sep_500x32_5", 5),
        ("synth_xor_200x2_2", 19),
    ],
)
def test_as_the_published_tool(name, n_clusters):
    with np.load(REFERENCE / f"{name}.npz") as file:
        x, y, theirs = file["X"], file["y"], file["clusters"]
        published = dict(zip(map(tuple, file["cluster_pairs"].tolist()), file["distances"]))
    clusters = probe(x, y)
    reference = Clusters(theirs, np.array([y[theirs == k][0] for k in range(theirs.max() + 1)]))
    assert clusters.n_clusters == reference.n_clusters == n_clusters
    # float32 lets the published tool decide otherwise where two spheres touch exactly: one point changes places
    differing = as_sets(clusters) ^ as_sets(reference)
    assert len(differing) == (4 if name == "synth_dup_inside_122x16_3" else 0)
    for a, b, distance in cluster_distances(x, reference):
        if published[a, b] > 0:
            assert distance == pytest.approx(published[a, b], abs=1e-3)
        else:  # its solver gives up on gaps this narrow
            assert distance < 0.05


# -- input and command line -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x, y, message",
    [
        (np.array([[0.0, np.nan], [1, 1]]), np.array([0, 1]), "NaN or infinity, first in row 0"),
        (np.array([[0.0, 1], [1, np.inf]]), np.array([0, 1]), "NaN or infinity, first in row 1"),
        (np.empty((0, 3)), np.empty(0, int), "non-empty"),
        (np.empty((3, 0)), np.zeros(3, int), "non-empty"),
        (np.zeros(3), np.zeros(3, int), "n x d"),
        (np.zeros((3, 2)), np.zeros(2, int), "one label per point"),
        (np.zeros((3, 2)), np.zeros(3), "integers"),
        (np.array([["a"], ["b"]]), np.array([0, 1]), "numbers"),
    ],
)
def test_unusable_input_is_a_clear_error(x, y, message):
    with pytest.raises(UserError, match=message):
        probe(x, y)


def test_command_line(tmp_path, capsys):
    x, y = labelled_points(2, n=60, d=3, n_labels=3, spread=1.5)
    np.savez(tmp_path / "points.npz", X=x[:50], y=y[:50], X_test=x[50:], y_test=y[50:])
    assert main([str(tmp_path / "points.npz"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    clusters = probe(x[:50], y[:50])
    assert report["n_clusters"] == clusters.n_clusters and report["linear"] is clusters.is_linear
    assert report["clusters"] == clusters.of_point.tolist()
    assert [tuple(row) for row in report["distances"]] == cluster_distances(x[:50], clusters)
    assert {(a, b) for a, b, _ in report["label_distances"]} == {(0, 1), (0, 2), (1, 2)}
    assert report["test_accuracy"] == np.mean(predict(x[:50], clusters, x[50:]) == y[50:])
    assert main([str(tmp_path / "points.npz"), "--no-distances", "--no-strict-spheres"]) == 0
    summary = capsys.readouterr().out
    assert f"{clusters.n_clusters} clusters of 50 points" in summary and "accuracy" in summary


def test_command_line_names_what_is_wrong(tmp_path, capsys):
    x, y = labelled_points(2, n=20, d=3, n_labels=2, spread=1)
    np.savez(tmp_path / "no_labels.npz", X=x)
    np.savez(tmp_path / "no_test_labels.npz", X=x, y=y, X_test=x)
    np.savez(tmp_path / "other_dimensions.npz", X=x, y=y, X_test=x[:, :2], y_test=y)
    np.savez(tmp_path / "objects.npz", X=np.array([x, None], dtype=object), y=y)
    np.save(tmp_path / "single.npy", x)
    (tmp_path / "text.npz").write_text("no archive")
    for name, message in [
        ("no_labels.npz", "lacks y"),
        ("no_test_labels.npz", "lacks y_test"),
        ("other_dimensions.npz", "dimensions"),
        ("objects.npz", "cannot be read"),
        ("single.npy", "single array"),
        ("text.npz", "cannot be read"),
        ("absent.npz", "cannot be read"),
    ]:
        assert main([str(tmp_path / name)]) == 1
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1 and "Traceback" not in error


def test_runs_as_a_module(tmp_path):
    np.savez(tmp_path / "points.npz", X=np.eye(4), y=np.array([0, 0, 1, 1]))
    command = [sys.executable, "-m", "workflow.lib.methods.directprobe", str(tmp_path / "points.npz"), "--json"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)["distances"] == [[0, 1, pytest.approx(1.0)]]


def test_rounding_behind_a_layer_norm_separates_nothing():
    """Normalised float32 vectors lie in a hyperplane but for rounding; along its normal they would all be apart."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 12)).astype(np.float32)
    x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    gap = hull_distance(x[:200], x[200:])
    assert gap.distance == 0.0
    assert not probe(x, np.repeat([0, 1], 200)).is_linear


# -- the scripts, from caches to tables -------------------------------------------------------------------------------

MODEL, TEXT_ROWS = (
    "base.0/toy.full.f1.s0",
    {"head": "sequence", "unit": "cls", "train": "toy-train", "test": "toy-test"},
)


def write_square(folder: Path, gaps: dict[int, float]) -> None:
    """Labels a and b are squares, in each layer this far apart."""
    folder.mkdir(parents=True)
    for layer, gap in gaps.items():
        points = np.concatenate([SQUARE, SQUARE + [1 + gap, 0]]).astype(np.float32)
        writer = LayerWriter(layer_file(folder, layer), 2, "float32", {})
        writer.write(np.arange(8), np.zeros(8), points)
        writer.close()


@pytest.fixture
def job(tmp_path, monkeypatch) -> SimpleNamespace:
    """A task of two labels, and what the three rules have in common."""
    monkeypatch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)  # or it would replace pytest's
    for split in ("train", "test"):
        rows = [{"id": f"{n}", "text": "x", "text_pair": None, "label": n // 4} for n in range(8)]
        write_dataset(tmp_path / f"data/toy/{split}.parquet", rows, dataset="toy", split=split, kind="text",
                      labels=["a", "b"], source="test")  # fmt: skip
    folders = [tmp_path / MODEL / "cls" / f"toy-{split}" for split in ("train", "test")]
    return SimpleNamespace(
        input=SimpleNamespace(activations=list(map(str, folders)),
                              data=[str(tmp_path / f"data/toy/{split}.parquet") for split in ("train", "test")]),
        wildcards=SimpleNamespace(encoder="base.0", adapted="toy.full.f1.s0", task="toy"),
        params=SimpleNamespace(rows=TEXT_ROWS, settings={"strict_spheres": True}),
        log=[str(tmp_path / "log")],
        threads=2,
    )  # fmt: skip


def columns(path, *names) -> list[tuple]:
    table = read_table(path)
    assert set(table["model"]) == {MODEL} and set(table["task"]) == {"toy"}
    return [tuple(row) for row in table[list(names)].round(5).itertuples(index=False)]


def test_the_script_probes_the_last_layer_of_both_splits(job, tmp_path):
    for folder, gap in zip(job.input.activations, (2.0, 3.0)):
        write_square(Path(folder), {4: gap})
    job.output = SimpleNamespace(**{name: str(tmp_path / name) for name in ("clusters", "distances")})
    run_script("scripts/directprobe", job)
    names = ("split", "layer", "n_points", "n_labels", "floor", "n_clusters", "linear")
    expected = [("train", 4, 8, 2, 2, 2, True), ("test", 4, 8, 2, 2, 2, True)]
    assert columns(job.output.clusters, *names) == expected
    names = ("split", "layer", "label_a", "label_b", "points_a", "points_b", "distance")
    expected = [("train", 4, "a", "b", 4, 4, 2.0), ("test", 4, "a", "b", 4, 4, 3.0)]
    assert columns(job.output.distances, *names) == expected


def test_the_script_measures_labels_in_every_layer(job, tmp_path):
    write_square(Path(job.input.activations[0]), {1: 0.5, 2: 2.0})
    job.output = [str(tmp_path / "out.parquet")]
    run_script("scripts/label_distances", job)
    assert columns(job.output[0], "layer", "label_a", "label_b", "distance") == [(1, "a", "b", 0.5), (2, "a", "b", 2.0)]


def test_the_script_follows_labels_through_the_saved_steps(job, tmp_path):
    steps = Path(job.input.activations[0])
    for step, gap in ((0, 0.5), (10, 1.0), (200, 4.0)):
        write_square(steps / f"{step:05d}", {1: gap, 2: 2 * gap})
    job.output = SimpleNamespace(distances=str(tmp_path / "distances"), centroids=str(tmp_path / "centroids"))
    run_script("scripts/paths", job)
    assert columns(job.output.distances, "step", "layer", "distance") == [
        (0, 1, 0.5), (0, 2, 1.0), (10, 1, 1.0), (10, 2, 2.0), (200, 1, 4.0), (200, 2, 8.0)
    ]  # fmt: skip
    table = read_table(job.output.centroids)
    last = table[(table["step"] == 200) & (table["layer"] == 1)]
    assert last["n_points"].tolist() == [4, 4] and np.stack(last["centroid"]).tolist() == [[0.5, 0.5], [5.5, 0.5]]
