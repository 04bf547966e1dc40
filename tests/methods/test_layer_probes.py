"""Layer probes against a plain loop over one layer, scikit-learn, and layers whose content is planted."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import matthews_corrcoef
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from torch import nn

from tests.scripts import load_script, run_script
from workflow.lib.activations.cache import LayerWriter, layer_file
from workflow.lib.activations.labelled_vectors import labelled_vectors
from workflow.lib.base.errors import UserError
from workflow.lib.base.tables import read_table
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.methods.layer_probes.short_training import first_head, shuffled_batches, train_short

torch.set_num_threads(1)
LABELS = ["no", "yes", "maybe"]
PAPER = {"learning_rate": 2e-5, "epochs": 3, "batch_size": 32}
FAST = {"learning_rate": 2e-2, "epochs": 4, "batch_size": 16}
MODEL = "base.0/mnli.full.f1.s0"
ROWS = {"unit": "cls", "head": "sequence", "train": "toy-train", "test": "toy-test"}
N_TRAIN, N_TEST, WIDTH, PLANTED = 200, 90, 12, 2


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def script():
    return load_script("scripts/layer_probes")


def layers_of(y, seed, n_layers=4, width=WIDTH):
    """All layers say a little about the labels, the planted one much."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(n_layers, 8, width))
    strength = np.where(np.arange(n_layers) == PLANTED, 1.2, 0.15)
    return [
        (rng.normal(size=(len(y), width)) + strength[at] * centres[at][y]).astype(np.float32) for at in range(n_layers)
    ]


def toy(n=90, n_classes=3, seed=0):
    y = np.random.default_rng(seed).integers(0, n_classes, n)
    return layers_of(y, seed + 1), y


def write_split(folder, split, y, layers, labels=LABELS):
    texts = [{"id": str(i), "text": "x", "text_pair": None, "label": int(label)} for i, label in enumerate(y)]
    path = folder / "data" / "toy" / f"{split}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_dataset(path, texts, dataset="toy", split=split, kind="text", labels=labels, source="test")
    cache = folder / "activations" / MODEL / "cls" / f"toy-{split}"
    cache.mkdir(parents=True)
    for layer, vectors in enumerate(layers):
        writer = LayerWriter(layer_file(cache, layer), vectors.shape[1], "float32", {})
        writer.write(np.arange(len(y)), np.zeros(len(y), dtype=int), vectors)
        writer.close()


def inputs_of(folder):
    """As the rule has them, among those of another model."""
    places = [folder / "activations" / MODEL / "cls" / f"toy-{split}" for split in ("train", "test")]
    others = [str(path).replace(MODEL, "base.0/pretrained") for path in places]
    data = [str(folder / f"data/toy/{split}.parquet") for split in ("test", "train")]
    return SimpleNamespace(activations=[*others, *map(str, places)], data=data)


def points(folder):
    inputs = inputs_of(folder)
    return [labelled_vectors(inputs.activations, inputs.data, MODEL, ROWS, split) for split in ("train", "test")]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A task whose training and test rows are in an activation cache, and its arrays."""
    folder = tmp_path_factory.mktemp("world")
    y_train, y_test = np.random.default_rng(5).integers(0, 3, N_TRAIN), np.random.default_rng(6).integers(0, 3, N_TEST)
    train, test = layers_of(y_train, 7), layers_of(y_test, 8)
    write_split(folder, "train", y_train, train)
    write_split(folder, "test", y_test, test)
    return folder, (train, y_train, test, y_test)


# ---- the short training


def one_layer(x, y, n_classes, learning_rate, epochs, batch_size, seed):
    """The papers' loop, written plainly: AdamW, a rate that falls to zero after the last step."""
    rng = np.random.default_rng(seed)
    drawn = torch.from_numpy(first_head(x.shape[1], n_classes, rng))
    head = nn.Linear(x.shape[1], n_classes)
    with torch.no_grad():
        head.weight.copy_(drawn.T)
        head.bias.zero_()
    optimizer = torch.optim.AdamW(head.parameters(), lr=learning_rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)
    n_steps = epochs * len(range(0, len(x), batch_size))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (n_steps - step) / n_steps)
    for rows in shuffled_batches(len(x), batch_size, epochs, rng):
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(torch.from_numpy(x[rows])), torch.from_numpy(y[rows])).backward()
        optimizer.step()
        schedule.step()
    return head.weight.detach().numpy().T, head.bias.detach().numpy()


@pytest.mark.parametrize("how", [PAPER, FAST], ids=["paper", "fast"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stacked_layers_are_those_of_a_plain_loop_on_the_same_batches(how, n_classes):
    layers, y = toy(n_classes=n_classes)  # 90 rows: the last batch of an epoch is smaller
    heads = train_short(layers, y, n_classes, **how, seed=[3, 1])
    for layer, head in zip(layers, heads, strict=True):
        weights, bias = one_layer(layer, y, n_classes, **how, seed=[3, 1])
        np.testing.assert_allclose(head.weights, weights, rtol=0, atol=1e-5)
        np.testing.assert_allclose(head.intercept, bias, rtol=0, atol=1e-5)
    drawn = first_head(WIDTH, n_classes, np.random.default_rng([3, 1]))
    moved = np.abs(heads[0].weights - drawn).max()
    assert 0.2 < moved / (how["learning_rate"] * how["epochs"] * -(-90 // how["batch_size"]) / 2) < 1.5


def test_one_step_moves_every_weight_by_the_rate():
    """Adam's first step is the rate times the gradient's sign, and softmax regression's gradient has a closed form."""
    layers, y = toy(n=50)
    head = train_short(layers[:1], y, 3, learning_rate=1e-3, epochs=1, batch_size=50, seed=[0, 0])[0]
    drawn = first_head(WIDTH, 3, np.random.default_rng([0, 0])).astype(np.float64)
    share = np.exp(layers[0] @ drawn)
    residual = share / share.sum(1, keepdims=True) - np.eye(3)[y]
    np.testing.assert_allclose(head.weights - drawn, -1e-3 * np.sign(layers[0].T @ residual), atol=1e-6)
    np.testing.assert_allclose(head.intercept, -1e-3 * np.sign(residual.sum(0)), atol=1e-6)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    layers, y = toy()
    first, again, other = (train_short(layers, y, 3, **FAST, seed=[0, seed]) for seed in (0, 0, 1))
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(first, again))
    assert not any(np.array_equal(a.weights, b.weights) for a, b in zip(first, other))


def test_every_row_is_seen_once_an_epoch_in_a_new_order():
    seen = list(shuffled_batches(10, 4, 3, np.random.default_rng(0)))
    assert [len(rows) for rows in seen] == [4, 4, 2] * 3
    epochs = [np.concatenate(seen[at : at + 3]) for at in (0, 3, 6)]
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3


def test_the_first_head_is_drawn_as_berts():
    head = first_head(4000, 2, np.random.default_rng(0))
    assert head.dtype == np.float32 and head.shape == (4000, 2)
    assert head.std() == pytest.approx(0.02, rel=0.03)


def test_large_vectors_do_not_overflow():
    layers, y = toy()
    heads = train_short([1e4 * layer for layer in layers], y, 3, **FAST, seed=[0, 0])
    assert all(np.isfinite(head.weights).all() for head in heads)


# ---- all layers of a task


def test_the_table_has_a_row_per_layer_and_training(script, world):
    rows = script.probe_layers(*points(world[0]), {**FAST, "seeds": [4, 2]}, seed=0)
    assert list(rows[0]) == ["layer", "training", "probe_seed", "accuracy", "matthews", "n_train", "pooled"]
    assert [(row["training"], row["probe_seed"], row["layer"]) for row in rows] == [
        (training, seed, layer)
        for training, seed in (("short", 4), ("short", 2), ("converged", -1))
        for layer in range(4)
    ]
    assert {row["n_train"] for row in rows} == {N_TRAIN}


def test_scores_are_those_of_independent_classifiers(script, world):
    folder, (train, y_train, test, y_test) = world
    # names in alphabetical order number the labels: maybe, no, yes
    renumbered = np.array([1, 2, 0])[y_train]
    for row in script.probe_layers(*points(folder), {**FAST, "seeds": [1]}, seed=9):
        x, unseen = train[row["layer"]], test[row["layer"]]
        if row["training"] == "converged":
            scaler = StandardScaler().fit(x)
            peer = LogisticRegression(tol=1e-8, max_iter=5000).fit(scaler.transform(x), y_train)
            guess = peer.predict(scaler.transform(unseen))
        else:
            weights, bias = one_layer(x, renumbered, 3, **FAST, seed=[9, 1])
            guess = np.array([2, 0, 1])[(unseen @ weights + bias).argmax(1)]
        # one text of difference at most: a score beside a boundary
        assert row["accuracy"] == pytest.approx(np.mean(guess == y_test), abs=1.01 / N_TEST)
        assert row["matthews"] == pytest.approx(matthews_corrcoef(y_test, guess), abs=0.03)


def test_the_planted_layer_is_found(script, world):
    rows = script.probe_layers(*points(world[0]), {**FAST, "seeds": [0, 1]}, seed=0)
    for training, seed in (("short", 0), ("short", 1), ("converged", -1)):
        accuracy = {r["layer"]: r["accuracy"] for r in rows if (r["training"], r["probe_seed"]) == (training, seed)}
        others = [value for layer, value in accuracy.items() if layer != PLANTED]
        assert accuracy[PLANTED] > 0.85 > max(others) + 0.1


def test_the_papers_few_steps_leave_a_small_task_at_chance_where_convergence_solves_it(script, world):
    rows = script.probe_layers(*points(world[0]), {**PAPER, "seeds": [0, 1, 2, 3, 4]}, seed=0)
    of_layer = [row for row in rows if row["layer"] == PLANTED]
    short = np.mean([abs(row["matthews"]) for row in of_layer if row["training"] == "short"])
    assert short < 0.5 < 0.8 < next(row["matthews"] for row in of_layer if row["training"] == "converged")


def test_a_constant_layer_gives_one_answer(script, world, tmp_path):
    """[CLS] below the first block is the same vector in every text."""
    _, (train, _, test, _) = world
    y_train, y_test = np.arange(N_TRAIN) % 5 // 2, np.arange(N_TEST) % 5 // 2  # two fifths, two fifths, one fifth
    y_train[y_train == 1], y_test[y_test == 1] = 0, 0  # so that one label is by far the most frequent
    for split, y, layers in (("train", y_train, train), ("test", y_test, test)):
        write_split(tmp_path, split, y, [np.full_like(layers[0], 0.7), *layers[1:]])
    rows = [row for row in script.probe_layers(*points(tmp_path), {**FAST, "seeds": [0]}, 0) if row["layer"] == 0]
    assert [(row["accuracy"], row["matthews"]) for row in rows] == [(pytest.approx(0.8), 0), (pytest.approx(0.8), 0)]


def test_few_layers_at_a_time_give_the_same_table(script, world, monkeypatch):
    settings = {**FAST, "seeds": [0]}
    at_once = script.probe_layers(*points(world[0]), settings, seed=0)
    monkeypatch.setattr(script, "BYTES_HELD", 3 * 4 * N_TRAIN * WIDTH)
    assert script.passes(4, 4 * N_TRAIN * WIDTH) == [range(0, 3), range(3, 4)]
    in_parts = script.probe_layers(*points(world[0]), settings, seed=0)
    key = lambda row: (row["training"], row["layer"])  # noqa: E731
    assert sorted(in_parts, key=key) == sorted(at_once, key=key)
    monkeypatch.setattr(script, "BYTES_HELD", 1)
    assert [len(group) for group in script.passes(4, 4 * N_TRAIN * WIDTH)] == [1] * 4


def test_the_script_writes_a_table_for_each_item(script, world, tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)  # or it would replace pytest's
    settings, item = {**FAST, "seeds": [4], "pooler": True}, f"{MODEL}/toy"
    inputs, rng = inputs_of(world[0]), np.random.default_rng(0)
    folder = tmp_path / "models" / MODEL
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "bert"}')
    weight, bias = rng.normal(size=(WIDTH, WIDTH)).astype(np.float32), rng.normal(size=WIDTH).astype(np.float32)
    save_file({"pooler.dense.weight": weight, "pooler.dense.bias": bias}, folder / "model.safetensors")
    inputs.models = [str(folder)]
    job = SimpleNamespace(
        input=inputs,
        output=[str(tmp_path / "accuracy.parquet")],
        params=SimpleNamespace(work={item: ROWS}, settings=settings, seed=3),
        log=[str(tmp_path / "log")],
    )
    run_script("scripts/layer_probes", job)
    table = read_table(job.output[0])
    plain, pooled = (
        script.probe_layers(*points(world[0]), settings, 3, pooler)
        for pooler in (None, lambda x: np.tanh(x @ weight.T + bias))
    )
    assert set(table["model"]) == {MODEL} and set(table["task"]) == {"toy"}
    assert table[list(pooled[0])].to_dict("records") == pooled and all(table["pooled"])
    job.params.settings = settings | {"pooler": False}
    run_script("scripts/layer_probes", job)
    assert read_table(job.output[0])[list(plain[0])].to_dict("records") == plain and plain != pooled


# ---- labels


def test_a_label_that_one_split_lacks_is_no_obstacle(script, tmp_path):
    y = np.random.default_rng(0).integers(0, 3, N_TRAIN)
    for lacking in ("test", "train"):
        y_train, y_test = (y % 2 if lacking == "train" else y), (y % 2 if lacking == "test" else y)
        write_split(tmp_path / lacking, "train", y_train, layers_of(y_train, 1))
        write_split(tmp_path / lacking, "test", y_test, layers_of(y_test, 2))
        rows = script.probe_layers(*points(tmp_path / lacking), {**FAST, "seeds": [0]}, seed=0)
        best = next(row for row in rows if row["layer"] == PLANTED and row["training"] == "converged")
        # what train never saw cannot be right
        assert best["accuracy"] > 0.8 if lacking == "test" else best["accuracy"] <= np.mean(y != 2)
        assert best["matthews"] > 0.4
        assert all(np.isfinite([row["accuracy"], row["matthews"]]).all() for row in rows)


def test_labels_are_matched_by_name(script, world, tmp_path):
    """The same test rows, numbered in another order: the scores must not change."""
    _, (train, y_train, test, y_test) = world
    write_split(tmp_path, "train", y_train, train)
    write_split(tmp_path, "test", 2 - y_test, test, labels=LABELS[::-1])
    settings = {**FAST, "seeds": [0]}
    assert script.probe_layers(*points(tmp_path), settings, 0) == script.probe_layers(*points(world[0]), settings, 0)


def test_texts_without_labels_are_refused(world, tmp_path):
    """GLUE's own test sets hide theirs."""
    _, (train, y_train, test, y_test) = world
    write_split(tmp_path, "train", y_train, train)
    write_split(tmp_path, "test", 0 * y_test, test, labels=[])
    with pytest.raises(UserError, match="unlabelled text"):
        points(tmp_path)


def test_an_activation_that_is_no_number_is_named(script, world, tmp_path):
    _, (train, y_train, test, y_test) = world
    broken = [layer.copy() for layer in train]
    broken[1][3, 5] = np.nan
    write_split(tmp_path, "train", y_train, broken)
    write_split(tmp_path, "test", y_test, test)
    with pytest.raises(UserError, match="dimension 5"):
        script.probe_layers(*points(tmp_path), {**FAST, "seeds": []}, seed=0)
