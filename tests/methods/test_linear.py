"""The softmax classifier: at the optimum of the objective that the papers' accuracies stand on, and its scaling."""

import tracemalloc
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import softmax

from workflow.lib.base.errors import UserError
from workflow.lib.methods import scaling
from workflow.lib.methods.linear import fit_softmax


def correlated_classes(n, d, n_classes, seed=0, separation=0.8):
    """Features that mix a few factors, so that they are correlated as activations are."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    factors = rng.normal(size=(n, d)) + separation * rng.normal(size=(n_classes, d))[y]
    x = factors @ (rng.normal(size=(d, d)) / np.arange(1, d + 1)[:, None]) * rng.lognormal(size=d) + rng.normal(size=d)
    return x.astype(np.float32), y


# ---- the optimum


@pytest.mark.filterwarnings("error")  # of no convergence
@pytest.mark.parametrize("n_classes, n, d", [(2, 600, 12), (3, 600, 12), (14, 700, 64), (2, 300, 400)])
@pytest.mark.parametrize("c", [0.1, 1.0])
def test_the_gradient_of_the_sum_of_losses_and_squared_weights_is_zero(n_classes, n, d, c):
    """Sum of losses + |W|^2 / 2c; of two classes one weight vector, of more one each. The intercepts are free."""
    x, y = correlated_classes(n, d, n_classes)
    classifier = fit_softmax(x, y, c)[-1]
    z = (x - x.mean(axis=0, dtype=np.float64)) / x.std(axis=0, dtype=np.float64)
    logits = z @ classifier.coef_.T + classifier.intercept_
    truth = np.eye(n_classes)[y]
    if n_classes == 2:
        logits = np.hstack([np.zeros_like(logits), logits])
    residual = (softmax(logits, axis=1) - truth)[:, -len(classifier.coef_) :]
    at_start = np.abs(z.T @ (1 / n_classes - truth)).max()
    assert np.abs(residual.T @ z + classifier.coef_ / c).max() < 1e-3 * at_start
    assert np.abs(residual.sum(axis=0)).max() < 1e-3 * n


def test_two_normal_classes_are_told_apart_as_well_as_possible():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=20_000)
    x = rng.normal(size=(20_000, 3)) + np.outer(y, [1.2, -1.6, 0.0]) + 5  # means two standard deviations apart
    score = fit_softmax(x[:10_000], y[:10_000]).score(x[10_000:], y[10_000:])
    assert score == pytest.approx(NormalDist().cdf(1.0), abs=0.01)


def test_the_same_input_gives_the_same_bits():
    x, y = correlated_classes(500, 20, 4)
    first, second = fit_softmax(x, y)[-1], fit_softmax(x, y)[-1]
    assert np.array_equal(first.coef_, second.coef_) and np.array_equal(first.intercept_, second.intercept_)


# ---- labels


def test_answers_are_the_labels_numbers_whatever_their_order():
    x, y = correlated_classes(600, 8, 3)
    renumbered = np.array([7, 0, 4])
    assert np.array_equal(fit_softmax(x, renumbered[y]).predict(x), renumbered[fit_softmax(x, y).predict(x)])


def test_a_label_that_only_the_test_rows_have_counts_as_wrong():
    x, y = correlated_classes(300, 5, 3, separation=5)
    model = fit_softmax(x[y < 2], y[y < 2])
    assert set(model.predict(x)) == {0, 1} and model.score(x, y) == pytest.approx(np.mean(y < 2), abs=0.02)


def test_one_label_is_nothing_to_tell_apart():
    with pytest.raises(UserError, match="its 50 training rows all have the same") as error:
        fit_softmax(correlated_classes(50, 4, 2)[0], np.ones(50, dtype=int))
    assert "\n" not in str(error.value)


# ---- scaling


def test_features_come_in_any_units():
    x, y = correlated_classes(600, 10, 4)
    units = np.logspace(-3, 3, 10)
    plain, other = fit_softmax(x, y)[-1], fit_softmax((x * units + 10 * units).astype(np.float32), y)[-1]
    np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-2)


def test_one_scale_for_all_features_leaves_rotations_alone():
    x, y = correlated_classes(600, 10, 3)
    turned = (x @ np.linalg.qr(np.random.default_rng(1).normal(size=(10, 10)))[0]).astype(np.float32)
    spread = float(x.std())
    logits = [fit_softmax(rows, y, common_scale=spread).decision_function(rows) for rows in (x, turned)]
    np.testing.assert_allclose(*logits, atol=0.02)
    own = [fit_softmax(rows, y).decision_function(rows) for rows in (x, turned)]
    assert np.abs(own[0] - own[1]).max() > 0.1


def test_constant_and_duplicated_features_change_nothing():
    x, y = correlated_classes(400, 6, 3)
    rounding = 1e-7 * np.random.default_rng(0).normal(size=400)  # no signal, and not to be blown up to one
    extra = np.column_stack([np.full(400, 1234.5), 0.5 + rounding]).astype(np.float32)
    plain, constant = fit_softmax(x, y), fit_softmax(np.hstack([x, extra]), y)
    np.testing.assert_allclose(constant[-1].coef_[:, :6], plain[-1].coef_, atol=1e-3)
    assert np.abs(constant[-1].coef_[:, 6:]).max() < 1e-4
    twice = np.hstack([x, x])
    assert fit_softmax(twice, y).score(twice, y) == pytest.approx(plain.score(x, y), abs=0.01)


def test_all_features_constant_leaves_the_most_frequent_label():
    x, y = np.full((30, 4), 0.7, dtype=np.float32), np.repeat([0, 1, 2], [5, 15, 10])
    assert set(fit_softmax(x, y).predict(x)) == set(fit_softmax(x, y, common_scale=0.0).predict(x)) == {1}


def test_batches_give_the_scale_of_the_whole(monkeypatch):
    x = (np.random.default_rng(0).normal(size=(1000, 5)) * np.logspace(-2, 2, 5) + 50).astype(np.float32)
    monkeypatch.setattr(scaling, "BATCH", 77)
    mean, scale = scaling.mean_and_scale(x)
    np.testing.assert_allclose(mean, x.mean(axis=0, dtype=np.float64), rtol=1e-6)
    np.testing.assert_allclose(scale, x.std(axis=0, dtype=np.float64), rtol=1e-5)
    assert mean.dtype == scale.dtype == np.float32


def test_scaling_takes_the_memory_of_a_batch(monkeypatch):
    monkeypatch.setattr(scaling, "BATCH", 1000)
    x = np.random.default_rng(0).normal(size=(20_000, 32)).astype(np.float32)
    tracemalloc.start()
    try:
        scaling.fitted_scaler(x)
        assert tracemalloc.get_traced_memory()[1] < 0.4 * x.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_numbers_are_named(value):
    x, y = correlated_classes(100, 5, 2)
    x[7, 3] = value
    with pytest.raises(UserError, match="dimension 3"):
        fit_softmax(x, y)


@pytest.mark.filterwarnings("error")
def test_read_only_memory_as_a_cache_gives_it_will_do():
    x, y = correlated_classes(100, 5, 2)
    x.flags.writeable = y.flags.writeable = False
    assert fit_softmax(x, y).score(x, y) > 0.5
