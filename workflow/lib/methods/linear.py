"""The papers' "softmax classifier": multinomial logistic regression on centred and scaled features.

The objective is scikit-learn's (sum of losses + |W|^2 / 2c, free intercept) and so is the optimiser beneath it (SciPy's
L-BFGS-B). What differs is the coordinate system: neurons are strongly correlated, so on hundreds of them scikit-learn
takes hundreds of iterations, and a few dozen suffice once their Gram matrix is divided out. On principal components,
which are uncorrelated, both take about as long. That, and an import of seconds, is why this is no wrapper.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import logsumexp

from workflow.lib.methods.scaling import mean_and_scale


@dataclass(frozen=True)
class SoftmaxModel:
    """Weights are those of scaled features; `mean` and `scale` are the training set's."""

    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)
    weights: np.ndarray  # (d, n_classes)
    intercept: np.ndarray  # (n_classes,)

    def logits(self, x: np.ndarray) -> np.ndarray:
        return ((x - self.mean) / self.scale) @ self.weights + self.intercept

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.logits(x).argmax(axis=1)

    def accuracy(self, x: np.ndarray, y: np.ndarray) -> float:
        return float(np.mean(self.predict(x) == y))


def penalty_of(n_classes: int, c: float) -> float:
    """Two classes are a special case in scikit-learn: one weight vector (the difference of our two) is penalised."""
    return (2.0 if n_classes == 2 else 1.0) / c


def fit_softmax(
    x: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    c: float = 1.0,
    tolerance: float = 1e-4,
    max_iterations: int = 1000,
    common_scale: float | None = None,
) -> SoftmaxModel:
    """Every feature is divided by its own standard deviation, or all by one number, which leaves rotations alone."""
    n, d = x.shape
    mean, scale = mean_and_scale(x)
    if common_scale is not None:
        scale = np.full(d, common_scale or 1.0, dtype=np.float32)
    features = ((x - mean) / scale).astype(np.float32)
    one_hot = (np.asarray(y)[:, None] == np.arange(n_classes)).astype(np.float32)
    ridge = penalty_of(n_classes, c) / n
    factor = _cholesky_of_curvature(features, n_classes, ridge)
    # the features are centred, so the intercept does not interact with them and is scaled on its own
    intercept_scale = n_classes**0.5

    def unwhiten(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parameters = flat.astype(np.float32).reshape(d + 1, n_classes)
        weights = solve_triangular(factor, parameters[:d], trans="T", lower=True, check_finite=False)
        return weights, parameters[d] * np.float32(intercept_scale)

    def mean_loss_and_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights, intercept = unwhiten(flat)
        logits = features @ weights + intercept
        log_partition = logsumexp(logits, axis=1, keepdims=True)
        data_loss = (log_partition.sum(dtype=np.float64) - np.vdot(logits, one_hot).astype(np.float64)) / n
        loss = data_loss + 0.5 * ridge * np.square(weights).sum(dtype=np.float64)
        residual = (np.exp(logits - log_partition) - one_hot) / np.float32(n)
        slope = solve_triangular(factor, features.T @ residual + np.float32(ridge) * weights, lower=True,
                                 check_finite=False)  # fmt: skip
        gradient = np.concatenate([slope, residual.sum(axis=0, keepdims=True) * intercept_scale])
        return float(loss), gradient.astype(np.float64).ravel()

    start = np.zeros((d + 1) * n_classes)
    options = {"gtol": tolerance, "ftol": 1e-10, "maxiter": max_iterations, "maxcor": 10}
    optimum = minimize(mean_loss_and_gradient, start, jac=True, method="L-BFGS-B", options=options).x
    return SoftmaxModel(mean, scale, *unwhiten(optimum))


def _cholesky_of_curvature(features: np.ndarray, n_classes: int, ridge: float) -> np.ndarray:
    """Factor of the Hessian at zero weights; in float64 and slightly lifted, since features may be near-copies."""
    gram = (features.T @ features).astype(np.float64) / len(features)
    return np.linalg.cholesky(gram / n_classes + (ridge + 1e-6) * np.eye(len(gram))).astype(np.float32)
