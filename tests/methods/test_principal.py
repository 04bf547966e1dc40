"""Principal axes against scikit-learn."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from workflow.lib.methods.pca.principal_axes import principal_axes


@pytest.mark.parametrize("n, d", [(300, 20), (12, 40), (2, 5)])
def test_axes_shares_and_projections_are_those_of_scikit_learn(n, d):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(n, d)) * np.linspace(5, 1, d) + 100).astype(np.float32)
    ours, theirs = principal_axes(x), PCA(svd_solver="full").fit(x.astype(np.float64))
    meaningful = min(n - 1, d)  # n vectors span n - 1 directions around their mean
    np.testing.assert_allclose(ours.explained, theirs.explained_variance_ratio_, atol=1e-9)
    np.testing.assert_allclose(
        np.abs(ours.project(x, meaningful)), np.abs(theirs.transform(x.astype(np.float64))[:, :meaningful]), atol=1e-3
    )


def test_identical_vectors_have_no_variance():
    axes = principal_axes(np.ones((5, 3), dtype=np.float32))
    assert not axes.explained.any() and not axes.project(np.ones((1, 3)), 2).any()


def test_the_sign_of_an_axis_does_not_depend_on_the_order_of_vectors():
    x = np.random.default_rng(0).normal(size=(50, 4)) * [5, 3, 2, 1]
    np.testing.assert_allclose(principal_axes(x).axes, principal_axes(x[::-1]).axes, atol=1e-9)
