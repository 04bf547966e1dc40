"""Trains networks side by side until each has met its stopping rule; each thread trains different networks."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from workflow.lib.base.work import count
from workflow.lib.methods.mlp.networks import Lane, Networks
from workflow.lib.methods.mlp.settings import ProbeSettings

Rows = tuple[torch.Tensor, torch.Tensor]  # vectors and the labels' codes


def in_threads(jobs: list[Callable], workers: int) -> list:
    """Results of all jobs, one job per thread: these matrices are too small for several threads, which would wait for
    each other at every operation, on a busy machine for long."""
    with ThreadPoolExecutor(workers, initializer=_prepare_thread) as pool:
        started = [pool.submit(job) for job in reversed(jobs)]  # the largest jobs are last, and should start first
        return [job.result() for job in reversed(started)]


def _prepare_thread() -> None:
    torch.set_num_threads(1)
    # Adam's moments of inactive units, and tiny probabilities, decay to denormal numbers, which are slow
    torch.set_flush_denormal(True)


class EarlyStopping:
    """Scikit-learn's rule: stop after more than `patience` consecutive epochs in which the score has not risen by
    `tolerance`. Arrays have one entry per network that is still in training."""

    def __init__(self, n: int, patience: int, tolerance: float):
        self.patience, self.tolerance = patience, tolerance
        self.best, self.epochs_without_improvement = np.full(n, -np.inf), np.zeros(n, dtype=int)

    def stops(self, scores: np.ndarray) -> np.ndarray:
        """True for networks that stop after this epoch; their entries are dropped."""
        is_stalled = scores < self.best + self.tolerance
        self.epochs_without_improvement = np.where(is_stalled, self.epochs_without_improvement + 1, 0)
        self.best = np.maximum(self.best, scores)
        stops = self.epochs_without_improvement > self.patience
        self.best, self.epochs_without_improvement = self.best[~stops], self.epochs_without_improvement[~stops]
        return stops


def train_until_stopped(
    fitted: Rows, scored: Rows, layers: list[int], lanes: list[Lane], settings: ProbeSettings, by_accuracy: bool
) -> tuple[list[float], list[int]]:
    """Each network's accuracy on `scored`, and its number of epochs. Stopped networks are removed from the batch.

    `by_accuracy`: networks stop when their accuracy on `scored` stalls, and the highest counts; otherwise when the
    training loss stalls, and `scored` has no influence.
    """
    networks = Networks(layers, lanes, settings.learning_rate, fitted[0].device)
    patience = settings.patience
    if by_accuracy:
        updates_per_epoch = -(-len(fitted[0]) // settings.batch_size)
        patience = max(settings.grid_patience, settings.grid_updates // updates_per_epoch)
    stopping = EarlyStopping(len(lanes), patience, settings.tolerance)
    running, accuracies, epochs = np.arange(len(lanes)), np.zeros(len(lanes)), np.zeros(len(lanes), dtype=int)
    for epoch in range(1, settings.max_epochs + 1):
        losses = networks.train_epoch(*fitted, settings.batch_size)
        epochs[running] = epoch
        if by_accuracy:
            reached = networks.accuracies(*scored)
            accuracies[running] = np.maximum(accuracies[running], reached)
        stops = stopping.stops(reached if by_accuracy else -losses) | (epoch == settings.max_epochs)
        if stops.any():
            if not by_accuracy:
                accuracies[running[stops]] = networks.accuracies(*scored)[stops]
            if stops.all():
                break
            networks.keep(np.flatnonzero(~stops).tolist())
            running = running[~stops]
    count("fits", len(lanes))
    return accuracies.tolist(), epochs.tolist()
