"""DirectProbe at three sizes, its hull distance against scikit-learn: `python -m tests.benchmarks.bench_directprobe`.

The published tool's seconds were measured once, on data made the same way. The last size (16,854 points, as many as
Universal Dependencies' PUD gives for parts of speech) takes minutes: `--quick` leaves it out. One BLAS thread; CPU
seconds hold on a busy machine too.
"""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from sklearn.svm import SVC

from workflow.lib.methods.directprobe.clustering import probe
from workflow.lib.methods.directprobe.hulls import hull_distance, one_blas_thread
from workflow.lib.methods.directprobe.measures import cluster_distances, predict

PART_OF_SPEECH_LIKE = [3500, 3000, 2200, 1800, 1400, 1200, 900, 700, 600, 500, 400, 254, 150, 120, 80, 40, 10]


def timed(function: Callable) -> tuple[object, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def gaussian_labels(sizes: list[int], d: int, centres: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Noise of unit variance about centres drawn with the given deviation."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return centres * rng.normal(size=(len(sizes), d))[y] + rng.normal(size=(len(y), d)), y


def bench_separable() -> None:
    x, y = gaussian_labels([120] * 5, 32, 1.5)

    def everything():
        clusters = probe(x[:500], y[:500])
        return clusters, cluster_distances(x[:500], clusters), predict(x[:500], clusters, x[500:])

    everything()  # start-up is not timed
    (clusters, _, predicted), wall, cpu = timed(everything)
    print(
        f"500 x 32, 5 labels that separate, with all distances and 100 predictions: {wall:.3f} s ({cpu:.3f} s CPU), "
        f"{clusters.n_clusters} clusters, accuracy {np.mean(predicted == y[500:]):.2f}; published 6 s: {6 / wall:.0f}x",
        flush=True,
    )


def bench_clustering(name: str, sizes: list[int], d: int, centres: float, published: float | None = None) -> None:
    x, y = gaussian_labels(sizes, d, centres)
    clusters, wall, cpu = timed(lambda: probe(x, y))
    ratio = f"; published {published:.0f} s: {published / wall:.0f}x" if published else ""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{len(x)} x {d}, {len(sizes)} labels, {name}: {wall:.1f} s ({cpu:.1f} s CPU), "
        f"{clusters.n_clusters} clusters, peak {memory:.2f} GiB{ratio}",
        flush=True,
    )


def bench_hull_distance(n: int, d: int, shift: float) -> None:
    """Two label hulls: from nothing, after a small change of all points (as between two training steps), by SVC."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(n, d)) + shift, rng.normal(size=(n, d)) - shift
    before = hull_distance(a + 0.05 * rng.normal(size=a.shape), b + 0.05 * rng.normal(size=b.shape))
    gap, _, cold = timed(lambda: hull_distance(a, b))
    _, _, warm = timed(lambda: hull_distance(a, b, before))
    machine = SVC(kernel="linear", C=1e6, tol=1e-5, max_iter=50_000)
    _, _, theirs = timed(lambda: machine.fit(np.vstack([a, b]), np.repeat([0, 1], n)))
    difference = 2 / np.linalg.norm(machine.coef_) / gap.distance - 1 if gap.distance else np.nan
    print(
        f"hulls of {n:4d} + {n:4d} x {d:3d}, {gap.distance:7.4f} apart | SVC {1e3 * theirs:7.1f} ms | "
        f"ours {1e3 * cold:6.1f} ms {theirs / cold:5.1f}x | with a start {1e3 * warm:6.1f} ms {theirs / warm:5.1f}x | "
        f"SVC off by {difference:+.1e}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the size that takes minutes")
    quick = parser.parse_args().quick
    bench_separable()
    bench_clustering("centres at a quarter of the noise", [100] * 5, 32, 0.25, published=143)
    with one_blas_thread():
        for n, d, shift in [(50, 768, 0.1), (100, 768, 0.2), (1000, 768, 0.2), (1000, 128, 0.25), (250, 32, 0.7)]:
            bench_hull_distance(n, d, shift)
    if not quick:
        equal = [992] * 7 + [991] * 10
        bench_clustering("centres at a quarter of the noise", equal, 128, 0.25)
        bench_clustering("the same, labels of unequal size", PART_OF_SPEECH_LIKE, 128, 0.25)


if __name__ == "__main__":
    main()
