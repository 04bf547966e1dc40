"""Train networks until each has stopped by its own rule, as many batches of them at a time as there are threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from workflow.lib.methods.mlp.networks import Lane, Networks
from workflow.lib.methods.mlp.settings import ProbeSettings

Rows = tuple[torch.Tensor, torch.Tensor]  # vectors and the labels' codes


def in_threads(jobs: list[Callable], workers: int) -> list:
    """Results of all jobs. Each thread works on a job of its own: these matrices are too small to be shared, and
    threads that share one wait for each other at every operation, on a busy machine for long."""
    with ThreadPoolExecutor(workers, initializer=_calm_thread) as pool:
        started = [pool.submit(job) for job in reversed(jobs)]  # the largest come last, and should not end last
        return [job.result() for job in reversed(started)]


def _calm_thread() -> None:
    torch.set_num_threads(1)
    # what Adam remembers of silent units, and sure probabilities, fade to denormal numbers, which are slow
    torch.set_flush_denormal(True)


class Patience:
    """Scikit-learn's rule: stop after more than `epochs` epochs in a row without a rise of the score by `tolerance`."""

    def __init__(self, n: int, epochs: int, tolerance: float):
        self.epochs, self.tolerance = epochs, tolerance
        self.best, self.stalled = np.full(n, -np.inf), np.zeros(n, dtype=int)

    def lost(self, scores: np.ndarray) -> np.ndarray:
        """True for those that stop now; they are forgotten."""
        self.stalled = np.where(scores < self.best + self.tolerance, self.stalled + 1, 0)
        self.best = np.maximum(self.best, scores)
        lost = self.stalled > self.epochs
        self.best, self.stalled = self.best[~lost], self.stalled[~lost]
        return lost


def train_until_stopped(
    fitted: Rows, scored: Rows, layers: list[int], lanes: list[Lane], settings: ProbeSettings, by_accuracy: bool
) -> tuple[list[float], list[int]]:
    """Each network's accuracy on `scored`, and its epochs. Networks that have stopped leave the batch.

    By accuracy, networks stop when that on `scored` stalls, and the highest counts; otherwise when the training loss
    stalls, and `scored` has no influence.
    """
    networks = Networks(layers, lanes, settings.learning_rate, fitted[0].device)
    patience = settings.patience
    if by_accuracy:
        updates_per_epoch = -(-len(fitted[0]) // settings.batch_size)
        patience = max(settings.grid_patience, settings.grid_updates // updates_per_epoch)
    progress = Patience(len(lanes), patience, settings.tolerance)
    running, accuracies, epochs = np.arange(len(lanes)), np.zeros(len(lanes)), np.zeros(len(lanes), dtype=int)
    for epoch in range(1, settings.max_epochs + 1):
        losses = networks.train_epoch(*fitted, settings.batch_size)
        epochs[running] = epoch
        if by_accuracy:
            reached = networks.accuracies(*scored)
            accuracies[running] = np.maximum(accuracies[running], reached)
        stops = progress.lost(reached if by_accuracy else -losses) | (epoch == settings.max_epochs)
        if stops.any():
            if not by_accuracy:
                accuracies[running[stops]] = networks.accuracies(*scored)[stops]
            networks.keep(np.flatnonzero(~stops).tolist())
            running = running[~stops]
        if len(running) == 0:
            break
    return accuracies.tolist(), epochs.tolist()
