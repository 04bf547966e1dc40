"""Principal axes against the plain formula in float64, planted planes, and what far dimensions must not change."""

import tracemalloc

import numpy as np
import pytest

from workflow.lib.base.errors import UserError
from workflow.lib.methods.pca.principal_axes import principal_axes


def plain(x):
    """Shares of the variance and axes, from the covariance matrix."""
    variances, axes = np.linalg.eigh(np.cov(x.astype(np.float64).T))
    return variances[::-1] / variances.sum(), axes.T[::-1]


@pytest.mark.parametrize("n, d", [(300, 20), (12, 40), (2, 5)])
def test_axes_shares_and_projections_are_those_of_the_plain_formula(n, d):
    x = (np.random.default_rng(0).normal(size=(n, d)) * np.linspace(5, 1, d) + 100).astype(np.float32)
    ours, (shares, axes) = principal_axes(x), plain(x)
    meaningful = min(n - 1, d)  # n vectors span n - 1 directions around their mean
    assert ours.axes.shape == (min(n, d), d) and ours.explained.shape == (min(n, d),)
    np.testing.assert_allclose(ours.explained, shares[: min(n, d)], atol=1e-6)
    expected = (x - x.mean(axis=0, dtype=np.float64)) @ axes[:meaningful].T
    np.testing.assert_allclose(np.abs(ours.project(x, meaningful)), np.abs(expected), atol=1e-3)
    assert ours.project(x, 1).shape == (n, 1) and ours.project(x, 1).dtype == np.float32


def test_a_dimension_far_from_zero_is_no_component():
    """One of an encoder's few outlying dimensions: large everywhere, and everywhere the same."""
    x = np.random.default_rng(0).normal(size=(20_000, 8)).astype(np.float32) * np.linspace(2, 1, 8, dtype=np.float32)
    x[:, 5] += 3000
    np.testing.assert_allclose(principal_axes(x).explained, plain(x)[0], rtol=1e-3)


def test_the_planted_plane_is_found():
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.normal(size=(10, 2)))[0].T
    x = rng.normal(size=(500, 2)) * [5, 3] @ plane + 0.01 * rng.normal(size=(500, 10)) - 7
    pca = principal_axes(x)
    np.testing.assert_allclose(np.abs(pca.axes[:2] @ plane.T), np.eye(2), atol=0.1)
    np.testing.assert_allclose(pca.axes[:2].T @ pca.axes[:2], plane.T @ plane, atol=1e-3)
    assert pca.explained[:2].sum() == pytest.approx(1, abs=1e-4) and (np.diff(pca.explained) <= 0).all()


def test_memory_is_that_of_one_centred_copy():
    x = np.random.default_rng(0).normal(size=(20_000, 32)).astype(np.float32)
    x.flags.writeable = False  # and nothing is centred in place
    principal_axes(x[:2000])  # imports and buffers that stay
    tracemalloc.start()
    try:
        principal_axes(x)
        assert tracemalloc.get_traced_memory()[1] < 1.3 * x.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [1, 5])
def test_identical_vectors_have_no_variance(n):
    axes = principal_axes(np.ones((n, 3), dtype=np.float32))
    assert not axes.explained.any() and np.abs(axes.project(np.ones((1, 3)), 2)).max(initial=0) < 1e-6


def test_values_that_are_not_numbers_are_named():
    x = np.ones((5, 3), dtype=np.float32)
    x[2, 1] = np.nan
    with pytest.raises(UserError, match="dimension 1"):
        principal_axes(x)


def test_the_sign_of_an_axis_does_not_depend_on_the_order_of_vectors():
    x = np.random.default_rng(0).normal(size=(50, 4)) * [5, 3, 2, 1]
    np.testing.assert_allclose(principal_axes(x).axes, principal_axes(x[::-1]).axes, atol=1e-9)
