"""Principal component analysis by scikit-learn: centred, not whitened.

From the covariance matrix, which is exact and cheap for any number of vectors. scikit-learn subtracts the mean from
that matrix at the end, in the vectors' own float32, and loses digits if a dimension's mean is far from zero; therefore
vectors are centred first.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA

from workflow.lib.base.work import count
from workflow.lib.methods.scaling import refuse_non_numbers


@dataclass(frozen=True)
class PrincipalAxes:
    mean: np.ndarray  # (d,)
    axes: np.ndarray  # (components, d), by decreasing variance
    explained: np.ndarray  # (components,) share of the variance

    def project(self, x: np.ndarray, n: int) -> np.ndarray:
        """Coordinates on the first n axes."""
        axes = self.axes[:n].T
        return x @ axes - self.mean @ axes  # x - mean would be a copy of all vectors


def principal_axes(vectors: np.ndarray) -> PrincipalAxes:
    """PCA with min(vectors, dimensions) components; the largest entry of each axis is positive."""
    refuse_non_numbers(vectors)
    mean = vectors.mean(axis=0, dtype=np.float64).astype(vectors.dtype)
    if len(vectors) < 2:  # no variance: any axis will do
        return PrincipalAxes(mean, np.eye(1, vectors.shape[1], dtype=vectors.dtype), np.zeros(1))
    pca = PCA(n_components=min(vectors.shape), svd_solver="covariance_eigh")
    with np.errstate(invalid="ignore", divide="ignore"):  # identical vectors have no variance: the shares are 0 / 0
        pca.fit(vectors - mean)
    count("fits")
    return PrincipalAxes(mean, pca.components_, np.nan_to_num(pca.explained_variance_ratio_))
