"""The classifier probe against scikit-learn's MLPClassifier: `python -m tests.benchmarks.bench_mlp_probe [rows]`.

scikit-learn is timed on eight configurations, each penalty once and each size twice per layer, and scaled to the grid.
It is given its best setting: one process per core with one BLAS thread each, and as if none of them ever waited for the
last. CPU ratios compare processor seconds and so hold on a busy machine too. Our grid stops by held-out accuracy (the
default) and by training loss as scikit-learn does: the second ratio is that of the same work. 4,000 rows take minutes;
zhou2022's POS words are 16,854, which take most of an hour.
"""

import sys
import time

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from workflow.lib.methods.mlp.grid import ProbeResult, probe_grid
from workflow.lib.methods.mlp.settings import PAPERS_ALPHAS, ProbeSettings

ROWS, N_PROCESSES = 4_000, 2
SAMPLED_SIZES = [(32, 64), (32, 128), (128, 256), (256, 128), (256, 64), (64, 32), (128, 32), (64, 256)]


def word_vectors(
    n: int, d: int, n_labels: int, n_words: int = 4_000, n_senses: int = 100, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Like contextual vectors of words with their parts of speech: words are Zipfian and belong to senses, a label has
    many senses among those of others (so no hyperplane parts it), some words change their label with the context."""
    rng = np.random.default_rng(seed)
    rank = np.arange(1, n_labels + 1)
    labels = np.append(np.arange(n_labels), rng.choice(n_labels, n_senses - n_labels, p=1 / rank / sum(1 / rank)))
    sense = rng.integers(0, n_senses, n_words)
    frequency = 1 / np.arange(10, n_words + 10)
    word = rng.choice(n_words, n, p=frequency / frequency.sum())
    centres = np.zeros((n_senses, d))
    centres[:, :20] = rng.normal(size=(n_senses, 20))
    words = centres[sense] + 0.3 * rng.normal(size=(n_words, d))
    context = 0.35 * rng.normal(size=(n, d))
    changes = (rng.random(n_words) < 0.15)[word] & (context[:, 0] * context[:, 1] > 0)
    y = np.where(changes, rng.integers(0, n_labels, n_words)[word], labels[sense][word])
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return ((words[word] + context) @ rotation).astype(np.float32), y


Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # vectors and labels, training and test
Costs = np.ndarray  # wall and CPU seconds


def fit_theirs(parts: Parts, sizes: tuple, alpha: float, seed: int) -> tuple[float, int, float, float]:
    """Test accuracy, epochs, wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = MLPClassifier(sizes, alpha=alpha, max_iter=1000, random_state=seed).fit(*parts[:2])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return model.score(*parts[2:]), model.n_iter_, wall, cpu


def run_ours(parts: Parts, stopping: str) -> tuple[ProbeResult, Costs]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = probe_grid(*parts, {"grid_stopping": stopping})
    return result, np.array([time.perf_counter() - wall, time.process_time() - cpu])


def run_theirs(parts: Parts, best: dict) -> tuple[np.ndarray, np.ndarray]:
    """The sampled configurations and three seeds of the best one, a row each (see fit_theirs)."""
    jobs = [*zip(SAMPLED_SIZES, PAPERS_ALPHAS), *[((best["first"], best["second"]), best["alpha"])] * 3]
    with parallel_config("loky", n_jobs=N_PROCESSES, inner_max_num_threads=1):
        fits = Parallel()(delayed(fit_theirs)(parts, sizes, alpha, seed) for seed, (sizes, alpha) in enumerate(jobs))
    return np.array(fits[:-3]), np.array(fits[-3:])


def main(n_train: int) -> None:
    torch.set_num_threads(min(N_PROCESSES, torch.get_num_threads()))
    x, y = word_vectors(n_train + n_train // 4, 128, 17)
    parts = x[:n_train], y[:n_train], x[n_train:], y[n_train:]
    probe_grid(*(part[:500] for part in parts), {"sizes": [32], "max_epochs": 2})  # start-up is not timed
    ours = {stopping: run_ours(parts, stopping) for stopping in ("accuracy", "loss")}
    result = ours["accuracy"][0]
    n_grid, n_seeds = len(result.rows), len(result.test_accuracies)
    sampled, retrained = run_theirs(parts, result.best)
    theirs = n_grid * sampled[:, 2:].mean(0) + n_seeds * retrained[:, 2:].mean(0)
    theirs[0] /= N_PROCESSES
    with threadpool_limits(1):
        linear = LogisticRegression(max_iter=300).fit(*parts[:2]).score(*parts[2:])

    print(f"{n_train} x 128, 17 labels, grid of {n_grid} and {n_seeds} seeds of the best; {ProbeSettings()}")
    for stopping, (found, costs) in ours.items():
        epochs = [row["epochs"] for row in found.rows]
        print(f"grid stops by {stopping} (median {np.median(epochs):.0f} epochs), best {found.best}")
        for what, their, our in zip(("wall", "CPU"), theirs, costs):
            print(f"  {what}: sklearn {their:7.0f} s, ours {our:5.0f} s: {their / our:5.1f}x")
        print(f"  test accuracy {100 * found.mean:.2f} +- {100 * found.std:.2f}, epochs {found.test_epochs}")
    again, epochs = 100 * retrained[:, 0].mean(), retrained[:, 1].tolist()
    print(
        f"sklearn with the first best: {again:.2f} (3 seeds, epochs {epochs}); a linear classifier: {100 * linear:.2f}"
    )
    by_sizes = {
        stopping: {(row["first"], row["second"], row["alpha"]): row for row in found.rows}
        for stopping, (found, _) in ours.items()
    }
    for sizes, alpha, (accuracy, epochs, _, seconds) in zip(SAMPLED_SIZES, PAPERS_ALPHAS, sampled):
        rows = [by_sizes[stopping][(*sizes, alpha)] for stopping in ours]
        held_out = ", ".join(f"{row['epochs']:3d} epochs, hold-out {100 * row['holdout_accuracy']:.2f}" for row in rows)
        print(f"  {sizes!s:10s} alpha {alpha:.0e} | sklearn: {epochs:4.0f} epochs, test {100 * accuracy:.2f}, "
              f"{seconds:5.1f} s CPU | ours: {held_out}")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
