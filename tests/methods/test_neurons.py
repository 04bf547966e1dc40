"""The batched neuron search against a plain scikit-learn loop, and against planted truth."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from workflow.lib.base.errors import UserError
from workflow.lib.methods.linear import fit_softmax
from workflow.lib.methods.neurons.heldout_accuracy import _selected_optimum
from workflow.lib.methods.neurons.search import (
    cross_validated_accuracies,
    greedy_search,
    single_neuron_accuracies,
    stratified_folds,
    stratified_rows,
)
from workflow.lib.methods.scaling import mean_and_scale

PENALISED = 0.003


def overlapping_classes(n, d, n_classes, seed=0):
    """Every neuron tells a little about the class, some more than others; none is alone enough."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    means = rng.normal(size=(n_classes, d)) * rng.random(d) * 1.5
    noise = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) * 0.5 + rng.normal(size=(n, d))
    return ((means[y] + noise) * rng.lognormal(size=d) + rng.normal(size=d)).astype(np.float32), y


def one_neuron_per_class(n, d, n_classes, neurons, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    x = rng.normal(size=(n, d))
    for label, neuron in enumerate(neurons):
        x[:, neuron] += 8.0 * (y == label)
    return x.astype(np.float32), y


def plain_accuracies(x, y, selected, folds, c=1.0):
    accuracies = np.full(x.shape[1], np.nan)
    for j in set(range(x.shape[1])) - set(selected):
        columns, of_folds = [*selected, j], []
        for fold in np.unique(folds):
            train, test = folds != fold, folds == fold
            model = make_pipeline(StandardScaler(), LogisticRegression(C=c, tol=1e-6, solver="newton-cholesky"))
            model.fit(x[train][:, columns].astype(np.float64), y[train])
            of_folds.append(model.score(x[test][:, columns].astype(np.float64), y[test]))
        accuracies[j] = np.mean(of_folds)
    return accuracies


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("selected", [[], [3], [3, 0, 5]])
def test_accuracies_are_those_of_scikit_learn(n_classes, selected):
    x, y = overlapping_classes(400, 8, n_classes)
    folds = stratified_folds(y, 5, seed=0)
    ours, plain = cross_validated_accuracies(x, y, n_classes, selected, folds), plain_accuracies(x, y, selected, folds)
    assert np.array_equal(np.flatnonzero(np.isnan(ours)), np.sort(selected))
    np.testing.assert_allclose(ours, plain, atol=0.005)  # two rows of 400


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("selected", [[], [3]])
def test_so_are_those_of_strongly_penalised_classifiers(n_classes, selected):
    """Labels of unequal number: the penalty then decides how often the rare ones are answered."""
    x, y = overlapping_classes(900, 8, n_classes)
    x, y = x[(y == 0) | (np.arange(900) % 3 == 0)], y[(y == 0) | (np.arange(900) % 3 == 0)]
    folds = stratified_folds(y, 5, seed=0)
    ours = cross_validated_accuracies(x, y, n_classes, selected, folds, c=PENALISED)
    np.testing.assert_allclose(ours, plain_accuracies(x, y, selected, folds, PENALISED), atol=0.005)


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2], [0, 2, 3]], ids=["two", "three", "one missing"])
def test_the_search_starts_from_the_selected_neurons_classifier(labels):
    x, y = overlapping_classes(400, 6, len(labels))
    y, selected, (mean, scale) = np.array(labels)[y], [4, 1], mean_and_scale(x)
    start = _selected_optimum(
        [(x[:150], y[:150]), (x[150:], y[150:])], max(labels) + 1, selected, mean, scale, 1.0, "cpu"
    )
    rows = ((x - mean) / scale)[:, selected]
    logits = np.hstack([np.ones((400, 1)), rows]) @ start.numpy()
    expected = fit_softmax(rows, y).predict_proba(rows)
    np.testing.assert_allclose(softmax(logits, axis=1)[:, labels], expected, atol=1e-3)


def test_a_class_that_no_row_has_changes_nothing():
    x, y = overlapping_classes(400, 6, 3)
    folds = stratified_folds(y, 5, seed=0)
    for selected in ([], [2]):
        four, three = (cross_validated_accuracies(x, y, n, selected, folds) for n in (4, 3))
        np.testing.assert_allclose(four, three, atol=0.005)


def test_every_fold_has_its_share_of_every_class():
    y = np.random.default_rng(0).choice(4, size=203, p=[0.6, 0.2, 0.15, 0.05])
    folds = stratified_folds(y, 5, seed=1)
    counts = np.array([[np.sum((folds == fold) & (y == label)) for label in range(4)] for fold in range(5)])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1
    assert not np.array_equal(folds, stratified_folds(y, 5, seed=2))


def test_the_grid_that_stands_in_for_many_rows_keeps_the_accuracies():
    x, y = overlapping_classes(6000, 5, 3)
    x[:3, 0] *= 50  # outliers stretch a feature's grid
    folds = stratified_folds(y, 5, seed=0)
    ours, plain = cross_validated_accuracies(x, y, 3, [], folds), plain_accuracies(x, y, [], folds)
    np.testing.assert_allclose(ours, plain, atol=0.002)


def test_greedy_search_chooses_as_the_plain_loop_does():
    x, y = overlapping_classes(500, 7, 3, seed=2)
    folds, selected = stratified_folds(y, 5, seed=0), []
    for found in greedy_search(x, y, 3, n_neurons=3):
        plain = plain_accuracies(x, y, selected, folds)
        assert plain[found["neuron"]] >= np.nanmax(plain) - 0.002
        assert found["cv_accuracy"] == pytest.approx(plain[found["neuron"]], abs=0.005)
        selected.append(found["neuron"])
    assert [found["step"] for found in greedy_search(x, y, 3, n_neurons=3)] == [1, 2, 3]


def test_one_neuron_that_carries_a_binary_task_is_found_first():
    x, y = one_neuron_per_class(400, 30, 2, neurons=[17])
    found = greedy_search(x, y, 2, n_neurons=1)
    assert found[0]["neuron"] == 17 and found[0]["cv_accuracy"] > 0.99


def test_one_neuron_per_class_is_found_for_many_classes():
    neurons = [2, 5, 11, 13, 19, 23]
    x, y = one_neuron_per_class(900, 30, 6, neurons)
    found = greedy_search(x, y, 6, n_neurons=5)  # the last class is where no neuron fires
    assert {f["neuron"] for f in found} <= set(neurons) and found[-1]["cv_accuracy"] > 0.99


def test_single_neurons_on_the_test_set_are_those_of_scikit_learn():
    x, y = overlapping_classes(900, 6, 4, seed=3)
    ours = single_neuron_accuracies(x[:600], y[:600], x[600:], y[600:], 4)
    for j in range(6):
        model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-6, solver="newton-cholesky")).fit(
            x[:600, [j]].astype(np.float64), y[:600]
        )
        assert ours[j] == pytest.approx(model.score(x[600:, [j]].astype(np.float64), y[600:]), abs=0.007)


def test_chunks_of_candidates_do_not_change_the_result():
    x, y = overlapping_classes(600, 40, 4)
    folds = stratified_folds(y, 5, seed=0)
    whole = cross_validated_accuracies(x, y, 4, [1], folds)
    in_small_chunks = cross_validated_accuracies(x, y, 4, [1], folds, memory_gib=1e-4)
    np.testing.assert_allclose(in_small_chunks, whole, atol=2 / 600)


def test_the_same_input_gives_the_same_bits():
    x, y = overlapping_classes(3000, 20, 4)
    assert greedy_search(x, y, 4, 3, seed=1) == greedy_search(x, y, 4, 3, seed=1)


def test_of_equal_neurons_the_lowest_index_wins():
    x, y = one_neuron_per_class(300, 6, 2, neurons=[4])
    x[:, 1] = x[:, 4]
    assert greedy_search(x, y, 2, n_neurons=1)[0]["neuron"] == 1


@pytest.mark.parametrize("n", [400, 6000])
def test_constant_neurons_and_copies_of_selected_ones_are_harmless(n):
    x, y = overlapping_classes(n, 6, 3)
    x[:, 2] = 7.0
    x[:, 5] = x[:, 0]
    folds = stratified_folds(y, 5, seed=0)
    assert cross_validated_accuracies(x, y, 3, [], folds)[2] == pytest.approx(np.bincount(y).max() / n, abs=0.01)
    beside_first, alone = (cross_validated_accuracies(x, y, 3, chosen, folds) for chosen in ([0], []))
    np.testing.assert_allclose(beside_first[[2, 5]], alone[0], atol=0.006)


def test_a_class_rarer_than_the_folds_is_an_error_that_names_it():
    x, y = overlapping_classes(200, 4, 3)
    y[y == 2] = 0
    y[:3] = 2
    with pytest.raises(UserError, match=r"class 2 has 3 examples.*n_folds=5") as error:
        greedy_search(x, y, 3, n_neurons=1)
    assert "\n" not in str(error.value)
    y[:3] = 0
    with pytest.raises(UserError, match=r"class 2 has 0 examples"):
        greedy_search(x, y, 3, n_neurons=1)


def test_a_subsample_keeps_the_classes_shares():
    y = np.repeat([0, 1, 2], [700, 200, 100])
    rows = stratified_rows(y, max_rows=100, seed=0)
    assert np.bincount(y[rows]).tolist() == [70, 20, 10] and len(set(rows)) == 100
    assert np.array_equal(rows, stratified_rows(y, max_rows=100, seed=0))
    assert not np.array_equal(rows, stratified_rows(y, max_rows=100, seed=1))
    assert np.array_equal(stratified_rows(y, max_rows=5000, seed=0), np.arange(1000))
    assert len(stratified_rows(y, max_rows=999, seed=0)) == 999  # fewer left out than classes
    x, _ = one_neuron_per_class(1000, 5, 2, neurons=[3])
    assert greedy_search(x, np.arange(1000) % 2, 2, n_neurons=1, max_rows=200)[0]["neuron"] == 3


def test_asking_for_more_neurons_than_there_are_returns_all():
    x, y = overlapping_classes(200, 3, 2)
    assert sorted(found["neuron"] for found in greedy_search(x, y, 2, n_neurons=10)) == [0, 1, 2]


@pytest.mark.filterwarnings("error")
def test_read_only_memory_as_a_cache_gives_it_will_do():
    x, y = overlapping_classes(200, 3, 2)
    x.flags.writeable = y.flags.writeable = False
    assert len(greedy_search(x, y, 2, n_neurons=2)) == 2
    assert single_neuron_accuracies(x, y, x, y, 2).shape == (3,)
