"""The softmax classifier against scikit-learn's, which solves the same problem."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from workflow.lib.base.errors import UserError
from workflow.lib.methods.linear import fit_softmax


def correlated_classes(n, d, n_classes, seed=0, separation=0.8):
    """Features that mix a few factors, so that they are correlated as activations are."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    factors = rng.normal(size=(n, d)) + separation * rng.normal(size=(n_classes, d))[y]
    x = factors @ (rng.normal(size=(d, d)) / np.arange(1, d + 1)[:, None]) * rng.lognormal(size=d) + rng.normal(size=d)
    return x.astype(np.float32), y


def reference(x, y, c=1.0):
    scaler = StandardScaler().fit(x.astype(np.float64))
    return scaler, LogisticRegression(C=c, tol=1e-8, max_iter=5000).fit(scaler.transform(x.astype(np.float64)), y)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("c", [0.1, 1.0])
def test_coefficients_and_predictions_are_those_of_scikit_learn(n_classes, c):
    x, y = correlated_classes(600, 12, n_classes)
    scaler, expected = reference(x, y, c)
    model = fit_softmax(x, y, n_classes, c=c, tolerance=1e-6)
    # scikit-learn has one weight vector for two classes and sum-zero ones for more
    weights = (model.weights[:, 1:] - model.weights[:, :1]) if n_classes == 2 else model.weights
    np.testing.assert_allclose(weights.T, expected.coef_, atol=2e-2 * np.abs(expected.coef_).max())
    assert np.mean(model.predict(x) == expected.predict(scaler.transform(x))) > 0.99


def test_accuracy_at_the_default_tolerance_is_that_of_scikit_learn():
    x, y = correlated_classes(1500, 40, 4, seed=1, separation=0.3)
    scaler, expected = reference(x[:1000], y[:1000])
    model = fit_softmax(x[:1000], y[:1000], 4)
    held_out = model.accuracy(x[1000:], y[1000:])
    assert 0.3 < held_out < 0.99
    assert held_out == pytest.approx(expected.score(scaler.transform(x[1000:]), y[1000:]), abs=0.005)


def test_constant_and_duplicated_features_change_nothing():
    x, y = correlated_classes(400, 6, 3)
    with_constant = np.hstack([x, np.full((400, 1), 1234.5, dtype=np.float32)])
    plain, constant = fit_softmax(x, y, 3), fit_softmax(with_constant, y, 3)
    np.testing.assert_allclose(constant.weights[:6], plain.weights, atol=1e-3)
    assert np.abs(constant.weights[6]).max() < 1e-6
    assert fit_softmax(np.hstack([x, x]), y, 3).accuracy(np.hstack([x, x]), y) == pytest.approx(
        plain.accuracy(x, y), abs=0.01
    )


def test_more_features_than_rows():
    x, y = correlated_classes(40, 100, 3)
    model = fit_softmax(x, y, 3)
    assert np.isfinite(model.weights).all() and model.accuracy(x, y) > 0.95


def test_a_class_without_examples_is_never_predicted():
    x, y = correlated_classes(300, 5, 3)
    assert set(fit_softmax(x, y, 5).predict(x)) <= {0, 1, 2}


def test_the_same_input_gives_the_same_bits():
    x, y = correlated_classes(500, 20, 4)
    first, second = fit_softmax(x, y, 4), fit_softmax(x, y, 4)
    assert np.array_equal(first.weights, second.weights) and np.array_equal(first.intercept, second.intercept)


def test_values_that_are_not_numbers_are_named():
    x, y = correlated_classes(100, 5, 2)
    x[7, 3] = np.nan
    with pytest.raises(UserError, match="dimension 3"):
        fit_softmax(x, y, 2)


@pytest.mark.filterwarnings("error")
def test_read_only_memory_as_a_cache_gives_it_will_do():
    x, y = correlated_classes(100, 5, 2)
    x.flags.writeable = y.flags.writeable = False
    assert fit_softmax(x, y, 2).accuracy(x, y) > 0.5
