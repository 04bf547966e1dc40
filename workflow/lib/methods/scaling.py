"""Standardisation of features by scikit-learn, safe for NaN and near-constant activations."""

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from workflow.lib.base.errors import UserError

BATCH = 16_384  # rows: scikit-learn works in float64, so never on all at once


def fitted_scaler(x: np.ndarray) -> StandardScaler:
    """A fitted scaler. A feature that is constant, up to rounding, keeps scale 1 and so becomes zero."""
    refuse_non_numbers(x)
    scaler = StandardScaler()
    for rows in gen_batches(len(x), BATCH):
        scaler.partial_fit(x[rows])
    scaler.scale_[np.sqrt(scaler.var_) <= 1e-6 * np.maximum(1.0, np.abs(scaler.mean_))] = 1.0
    return scaler


def mean_and_scale(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaler = fitted_scaler(x)
    return scaler.mean_.astype(np.float32), scaler.scale_.astype(np.float32)


def refuse_non_numbers(x: np.ndarray) -> None:
    """Raise an error on NaN or infinity: scikit-learn's scaler ignores NaN, and its estimators name no dimension."""
    lost = np.flatnonzero(~np.isfinite(x.sum(axis=0, dtype=np.float64)))
    if len(lost):
        raise UserError(f"activations hold NaN or infinity, first in dimension {lost[0]}")
