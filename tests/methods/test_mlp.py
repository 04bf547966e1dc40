"""The classifier probe against scikit-learn's MLPClassifier, and on data whose truth is planted."""

import logging
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from tests.scripts import run_script
from workflow.lib.activations.cache import LayerWriter, layer_file
from workflow.lib.base.errors import UserError
from workflow.lib.base.tables import read_table
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.methods.mlp import grid
from workflow.lib.methods.mlp.grid import holdout_rows, probe_grid
from workflow.lib.methods.mlp.networks import Lane, Networks
from workflow.lib.methods.mlp.training import EarlyStopping

SMALL = {"sizes": [16, 32], "alphas": [1e-4, 1e-1], "n_seeds": 2, "max_epochs": 150}


@pytest.fixture(autouse=True)
def one_thread():
    """For matrices this small, threads that wait for each other would take most of the time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(before)


def clusters(n, d, n_labels, seed=0, spread=0.7):
    """Three clusters per label, so that no hyperplanes part the labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_labels, n)
    centres = rng.normal(size=(n_labels, 3, d))
    return (centres[y, rng.integers(0, 3, n)] + spread * rng.normal(size=(n, d))).astype(np.float32), y


def tensors(x, y):
    return torch.as_tensor(x), torch.as_tensor(y)


def exclusive_or(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6)).astype(np.float32)
    return x, ((x[:, 0] > 0) ^ (x[:, 1] > 0)).astype(int)


def train(lanes, x, y, layers, epochs, batch_size=50):
    networks = Networks(layers, lanes, learning_rate=1e-3)
    for _ in range(epochs):
        networks.train_epoch(*tensors(x, y), batch_size)
    return networks


def parameters_of(networks, lane):
    """Of one lane: weight, bias, weight, bias, ..."""
    layers = zip(networks.weights, networks.biases)
    return [part[lane].detach().numpy().copy() for layer in layers for part in layer]


def assert_same_lane(networks, lane, other, other_lane):
    for ours, theirs in zip(parameters_of(networks, lane), parameters_of(other, other_lane), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6, rtol=0)


# ---- one network is scikit-learn's


def plain_loss(parameters, alpha, x, y):
    """In numpy and double precision."""
    a, a_bias, b, b_bias, c, c_bias = parameters
    logits = np.maximum(np.maximum(x @ a + a_bias, 0) @ b + b_bias, 0) @ c + c_bias
    entropies = np.log(np.exp(logits).sum(1)) - logits[np.arange(len(y)), y]
    return entropies.mean() + alpha / (2 * len(y)) * sum((weight**2).sum() for weight in (a, b, c))


@pytest.mark.parametrize("own_rows", [False, True])  # all networks see the same rows, or each its own
def test_losses_are_those_of_numpy_and_gradients_those_of_finite_differences(own_rows):
    x, y = clusters(40, 5, 3)
    lanes = [Lane(0.5, 0), Lane(2.0, 1)]
    networks = Networks([5, 8, 4, 3], lanes, learning_rate=1e-3).double()
    rows = np.stack([np.arange(30), np.arange(39, 9, -1)]) if own_rows else np.arange(30)[None]
    losses = networks.losses(torch.as_tensor(x).double()[rows], torch.as_tensor(y)[rows])
    losses.sum().backward()
    for lane, of_lane in enumerate(np.broadcast_to(rows, (2, 30))):
        data = lanes[lane].alpha, x[of_lane].astype(float), y[of_lane]
        parameters = parameters_of(networks, lane)
        assert losses[lane].item() == pytest.approx(plain_loss(parameters, *data), rel=1e-7)
        gradients = [part.grad[lane].numpy() for pair in zip(networks.weights, networks.biases) for part in pair]
        for values, gradient in zip(parameters, gradients, strict=True):
            for at in np.ndindex(values.shape):
                before, reached = values[at], []
                for step in (1e-6, -1e-6):
                    values[at] = before + step
                    reached.append(plain_loss(parameters, *data))
                values[at] = before
                assert gradient[at] == pytest.approx((reached[0] - reached[1]) / 2e-6, abs=1e-7, rel=1e-5)


def test_training_is_that_of_scikit_learn(monkeypatch):
    """Same first weights, same order of rows: same losses and weights, the last batch being a short one."""
    x, y = clusters(130, 6, 4)
    lanes = [Lane(1.0, 0), Lane(30.0, 1)]
    networks = Networks([6, 16, 8, 4], lanes, learning_rate=1e-3)
    first = [parameters_of(networks, lane) for lane in range(2)]
    monkeypatch.setattr(torch, "randperm", lambda n, generator: torch.arange(n))
    losses = np.array([networks.train_epoch(*tensors(x, y), batch_size=50) for _ in range(5)])
    for lane, start in enumerate(first):
        theirs = MLPClassifier((16, 8), alpha=lanes[lane].alpha, batch_size=50, shuffle=False, max_iter=5)
        given = iter(zip(start[::2], start[1::2]))
        monkeypatch.setattr(theirs, "_init_coef", lambda *_, given=given: [part.squeeze() for part in next(given)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it has not converged, which is not asked here
            theirs.fit(x, y)
        np.testing.assert_allclose(losses[:, lane], theirs.loss_curve_, rtol=1e-5)
        ours = parameters_of(networks, lane)
        for weight, bias, coefficients, intercepts in zip(ours[::2], ours[1::2], theirs.coefs_, theirs.intercepts_):
            np.testing.assert_allclose(weight, coefficients, atol=2e-5)
            np.testing.assert_allclose(bias[0], intercepts, atol=2e-5)


def test_the_first_weights_are_spread_as_those_of_scikit_learn():
    networks = Networks([30, 64, 32, 5], [Lane(0.0, 0)], learning_rate=1e-3)
    for weight, bias in zip(networks.weights, networks.biases):
        bound = (6 / sum(weight.shape[1:])) ** 0.5
        assert 0.9 * bound < weight.abs().max() <= bound and bias.abs().max() <= bound
        assert weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.1)


@pytest.mark.parametrize("n, n_labels, alpha", [(60, 5, 1e-4), (600, 8, 1e-3), (300, 4, 1.0)])
def test_epochs_and_accuracy_are_those_of_scikit_learn(n, n_labels, alpha):
    x, y = clusters(n + 1000, 20, n_labels, spread=0.9)
    result = probe_grid(x[:n], y[:n], x[n:], y[n:], {"sizes": [64], "alphas": [alpha], "grid_patience": 1})
    theirs = [MLPClassifier((64, 64), alpha=alpha, max_iter=1000, random_state=seed) for seed in range(3)]
    scores = [model.fit(x[:n], y[:n]).score(x[n:], y[n:]) for model in theirs]
    assert 0.4 < np.mean(scores) < 0.99
    assert result.mean == pytest.approx(np.mean(scores), abs=0.03)
    assert np.mean(result.test_epochs) == pytest.approx(np.mean([model.n_iter_ for model in theirs]), rel=0.2)


def test_patience_is_that_of_scikit_learn():
    """Stalled means less than `tolerance` better than the best, and only an uninterrupted row of stalls counts."""
    stopping = EarlyStopping(3, patience=1, tolerance=0.1)
    assert stopping.stops(np.array([0.0, 0.0, 0.0])).tolist() == [False, False, False]
    assert stopping.stops(np.array([0.05, 1.0, -1.0])).tolist() == [False, False, False]
    assert stopping.stops(np.array([0.12, 1.0, 0.2])).tolist() == [True, False, False]  # 0.05 is the best by now
    assert stopping.stops(np.array([1.0, 0.2])).tolist() == [True, False]  # of those that remain
    assert stopping.stops(np.array([0.2])).tolist() == [True]


# ---- networks side by side do not see each other


@pytest.mark.parametrize("seeds", [[0, 0, 0], [0, 1, 2]])
def test_networks_trained_together_are_those_trained_alone(seeds):
    x, y = clusters(230, 7, 4)
    lanes = [Lane(alpha, seed) for alpha, seed in zip([1e-5, 1e-2, 1.0], seeds)]
    together = train(lanes, x, y, [7, 16, 32, 4], epochs=4)
    for at, lane in enumerate(lanes):
        assert_same_lane(together, at, train([lane], x, y, [7, 16, 32, 4], epochs=4), 0)


def test_dropping_a_network_does_not_disturb_the_others():
    x, y = clusters(230, 7, 4)
    for seeds in ([0, 0], [0, 1]):
        lanes = [Lane(1e-5, seeds[0]), Lane(1.0, seeds[1])]
        networks = train(lanes, x, y, [7, 16, 32, 4], epochs=2)
        networks.keep([1])
        networks.train_epoch(*tensors(x, y), 50)
        assert_same_lane(networks, 0, train(lanes[1:], x, y, [7, 16, 32, 4], epochs=3), 0)


def test_a_larger_alpha_gives_smaller_weights():
    x, y = clusters(400, 8, 3)
    networks = train([Lane(alpha, 0) for alpha in (1e-6, 1.0, 10.0)], x, y, [8, 32, 32, 3], epochs=60)
    norms = [sum(weight[lane].square().sum().item() for weight in networks.weights) for lane in range(3)]
    assert norms[0] > 1.2 * norms[1] > 1.2 * 1.2 * norms[2]


# ---- the whole probe


def test_what_is_not_linear_is_learnt():
    x, y = exclusive_or(1500)
    result = probe_grid(x[:1000], y[:1000], x[1000:], y[1000:], SMALL)
    assert result.mean > 0.9 and len(result.test_accuracies) == 2
    assert result.best["holdout_accuracy"] > 0.9


def test_labels_without_signal_give_chance():
    x, y = clusters(1200, 6, 4)
    y = np.random.default_rng(1).permutation(y)
    result = probe_grid(x[:600], y[:600], x[600:], y[600:], {**SMALL, "max_epochs": 60})
    assert result.mean == pytest.approx(0.25, abs=0.06)


def test_rows_are_the_grid_and_the_best_is_the_first_of_the_highest():
    x, y = clusters(300, 6, 3, spread=0.3)
    result = probe_grid(x[:200], y[:200], x[200:], y[200:], SMALL)
    assert [(row["first"], row["second"], row["alpha"]) for row in result.rows] == [
        (first, second, alpha) for first in (16, 32) for second in (16, 32) for alpha in (1e-4, 1e-1)
    ]
    accuracies = [row["holdout_accuracy"] for row in result.rows]
    assert result.best is result.rows[int(np.argmax(accuracies))]
    assert all(1 <= row["epochs"] <= 150 for row in result.rows)
    assert result.mean == pytest.approx(np.mean(result.test_accuracies))


def test_each_network_of_the_grid_stops_by_itself():
    x, y = clusters(1000, 6, 4)
    data = x[:800], y[:800], x[800:], y[800:]
    settings = {**SMALL, "n_seeds": 1, "grid_patience": 3, "grid_updates": 0, "max_epochs": 60}
    rows = probe_grid(*data, settings).rows
    assert len({row["epochs"] for row in rows}) > 2
    # a configuration's row is the same in whatever company it is trained
    alone = probe_grid(*data, {**settings, "sizes": [32], "alphas": [1e-1]}).rows
    assert alone == rows[-1:]
    for longer in ({"grid_patience": 30}, {"grid_updates": 120}, {"grid_stopping": "loss"}):
        later = probe_grid(*data, {**settings, **longer}).rows
        assert np.mean([row["epochs"] for row in later]) > 1.5 * np.mean([row["epochs"] for row in rows])


def test_a_setting_that_does_not_exist_is_refused():
    x, y = clusters(60, 4, 2)
    with pytest.raises(UserError, match="grid_stoping"):
        probe_grid(x, y, x, y, {"grid_stoping": "loss"})
    with pytest.raises(UserError, match="grid_stopping"):
        probe_grid(x, y, x, y, {"grid_stopping": "epochs"})


def test_the_hold_out_never_enters_training(monkeypatch):
    """Vectors carry their row number: those trained on in the grid are exactly those not held out."""
    n = 200
    x, y = clusters(n, 4, 3)
    x[:, 0] = np.arange(n)
    seen = []
    original = Networks.train_epoch

    def spy(self, rows, labels, batch_size):
        seen.append(set(rows[:, 0].int().tolist()))
        return original(self, rows, labels, batch_size)

    monkeypatch.setattr(Networks, "train_epoch", spy)
    settings = {"sizes": [8], "alphas": [1e-3], "n_seeds": 1, "max_epochs": 1}
    probe_grid(x, y, x, y, settings, seed=5)
    held_out = set(np.flatnonzero(holdout_rows(y, 0.2, seed=5)).tolist())
    assert len(held_out) == pytest.approx(40, abs=2)
    assert seen == [set(range(n)) - held_out, set(range(n))]


def test_the_hold_out_has_its_share_of_each_label_and_never_the_last_row():
    y = np.repeat([0, 1, 2, 3, 4], [1, 2, 3, 50, 101])
    held_out = holdout_rows(y, 0.2, seed=0)
    assert np.bincount(y[held_out], minlength=5).tolist() == [0, 0, 1, 10, 20]
    assert np.bincount(y[holdout_rows(y, 0.9, seed=0)], minlength=5).tolist() == [0, 1, 2, 45, 91]
    with pytest.raises(UserError, match="no label has enough rows"):
        holdout_rows(np.arange(30), 0.2, seed=0)


def test_the_same_seed_gives_the_same_and_threads_do_not_matter():
    x, y = clusters(400, 6, 4)
    data, short = (x[:300], y[:300], x[300:], y[300:]), {**SMALL, "max_epochs": 30}
    first, second = (probe_grid(*data, short, threads=threads) for threads in (1, 2))
    assert first == second
    assert probe_grid(*data, short, seed=1) != first


def test_the_callers_threads_are_left_alone():
    before = torch.get_num_threads()
    x, y = clusters(60, 4, 2)
    probe_grid(x, y, x, y, {"sizes": [8], "alphas": [0.1], "max_epochs": 2}, threads=2)
    assert torch.get_num_threads() == before


def test_labels_unseen_in_train_count_as_wrong_and_codes_are_arbitrary():
    x, y = clusters(400, 6, 3, spread=0.3)
    codes = np.array([-7, 40, 1000])[y]
    plain = probe_grid(x[:300], codes[:300], x[300:], codes[300:], SMALL)
    assert plain.mean > 0.9
    codes[350:] = [39, 41, 5000, -8, 0] * 10
    with_unseen = probe_grid(x[:300], codes[:300], x[300:], codes[300:], SMALL)
    assert with_unseen.mean <= 0.5 and with_unseen.mean > 0.4


def test_many_labels_some_with_one_row():
    x, y = clusters(600, 20, 50, spread=0.3)
    x, y = np.vstack([x, x[:2] + 9]), np.append(y, [77, 78])
    result = probe_grid(x, y, x, y, SMALL)
    assert 0.7 < result.mean <= 1


def test_standardising_uses_the_training_rows_only():
    x, y = clusters(100, 4, 2)
    (fitted, _), (scored, _) = grid.as_tensors((x[:60], y[:60]), (x[60:], y[60:]), True, "cpu")
    np.testing.assert_allclose(fitted.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(fitted.std(0, unbiased=False), 1, atol=1e-5)
    np.testing.assert_allclose(scored, (x[60:] - x[:60].mean(0)) / x[:60].std(0), atol=1e-4)
    (fitted, _), _ = grid.as_tensors((x[:60], y[:60]), (x[60:], y[60:]), False, "cpu")
    np.testing.assert_array_equal(fitted, x[:60])


def test_activations_that_are_no_numbers_are_refused():
    x, y = clusters(60, 4, 2)
    x[3, 2] = np.nan
    with pytest.raises(UserError, match="dimension 2"):
        probe_grid(x, y, x, y, SMALL)


# ---- the script, from caches to tables


def test_the_script_says_how_its_grid_was_searched(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)  # or it would replace pytest's
    x, y = clusters(60, 4, 2)
    for split in ("train", "test"):
        rows = [{"id": f"{n}", "text": "x", "text_pair": None, "label": int(label)} for n, label in enumerate(y)]
        write_dataset(tmp_path / f"toy/{split}.parquet", rows, dataset="toy", split=split, kind="text",
                      labels=["a", "b"], source="test")  # fmt: skip
        folder = tmp_path / f"base.0/pretrained/cls/toy-{split}"
        folder.mkdir(parents=True)
        writer = LayerWriter(layer_file(folder, 2), 4, "float32", {})
        writer.write(np.arange(60), np.zeros(60), x)
        writer.close()
    settings = {
        "sizes": [8],
        "alphas": [0.1, 1.0],
        "holdout": 0.2,
        "max_epochs": 3,
        "grid_stopping": "loss",
        "n_seeds": 2,
    }
    rows = {"head": "sequence", "unit": "cls", "train": "toy-train", "test": "toy-test"}
    outputs = {name: [str(tmp_path / f"{name}.parquet")] for name in ("accuracy", "grid")}
    job = SimpleNamespace(
        input=SimpleNamespace(
            activations=[str(tmp_path / f"base.0/pretrained/cls/toy-{split}") for split in ("train", "test")],
            data=[str(tmp_path / f"toy/{split}.parquet") for split in ("train", "test")],
        ),
        output=SimpleNamespace(**outputs),
        params=SimpleNamespace(work={"base.0/pretrained/toy": rows}, settings=settings, seed=0),
        threads=1,
        log=[str(tmp_path / "log")],
    )
    run_script("scripts/mlp", job)
    accuracy = read_table(outputs["accuracy"][0])
    assert accuracy["probe_seed"].tolist() == [0, 1] and set(accuracy["grid_stopping"]) == {"loss"}
    assert set(accuracy["n_configurations"]) == {2} and set(accuracy["layer"]) == {2}
    assert read_table(outputs["grid"][0])["epochs"].tolist() == [3, 3]
