"""Shapes of curves whose answers can be worked out by hand."""

import math

import numpy as np
import pytest

from workflow.papers.singh2020.curve_shape import (
    FLAT,
    concavity,
    departure,
    drop_begins,
    half_gained,
    lost_between,
    share_lost_between,
    steepest_step,
)

RNG = np.random.default_rng(0)
FALLING = [np.append(0.9, 0.9 - np.cumsum(RNG.uniform(0.01, 0.1, n))) for n in (2, 3, 4, 6, 12)]
NOISY = [0.9 - 0.4 * np.linspace(0, 1, n) ** 2 + RNG.normal(0, 0.03, n) for n in (4, 7, 13)]


def line(n_layers, high=0.9, low=0.5):
    return np.linspace(high, low, n_layers + 1)


def cliff(n_layers, at, high=0.9, low=0.5):
    """Unharmed below `at` re-initialised layers, lost from there on."""
    return np.where(np.arange(n_layers + 1) < at, high, low)


# ---- concavity


@pytest.mark.parametrize("n_layers", [2, 3, 4, 12, 24])
def test_concavity_has_its_closed_forms(n_layers):
    x = np.arange(n_layers + 1) / n_layers
    assert concavity(line(n_layers)) == pytest.approx(0, abs=1e-12)
    assert concavity(cliff(n_layers, at=n_layers)) == pytest.approx(0.5)
    assert concavity(cliff(n_layers, at=1)) == pytest.approx(-0.5)
    # the mean of x - x^2 over the points between: (L + 1) / 6L
    assert concavity(1 - x**2) == pytest.approx((n_layers + 1) / (6 * n_layers))
    assert concavity((1 - x) ** 2) == pytest.approx(-(n_layers + 1) / (6 * n_layers))


@pytest.mark.parametrize("scores", FALLING + NOISY)
def test_concavity_is_that_of_a_slow_loop(scores):
    last = len(scores) - 1
    drop = scores[0] - scores[last]
    above = [scores[k] - (scores[0] - drop * k / last) for k in range(1, last)]
    assert concavity(scores) == pytest.approx(sum(above) / len(above) / drop)


@pytest.mark.parametrize("scores", FALLING)
def test_a_curve_turned_by_half_a_turn_changes_sign(scores):
    assert concavity(scores.max() + scores.min() - scores[::-1]) == pytest.approx(-concavity(scores))


def test_a_curve_that_does_not_fall_has_no_concavity():
    assert math.isnan(concavity([0.7, 0.9, 0.8]))
    assert math.isnan(concavity([0.7, 0.9, 0.7]))
    assert math.isnan(concavity([0.7, 0.72, 0.7 - 0.9 * FLAT]))
    assert not math.isnan(concavity([0.7, 0.72, 0.7 - 1.1 * FLAT]))
    assert not math.isnan(concavity([0.7, 0.72, 0.7 - 0.9 * FLAT], tolerance=0.001))
    assert math.isnan(concavity([0.9, 0.5]))  # nothing between the ends


# ---- where the drop begins


@pytest.mark.parametrize("at", range(1, 13))
def test_a_cliff_begins_where_it_stands(at):
    assert drop_begins(cliff(12, at)) == at


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1), (0.05, 1), (0.1, 2), (0.25, 3), (0.9, 10), (1.0, math.nan)])
def test_a_straight_fall_begins_beyond_the_share(share, expected):
    # exactly the share is not yet more than the share, whatever the rounding
    assert drop_begins(line(10), share=share) == pytest.approx(expected, nan_ok=True)
    assert drop_begins(line(10, 0.7, 0.1), share=share) == pytest.approx(expected, nan_ok=True)


def test_a_dip_that_recovers_is_no_beginning():
    assert drop_begins([0.9, 0.6, 0.9, 0.9, 0.7, 0.5]) == 4
    assert drop_begins([0.9, 0.6, 0.7, 0.8, 0.7, 0.5]) == 1
    assert math.isnan(drop_begins([0.9, 0.5, 0.5, 0.9]))  # the end has recovered


def test_the_drop_is_measured_from_the_unharmed_score_to_the_worst():
    # a rise above the start does not make the drop longer; the worst point need not be the last
    assert drop_begins([0.8, 0.95, 0.79, 0.69, 0.6]) == 3
    assert drop_begins([0.8, 0.77, 0.4, 0.7]) == 2


def test_a_flat_curve_has_no_beginning():
    assert math.isnan(drop_begins([0.9, 0.9, 0.9]))
    assert math.isnan(drop_begins([0.5, 0.6, 0.7]))
    assert math.isnan(drop_begins([0.9, 0.9, 0.9 - 0.9 * FLAT]))
    assert drop_begins([0.9, 0.9, 0.9 - 1.1 * FLAT]) == 2


# ---- departure from a straight line


def test_a_cliff_in_the_middle_is_far_from_straight_though_its_concavity_cancels():
    assert departure(line(12)) == pytest.approx(0, abs=1e-12)
    for at in (6, 7):
        assert abs(concavity(cliff(12, at))) < 0.05 and departure(cliff(12, at)) > 0.2
    assert departure(cliff(12, 12)) == pytest.approx(concavity(cliff(12, 12)))  # all on one side


@pytest.mark.parametrize("scores", FALLING)
def test_departure_is_that_of_a_slow_loop(scores):
    drop, n = scores[0] - scores[-1], len(scores) - 1
    far = [abs(scores[k] - (scores[0] - drop * k / n)) / drop for k in range(1, n)]
    assert departure(scores) == pytest.approx(sum(far) / len(far))


# ---- the steepest step, and where half is gained


@pytest.mark.parametrize("n_layers", [2, 4, 12])
def test_the_steepest_step_has_its_closed_forms(n_layers):
    assert steepest_step(line(n_layers)) == pytest.approx(1 / n_layers)
    assert steepest_step(cliff(n_layers, at=1)) == pytest.approx(1)
    # a rise before the fall makes the way longer, not the step
    assert steepest_step([0.8, 0.9, 0.6, 0.5]) == pytest.approx(0.3 / 0.4)
    assert math.isnan(steepest_step([0.5, 0.5 + 0.9 * FLAT, 0.5]))


@pytest.mark.parametrize("at", range(1, 13))
def test_half_is_gained_in_the_middle_of_a_cliff(at):
    """With `at` of twelve layers lost the score is low, with one less it is high: 12 - at and 13 - at are kept."""
    assert half_gained(cliff(12, at)) == pytest.approx(12.5 - at)


def test_half_is_gained_where_the_way_up_is_half():
    assert half_gained(line(10)) == pytest.approx(5)
    assert half_gained(line(11)) == pytest.approx(5.5)
    assert half_gained([0.5, 0.7, 0.9]) == 0  # the best score without any pre-trained layer
    assert half_gained([0.5, 0.9, 0.8, 0.5]) == pytest.approx(1 * 0.2 / 0.3)  # reached for the first time
    assert math.isnan(half_gained([0.9, 0.9, 0.9]))


def test_what_layers_cost():
    assert lost_between(line(12), 4, 8) == pytest.approx(0.4 / 3)
    assert share_lost_between(line(12), 4, 8) == pytest.approx(1 / 3)
    assert share_lost_between(cliff(12, 10), 8, 12) == 1 and share_lost_between(cliff(12, 10), 4, 8) == 0
    assert math.isnan(share_lost_between([0.9, 0.7, 0.9], 0, 1))


# ---- many curves at once


@pytest.mark.parametrize("function", [concavity, departure, drop_begins, steepest_step, half_gained])
def test_many_curves_are_one_by_one(function):
    curves = np.stack([line(12), cliff(12, 3), cliff(12, 12), np.full(13, 0.7), NOISY[-1]])
    assert function(curves) == pytest.approx([float(function(curve)) for curve in curves], nan_ok=True)
    assert math.isnan(function(curves)[3]) and function(curves[None]).shape == (1, 5)


# ---- invariances, and what is no curve


@pytest.mark.parametrize("scores", FALLING + NOISY)
@pytest.mark.parametrize(("scale", "shift"), [(1, 0.05), (1, -3), (2, 0), (100, 0), (0.7, 0.2)])
def test_adding_and_scaling_change_nothing(scores, scale, shift):
    other = scale * scores + shift
    assert concavity(other) == pytest.approx(concavity(scores), abs=1e-9)
    assert drop_begins(other) == drop_begins(scores)
    assert departure(other) == pytest.approx(departure(scores), nan_ok=True)
    assert steepest_step(other) == pytest.approx(steepest_step(scores))
    assert half_gained(other) == pytest.approx(half_gained(scores))


def test_lists_and_arrays_are_the_same_and_stay_as_they_are():
    scores = NOISY[0].copy()
    assert concavity(list(scores)) == concavity(scores)
    assert np.array_equal(scores, NOISY[0])


@pytest.mark.parametrize("function", [concavity, departure, drop_begins, steepest_step, half_gained])
@pytest.mark.parametrize("scores", [[], 0.5, [0.5], [0.5, math.nan, 0.3], [[0.5], [0.3]]])
def test_what_is_no_curve_is_refused(function, scores):
    with pytest.raises(ValueError, match="curve"):
        function(scores)
