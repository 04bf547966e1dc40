"""When to halve a probe's learning rate and when to stop it, from its scores on dev."""

import numpy as np

from workflow.lib.methods.edges.settings import EdgeSettings

HALVED = 0.5
LEAST_RISE = 1e-4  # of the score, to count as a rise for the learning rate


class Progress:
    """Of lanes that have nothing to do with each other."""

    def __init__(self, n: int, settings: EdgeSettings):
        self.settings, self.rates = settings, np.full(n, settings.learning_rate)
        self.best, self.since_best = np.full(n, -np.inf), np.zeros(n, dtype=int)
        self.plateau, self.since_rise = np.full(n, -np.inf), np.zeros(n, dtype=int)

    def see(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) is this the best so far? and does the lane stop now?"""
        better, risen = scores > self.best, scores > self.plateau + LEAST_RISE
        self.best, self.plateau = np.where(better, scores, self.best), np.where(risen, scores, self.plateau)
        self.since_best, self.since_rise = (
            np.where(better, 0, self.since_best + 1),
            np.where(risen, 0, self.since_rise + 1),
        )
        flat = self.since_rise > self.settings.learning_rate_patience
        self.rates, self.since_rise = (
            np.where(flat, self.rates * HALVED, self.rates),
            np.where(flat, 0, self.since_rise),
        )
        return better, (self.since_best >= self.settings.patience) | (self.rates < self.settings.min_learning_rate)

    def keep(self, kept: np.ndarray) -> None:
        for name in ("rates", "best", "since_best", "plateau", "since_rise"):
            setattr(self, name, getattr(self, name)[kept])
