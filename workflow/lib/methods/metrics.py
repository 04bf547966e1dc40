"""Scores of predictions that need numpy alone, so that analyses can use them without importing torch."""

import numpy as np


def matthews(truth: np.ndarray, guess: np.ndarray) -> float:
    """Correlation of labels and predictions; 0 where either is constant (scikit-learn's convention)."""
    names = np.unique(np.concatenate([truth, guess]))
    true, guessed = truth[:, None] == names, guess[:, None] == names
    covariance = (true.mean(0) * guessed.mean(0)).sum() - np.mean((true & guessed).any(1))
    spread = (1 - (true.mean(0) ** 2).sum()) * (1 - (guessed.mean(0) ** 2).sum())
    return float(-covariance / np.sqrt(spread)) if spread > 0 else 0.0
