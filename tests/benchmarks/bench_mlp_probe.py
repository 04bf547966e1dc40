"""The classifier probe against scikit-learn's MLPClassifier: `python -m tests.benchmarks.bench_mlp_probe`.

scikit-learn is timed on eight configurations, each penalty once and each size twice per layer, and scaled to the grid.
It is given its best setting: one process per core with one BLAS thread each, and as if none of them ever waited for the
last. CPU ratios compare processor seconds and so hold on a busy machine too.
"""

import time

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from workflow.lib.methods.mlp.grid import probe_grid
from workflow.lib.methods.mlp.settings import PAPERS_ALPHAS, ProbeSettings

N_TRAIN, N_TEST, N_PROCESSES = 16_854, 4_322, 2
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


def fit_theirs(x: np.ndarray, y: np.ndarray, sizes: tuple, alpha: float, seed: int) -> tuple[float, int, float, float]:
    """Test accuracy, epochs, wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = MLPClassifier(sizes, alpha=alpha, max_iter=1000, random_state=seed).fit(x[:N_TRAIN], y[:N_TRAIN])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return model.score(x[N_TRAIN:], y[N_TRAIN:]), model.n_iter_, wall, cpu


def main() -> None:
    torch.set_num_threads(min(N_PROCESSES, torch.get_num_threads()))
    x, y = word_vectors(N_TRAIN + N_TEST, 128, 17)
    parts = x[:N_TRAIN], y[:N_TRAIN], x[N_TRAIN:], y[N_TRAIN:]
    probe_grid(*(part[:500] for part in parts), {"sizes": [32], "max_epochs": 2})  # start-up is not timed
    wall, cpu = time.perf_counter(), time.process_time()
    ours = probe_grid(*parts)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    best, n_seeds = ours.best, len(ours.test_accuracies)

    with threadpool_limits(1):
        linear = LogisticRegression(max_iter=300).fit(*parts[:2]).score(*parts[2:])
    configurations = list(zip(SAMPLED_SIZES, PAPERS_ALPHAS))
    again = [((best["first"], best["second"]), best["alpha"])] * 3
    with parallel_config("loky", n_jobs=N_PROCESSES, inner_max_num_threads=1):
        fits = Parallel()(
            delayed(fit_theirs)(x, y, sizes, alpha, seed)
            for seed, (sizes, alpha) in enumerate([*configurations, *again])
        )
    sampled, retrained = np.array(fits[: len(configurations)]), np.array(fits[len(configurations) :])
    n_grid = len(ours.rows)
    their_wall, their_cpu = n_grid * sampled[:, 2:].mean(0) + n_seeds * retrained[:, 2:].mean(0)
    their_wall /= N_PROCESSES

    print(f"{N_TRAIN} x 128, 17 labels, grid of {n_grid} and {n_seeds} seeds of the best; {ProbeSettings()}")
    print(f"wall: sklearn {their_wall:7.0f} s, ours {wall:5.0f} s: {their_wall / wall:5.1f}x")
    print(f"CPU:  sklearn {their_cpu:7.0f} s, ours {cpu:5.0f} s: {their_cpu / cpu:5.1f}x")
    print(f"best: {best}; a linear classifier reaches {100 * linear:.2f}")
    print(
        f"its test accuracy: sklearn {100 * retrained[:, 0].mean():.2f} (3 seeds, epochs {retrained[:, 1].tolist()}), "
        f"ours {100 * ours.mean:.2f} +- {100 * ours.std:.2f} ({n_seeds} seeds, epochs {ours.test_epochs})"
    )
    hold_outs = {(row["first"], row["second"], row["alpha"]): row for row in ours.rows}
    for (sizes, alpha), (accuracy, epochs, _, seconds) in zip(configurations, sampled):
        row = hold_outs[(*sizes, alpha)]
        print(
            f"  {sizes!s:10s} alpha {alpha:.0e} | sklearn: {epochs:4.0f} epochs, test {100 * accuracy:.2f}, "
            f"{seconds:5.1f} s CPU | ours: {row['epochs']:3d} epochs, hold-out {100 * row['holdout_accuracy']:.2f}"
        )


if __name__ == "__main__":
    main()
