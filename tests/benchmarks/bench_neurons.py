"""Neuron search against scikit-learn's loop, solvers of the classifier: `python -m tests.benchmarks.bench_neurons`.

In one step scikit-learn's loop runs over all dimensions, to see whether it chooses the same neuron; in the others it is
timed on a few and scaled to all. It runs with one BLAS thread, which for fits this small is its fastest setting; CPU
ratios compare processor seconds and so hold on a busy machine too.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from workflow.lib.methods.linear import fit_softmax
from workflow.lib.methods.neurons.search import cross_validated_accuracies, greedy_search, stratified_folds


def planted_activations(
    n: int, d: int, n_classes: int, n_factors: int = 64, smeared: float = 0.5, planted: float = 2.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Like fine-tuned [CLS] vectors: a decaying spectrum, class information smeared over all neurons, a few neurons
    that answer to one class strongly and to another weakly, scales that differ, some outliers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    factors = rng.normal(size=(n, n_factors))
    factors[:, :30] += smeared * rng.normal(size=(n_classes, 30))[y]
    spectrum = np.arange(1, n_factors + 1) ** -0.5
    x = factors @ (rng.normal(size=(n_factors, d)) * spectrum[:, None]) + 0.3 * rng.normal(size=(n, d))
    for label in range(n_classes):
        neuron = (7 * label + 3) % d
        x[:, neuron] += planted * x[:, neuron].std() * ((y == label) - 0.3 * (y == (label + 1) % n_classes))
    x[rng.integers(0, n, 5), rng.integers(0, d, 5)] *= 10
    return (x * rng.lognormal(size=d) + rng.normal(size=d)).astype(np.float32), y


def timed(function: Callable) -> tuple[object, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def scikit_learn_accuracies(x, y, selected, folds, dimensions) -> np.ndarray:
    accuracies = []
    with threadpool_limits(1):
        for j in dimensions:
            columns, of_folds = [*selected, j], []
            for fold in np.unique(folds):
                train, test = folds != fold, folds == fold
                model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
                model.fit(x[np.ix_(train, columns)], y[train])
                of_folds.append(model.score(x[np.ix_(test, columns)], y[test]))
            accuracies.append(np.mean(of_folds))
    return np.array(accuracies)


def bench_steps(n: int, d: int, n_classes: int, steps: list[int], on_all: int = 0) -> None:
    """`on_all`: the step in which scikit-learn scores all dimensions, not a few."""
    x, y = planted_activations(n, d, n_classes)
    folds, selected = stratified_folds(y, 5, seed=0), []
    for step in range(1, max(steps) + 1):
        ours, wall, cpu = timed(lambda: cross_validated_accuracies(x, y, n_classes, selected, folds))
        ranking = np.argsort(-np.nan_to_num(ours), kind="stable")
        if step in steps:
            # our three best and three from the crowd: scikit-learn's favourite is then the best of six, not of all
            few = [*ranking[:3], *ranking[[d // 10, d // 3, d // 2]]]
            dimensions = few if step != on_all else ranking[: d - len(selected)]
            theirs, their_wall, their_cpu = timed(partial(scikit_learn_accuracies, x, y, selected, folds, dimensions))
            scale = (d - len(selected)) / len(dimensions)
            difference, lost = np.abs(theirs - ours[dimensions]).max(), theirs.max() - theirs[0]
            print(
                f"{n:6d} x {d:4d} {n_classes:3d} classes  step {step:2d} | {their_wall * scale:7.1f} s {wall:6.2f} s | "
                f"{their_wall * scale / wall:6.0f}x {their_cpu * scale / cpu:6.0f}x | {100 * difference:7.3f} | "
                f"{ranking[0]:4d} / {dimensions[int(theirs.argmax())]:4d}  {100 * lost:5.3f}",
                flush=True,
            )
        selected.append(int(ranking[0]))


def bench_all_dimensions(name: str, x: np.ndarray, y: np.ndarray, n_classes: int) -> None:
    n = int(0.8 * len(x))
    model, wall, cpu = timed(lambda: fit_softmax(x[:n], y[:n]))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    theirs, their_wall, their_cpu = timed(lambda: pipeline.fit(x[:n], y[:n]))
    difference = model.score(x[n:], y[n:]) - theirs.score(x[n:], y[n:])
    print(
        f"{n:6d} x {x.shape[1]:4d} {n_classes:3d} classes {name:>8s} | {their_wall:7.1f} s {wall:6.2f} s | "
        f"{their_wall / wall:6.1f}x {their_cpu / cpu:6.1f}x | {100 * difference:+7.3f} |",
        flush=True,
    )


def main() -> None:
    torch.set_num_threads(min(2, torch.get_num_threads()))
    cross_validated_accuracies(*planted_activations(200, 4, 2), 2, [0], np.arange(200) % 5)  # start-up is not timed
    print(f"{'neuron search, one step':35s}|   sklearn     ours |    wall     CPU | points  | best ours / theirs, lost")
    bench_steps(20_000, 768, 4, steps=[1, 2, 5], on_all=1)
    bench_steps(20_000, 768, 14, steps=[1, 2])
    bench_steps(1_500, 64, 14, steps=[1, 7, 14])
    print("softmax classifier on all dimensions, scikit-learn's default solver and the one chosen:")
    print("as pre-trained (raw and principal components), as fine-tuned")
    x, y = planted_activations(6_000, 512, 4, n_factors=300, smeared=0.3, planted=0.0)
    bench_all_dimensions("raw", x, y, 4)
    bench_all_dimensions("PCA", PCA().fit_transform((x - x.mean(0)) / x.std(0)), y, 4)
    bench_all_dimensions("tuned", *planted_activations(6_000, 512, 4), 4)
    x, y = planted_activations(1_500, 64, 14)
    _, wall, cpu = timed(lambda: greedy_search(x, y, 14, n_neurons=14))
    print(f"demo-size greedy search, 1,500 x 64, 14 classes, 14 steps: {wall:.2f} s ({cpu:.2f} s CPU)")


if __name__ == "__main__":
    main()
