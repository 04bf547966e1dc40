"""Principal component analysis: centred, not whitened.

From the covariance matrix, which is exact and cheap for any number of vectors, as scikit-learn's `covariance_eigh` is;
importing scikit-learn takes longer than all the analyses of a small model.
"""

from dataclasses import dataclass

import numpy as np

PIECE = 65_536  # vectors: in float64, so never of all at once


@dataclass(frozen=True)
class PrincipalAxes:
    mean: np.ndarray  # (d,)
    axes: np.ndarray  # (components, d), by falling variance
    explained: np.ndarray  # (components,) share of the variance

    def project(self, x: np.ndarray, n: int) -> np.ndarray:
        """Coordinates on the first n axes."""
        return (x - self.mean) @ self.axes[:n].T


def principal_axes(vectors: np.ndarray) -> PrincipalAxes:
    """As many axes as vectors or dimensions, whichever are fewer; the largest entry of each is positive."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    pieces = (vectors[at : at + PIECE] - mean for at in range(0, len(vectors), PIECE))
    scatter = sum(piece.T @ piece for piece in pieces)
    variances, axes = np.linalg.eigh(scatter)
    n = min(vectors.shape)
    variances, axes = np.maximum(variances[::-1][:n], 0.0), axes.T[::-1][:n]
    largest = axes[np.arange(n), np.abs(axes).argmax(axis=1)]
    total = np.trace(scatter)
    return PrincipalAxes(mean, axes * np.sign(largest)[:, None], variances / total if total else variances)
