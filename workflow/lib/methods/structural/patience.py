"""When a probe's learning rate falls, and when it stops: each lane by its own loss on dev."""

import numpy as np

FALL = 0.1  # factor on the rate after every epoch without a better loss
BETTER_BY = 1e-4  # a share of the best loss for the rate; a difference for stopping (as in Hewitt and Manning's code)


class Patience:
    """Arrays of one entry per lane."""

    def __init__(self, n_lanes: int, learning_rate: float, epochs: int):
        self.epochs = epochs
        self.rates = np.full(n_lanes, learning_rate)
        self.best_for_rate, self.best = np.full(n_lanes, np.inf), np.full(n_lanes, np.inf)
        self.stalled = np.zeros(n_lanes, dtype=int)

    def see(self, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(improved, stops) after an epoch: whose weights to keep, and who has run out of patience."""
        fell = losses < self.best_for_rate * (1 - BETTER_BY)
        self.best_for_rate = np.where(fell, losses, self.best_for_rate)
        self.rates = np.where(fell, self.rates, self.rates * FALL)
        improved = losses < self.best - BETTER_BY
        self.best = np.where(improved, losses, self.best)
        self.stalled = np.where(improved, 0, self.stalled + 1)
        return improved, self.stalled >= self.epochs

    def keep(self, kept: list[int]) -> None:
        for name in ("rates", "best_for_rate", "best", "stalled"):
            setattr(self, name, getattr(self, name)[kept])
