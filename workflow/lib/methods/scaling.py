"""Standardising features, apart from what stands on it: it needs numpy alone."""

import numpy as np

from workflow.lib.base.errors import UserError


def mean_and_scale(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As scikit-learn's StandardScaler: a constant feature keeps scale 1 and so becomes zero."""
    mean = x.mean(axis=0, dtype=np.float64)
    if not np.isfinite(mean).all():
        raise UserError(f"activations hold NaN or infinity, first in dimension {int(np.argmin(np.isfinite(mean)))}")
    pieces = (x[i : i + 4096] - mean for i in range(0, len(x), 4096))  # float64, so never of the whole at once
    deviation = np.sqrt(sum(np.einsum("nd,nd->d", piece, piece) for piece in pieces) / len(x))
    constant = deviation <= 1e-6 * np.maximum(1.0, np.abs(mean))  # what is left is rounding, not signal
    return mean.astype(np.float32), np.where(constant, 1.0, deviation).astype(np.float32)
