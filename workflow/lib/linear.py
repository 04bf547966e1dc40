"""The papers' "softmax classifier": multinomial logistic regression on standardised features.

The objective is scikit-learn's (sum of losses + |W|^2 / 2c, free intercept) and so is the optimiser beneath it (SciPy's
L-BFGS-B). What differs is the coordinate system: neurons are strongly correlated, so on hundreds of them scikit-learn
takes hundreds of iterations, and a few dozen suffice once their Gram matrix is divided out. On principal components,
which are uncorrelated, both take about as long. That, and CUDA, is why this is no wrapper.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from workflow.lib.errors import UserError


@dataclass(frozen=True)
class SoftmaxModel:
    """Weights are those of standardised features; `mean` and `scale` are the training set's."""

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


def mean_and_scale(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As scikit-learn's StandardScaler: a constant feature keeps scale 1 and so becomes zero."""
    mean = x.mean(axis=0, dtype=np.float64)
    if not np.isfinite(mean).all():
        raise UserError(f"activations hold NaN or infinity, first in dimension {int(np.argmin(np.isfinite(mean)))}")
    pieces = (x[i : i + 4096] - mean for i in range(0, len(x), 4096))  # float64, so never of the whole at once
    deviation = np.sqrt(sum(np.einsum("nd,nd->d", piece, piece) for piece in pieces) / len(x))
    constant = deviation <= 1e-6 * np.maximum(1.0, np.abs(mean))  # what is left is rounding, not signal
    return mean.astype(np.float32), np.where(constant, 1.0, deviation).astype(np.float32)


def penalty_of(n_classes: int, c: float) -> float:
    """Two classes are a special case in scikit-learn: one weight vector (the difference of our two) is penalised."""
    return (2.0 if n_classes == 2 else 1.0) / c


def fit_softmax(
    x: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    c: float = 1.0,
    device: str = "cpu",
    tolerance: float = 1e-4,
    max_iterations: int = 1000,
) -> SoftmaxModel:
    n, d = x.shape
    mean, scale = mean_and_scale(x)
    features = torch.as_tensor((x - mean) / scale, dtype=torch.float32, device=device)
    one_hot = torch.nn.functional.one_hot(torch.tensor(y, device=device).long(), n_classes).float()
    ridge = penalty_of(n_classes, c) / n
    factor = _cholesky_of_curvature(features, n_classes, ridge)
    # the features are centred, so the intercept does not interact with them and is scaled on its own
    intercept_scale = n_classes**0.5

    def unwhiten(flat: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        parameters = torch.as_tensor(flat, dtype=torch.float32, device=device).reshape(d + 1, n_classes)
        return torch.linalg.solve_triangular(factor.T, parameters[:d], upper=True), parameters[d] * intercept_scale

    def mean_loss_and_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights, intercept = unwhiten(flat)
        logits = torch.addmm(intercept, features, weights)
        log_partition = torch.logsumexp(logits, dim=1, keepdim=True)
        data_loss = (log_partition.sum(dtype=torch.float64) - (logits * one_hot).sum(dtype=torch.float64)) / n
        loss = data_loss + 0.5 * ridge * weights.square().sum(dtype=torch.float64)
        residual = (logits - log_partition).exp_().sub_(one_hot).div_(n)
        slope = torch.linalg.solve_triangular(factor, features.T @ residual + ridge * weights, upper=False)
        gradient = torch.cat([slope, residual.sum(0, keepdim=True) * intercept_scale])
        return float(loss), gradient.double().cpu().numpy().ravel()

    start = np.zeros((d + 1) * n_classes)
    options = {"gtol": tolerance, "ftol": 1e-10, "maxiter": max_iterations, "maxcor": 10}
    # vectors this short gain nothing from BLAS threads, which would contend with the threads of torch
    with threadpool_limits(1, user_api="blas"):
        optimum = minimize(mean_loss_and_gradient, start, jac=True, method="L-BFGS-B", options=options).x
    weights, intercept = unwhiten(optimum)
    return SoftmaxModel(mean, scale, weights.cpu().numpy(), intercept.cpu().numpy())


def _cholesky_of_curvature(features: torch.Tensor, n_classes: int, ridge: float) -> torch.Tensor:
    """Factor of the Hessian at zero weights; in float64 and slightly lifted, since features may be near-copies."""
    gram = (features.T @ features).double() / len(features)
    lifted = gram / n_classes + (ridge + 1e-6) * torch.eye(len(gram), dtype=torch.float64, device=features.device)
    return torch.linalg.cholesky(lifted).float()
