"""The whole probe: select sizes and penalty on a hold-out of train, retrain the best on all of train, test.

Choices where the paper gives no details:
- Validation: one stratified hold-out of train (`holdout`); rare labels stay in training.
- Retraining stops by scikit-learn's default rule, so that reported accuracies are those of its MLPClassifier: when the
  training loss has not fallen by `tolerance` for more than `patience` epochs.
- In the grid, that rule would spend most of the time on epochs in which the hold-out accuracy no longer rises. There a
  network stops when that accuracy has not risen for more than `grid_patience` epochs, and its score is its highest
  accuracy (scikit-learn's `early_stopping`, with less patience). As an epoch of a small dataset is only one or two
  updates, the patience is at least `grid_updates` updates. `grid_stopping: loss` applies the rule of the retraining
  instead. Either way every configuration is trained until its own rule stops it, never because others are better.
- Ties between configurations: the first one, that is the smallest first layer, then second layer, then penalty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product

import numpy as np
import torch

from workflow.lib.base.errors import UserError
from workflow.lib.methods.mlp.networks import Lane
from workflow.lib.methods.mlp.settings import ProbeSettings, settings_from
from workflow.lib.methods.mlp.training import Rows, in_threads, train_until_stopped
from workflow.lib.methods.scaling import mean_and_scale

SEEDS_AT_ONCE = 3  # for any number of threads: other group sizes change last bits, and after some epochs more


@dataclass(frozen=True)
class ProbeResult:
    rows: list[dict]  # per configuration: first, second, alpha, holdout_accuracy, epochs
    best: dict  # one of these rows
    test_accuracies: list[float]  # one per seed
    test_epochs: list[int]

    @property
    def mean(self) -> float:
        return float(np.mean(self.test_accuracies))

    @property
    def std(self) -> float:
        """Population standard deviation over seeds (numpy's default, and so probably the paper's)."""
        return float(np.std(self.test_accuracies))


def probe_grid(
    x_train: np.ndarray,
    y_train: np.ndarray,
    x_test: np.ndarray,
    y_test: np.ndarray,
    settings: dict | None = None,
    seed: int = 0,
    device: str = "cpu",
    threads: int | None = None,
) -> ProbeResult:
    """Run the probe. `settings`: fields of `ProbeSettings`. Labels are any integers; those unseen in train count as
    wrong."""
    chosen = settings_from(settings or {})
    labels = np.unique(y_train)
    codes = np.searchsorted(labels, y_train)
    test_codes = np.where(np.isin(y_test, labels), np.searchsorted(labels, y_test), -1)
    workers = (threads or torch.get_num_threads()) if device == "cpu" else 1
    tensors = partial(as_tensors, standardise=chosen.standardise, device=device)
    held_out = holdout_rows(codes, chosen.holdout, seed)
    parts = tensors((x_train[~held_out], codes[~held_out]), (x_train[held_out], codes[held_out]))
    rows = validate(*parts, len(labels), chosen, seed, workers)
    best = max(rows, key=lambda row: row["holdout_accuracy"])
    parts = tensors((x_train, codes), (x_test, test_codes))
    seeds = range(seed + 1, seed + 1 + chosen.n_seeds)  # `seed` itself was the grid's
    return ProbeResult(rows, best, *retrain(*parts, len(labels), best, chosen, seeds, workers))


def validate(
    fitted: Rows, held_out: Rows, n_labels: int, settings: ProbeSettings, seed: int, workers: int
) -> list[dict]:
    """Train all configurations, those of the same sizes side by side; returns one row per configuration."""
    pairs, lanes = list(product(settings.sizes, repeat=2)), [Lane(alpha, seed) for alpha in settings.alphas]
    by_accuracy = settings.grid_stopping == "accuracy"
    layers = [[fitted[0].shape[1], *pair, n_labels] for pair in pairs]
    jobs = [partial(train_until_stopped, fitted, held_out, widths, lanes, settings, by_accuracy) for widths in layers]
    return [
        {"first": first, "second": second, "alpha": alpha, "holdout_accuracy": accuracy, "epochs": epochs}
        for (first, second), outcome in zip(pairs, in_threads(jobs, workers))
        for alpha, accuracy, epochs in zip(settings.alphas, *outcome)
    ]


def retrain(
    fitted: Rows, test: Rows, n_labels: int, best: dict, settings: ProbeSettings, seeds: Sequence[int], workers: int
) -> tuple[list[float], list[int]]:
    """Test accuracies and epochs of the best configuration, one per seed."""
    layers = [fitted[0].shape[1], best["first"], best["second"], n_labels]
    lanes = [Lane(best["alpha"], seed) for seed in seeds]
    shares = [lanes[i : i + SEEDS_AT_ONCE] for i in range(0, len(lanes), SEEDS_AT_ONCE)]
    jobs = [partial(train_until_stopped, fitted, test, layers, some, settings, by_accuracy=False) for some in shares]
    accuracies, epochs = zip(*in_threads(jobs, workers))
    return list(chain.from_iterable(accuracies)), list(chain.from_iterable(epochs))


def holdout_rows(codes: np.ndarray, share: float, seed: int) -> np.ndarray:
    """(n,) True for held-out rows: `share` of each label, rounded, but never all rows of a label.

    (scikit-learn's StratifiedShuffleSplit refuses labels with a single row, and hold-outs smaller than the number of
    labels.)
    """
    order = np.random.default_rng(seed).permutation(len(codes))
    held_out = np.zeros(len(codes), dtype=bool)
    for label in np.unique(codes):
        rows = order[codes[order] == label]
        held_out[rows[: min(int(share * len(rows) + 0.5), len(rows) - 1)]] = True
    if not held_out.any():
        raise UserError(f"no label has enough rows for a hold-out of {share:g}: raise `holdout` or give more rows")
    return held_out


def as_tensors(fitted: tuple, scored: tuple, standardise: bool, device: str) -> list[Rows]:
    """Both pairs of vectors and labels as tensors, optionally standardised by the fitted rows."""
    mean, scale = mean_and_scale(fitted[0])  # also checks for NaN
    if not standardise:
        mean, scale = np.zeros_like(mean), np.ones_like(scale)
    return [
        (
            torch.as_tensor((x - mean) / scale, dtype=torch.float32, device=device),
            torch.as_tensor(y, dtype=torch.long, device=device),
        )
        for x, y in (fitted, scored)
    ]
