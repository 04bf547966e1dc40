"""One rule for all claims: intervals over repetitions, or over the test rows of a single run."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import matthews_corrcoef

from workflow.lib.base.resampling import confusion, matthews, resampled_means
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR, Estimate, all_of, opposite


def test_repetitions_are_judged_by_students_interval():
    values = [1.0, 1.3, 0.9, 1.2]
    low, high = Estimate(values).interval()
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 3, np.mean(values), stats.sem(values)))
    assert Estimate(values).side(0.5) == HOLDS and Estimate(values).side(2) == FAILS
    assert Estimate(values).side(1.1) == UNCLEAR and Estimate([2, 2, 2]).side(2) == UNCLEAR
    assert Estimate([1.0, 2.0, 0.5]).side() == UNCLEAR  # two of freedom: 4.3 standard errors


def test_a_single_run_is_judged_by_its_test_rows():
    rows = np.repeat([1.0, 0.0, -1.0], [120, 860, 20])
    single = Estimate.of_rows([rows])
    low, high = single.interval()
    normal = stats.norm.interval(0.95, rows.mean(), stats.sem(rows))
    assert (low, high) == pytest.approx(normal, abs=0.003) and single.side() == HOLDS
    assert single.said(2) == f"0.10 [{low:.2f}, {high:.2f}] (1 run, 1000 test rows)"
    assert Estimate.of_rows([rows[::-1]]).interval() == (low, high)  # whatever the order, and always the same draws


def test_of_runs_and_rows_the_wider_interval_counts():
    apart = [np.full(50, 1.0), np.full(50, -1.0)]
    assert Estimate.of_rows(apart).side() == UNCLEAR and Estimate.of_rows(apart[:1]).side() == HOLDS
    rows = np.random.default_rng(0).normal(0.1, 1, 100)  # too few rows to tell
    single, several = Estimate.of_rows([rows]), Estimate.of_rows([rows, rows + 0.001, rows - 0.001])
    assert single.side() == several.side() == UNCLEAR and Estimate(several.values).side() == HOLDS


def test_one_value_without_rows_cannot_tell():
    assert Estimate([5.0]).side() == UNCLEAR and Estimate([]).side() == UNCLEAR
    assert Estimate([5.0], "encoders").said() == "5.0 (1 encoder)" and Estimate([]).said() == "nothing measured"


def test_what_could_not_be_measured_leaves_the_question_open_and_is_said():
    partly = Estimate([1.0, float("nan"), 1.2, 0.9], "labels")
    assert partly.side() == UNCLEAR and partly.said() == "1.0 (3 labels, 1 without)"
    assert Estimate([1.0, 1.2, 0.9], "labels").said() == "1.0 [0.7, 1.4] (3 labels)"


def test_verdicts_of_several_tasks():
    assert all_of([HOLDS, HOLDS]) == HOLDS and all_of([HOLDS, UNCLEAR]) == UNCLEAR
    assert all_of([UNCLEAR, FAILS]) == FAILS and all_of([]) == UNCLEAR
    assert [opposite(verdict) for verdict in (HOLDS, FAILS, UNCLEAR)] == [FAILS, HOLDS, UNCLEAR]


def test_resampling_agrees_with_scipys_bootstrap():
    rows = np.random.default_rng(0).normal(0.2, 1, 400)
    theirs = stats.bootstrap((rows,), np.mean, n_resamples=1000, method="percentile", rng=1).confidence_interval
    ours = np.quantile(resampled_means(rows), [0.025, 0.975])
    np.testing.assert_allclose(ours, theirs, atol=0.02)


def test_pairs_of_rows_are_drawn_together():
    """A difference that is the same in every row has no spread, however much both sides vary."""
    rows = np.random.default_rng(0).normal(size=300)
    drawn = resampled_means(np.stack([rows + 1, rows], axis=1))
    np.testing.assert_allclose(drawn[:, 0] - drawn[:, 1], 1)


def test_matthews_correlation_is_scikit_learns():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.3, 1.0):
        truth, guess = rng.random(200) < 0.6, rng.random(200) < share
        assert matthews(confusion(truth, guess).mean(axis=0)) == pytest.approx(matthews_corrcoef(truth, guess))
