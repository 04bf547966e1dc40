"""Fine-tuning: schedules, batches, the loop and its resumption, heads, and the functions of the script."""

import itertools
import json
import logging
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.metrics import matthews_corrcoef
from transformers import BertConfig, BertModel, get_linear_schedule_with_warmup

from tests import tiny
from tests.scripts import load_script, run_script
from workflow.lib.activations.cache import layer_files, read_vectors
from workflow.lib.activations.caching import cache_dataset
from workflow.lib.base.tables import read_table
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.data.labelled_units import Units
from workflow.lib.encoders.batches import TOKENS_PER_BATCH, bucketed_batches, sorted_batches
from workflow.lib.encoders.loading import load_encoder
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.encoders.tokenization import Encoded
from workflow.lib.training import finetuning, loop
from workflow.lib.training import state as saving
from workflow.lib.training.heads.classification import SequenceHead, UnitBatch, UnitExamples
from workflow.lib.training.heads.tunable import Tunable, evaluate
from workflow.lib.training.schedules import SCHEDULES, slanted_triangle
from workflow.lib.training.state import SavedState

torch.set_num_threads(1)
N_EXAMPLES, N_LABELS, VOCAB, N_LAYERS = 44, 3, 30, 3
SETTINGS = {
    "precision": "float32", "learning_rate": 1e-2, "layer_decay": 0.9, "weight_decay": 0.01, "head_learning_rate": None,
    "embeddings_rate": "decayed", "adam_epsilon": 1e-8, "epochs": 3, "batch_size": 8, "accumulation": 1,
    "schedule": "slanted", "warmup": 0.1, "clip_norm": 1.0, "save_every": 0, "keep_best": False,
}  # fmt: skip
N_UPDATES = 6  # per epoch
LABELS = ["a", "b", "c"]


class Interruption(Exception):
    pass


@pytest.fixture(scope="module")
def finetune():
    return load_script("scripts/finetune_model")


@pytest.fixture(scope="module")
def examples():
    """The label is the first token after [CLS]."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(4, 12, size=N_EXAMPLES)
    labels = rng.integers(N_LABELS, size=N_EXAMPLES)
    ids = [[1, 5 + label, *rng.integers(10, VOCAB, size=n - 3).tolist(), 2] for n, label in zip(lengths, labels)]
    inputs = {
        "input_ids": ids,
        "token_type_ids": [[0] * n for n in lengths],
        "attention_mask": [[1] * n for n in lengths],
    }
    encoded = Encoded(inputs, lengths, 0, dict.fromkeys(inputs, 0), [], [])
    units = Units(np.arange(N_EXAMPLES), np.empty((0, N_EXAMPLES), dtype=np.int64), labels.astype(str).astype(object))
    return UnitExamples(encoded, units, LABELS, labels, np.arange(N_EXAMPLES))


def make(recipe="full", dropout=0.1, seed=0) -> Tunable:
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=VOCAB, hidden_size=16, num_hidden_layers=N_LAYERS, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=16, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
    )  # fmt: skip
    encoder = apply_recipe(BertModel(config, add_pooling_layer=False), recipe, seed)
    return Tunable(encoder, SequenceHead(16, LABELS, {"dropout": dropout}), fixed=recipe == "frozen")


def weights(model) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_same(left, right, **tolerance):
    assert left.keys() == right.keys()
    for name in left:
        torch.testing.assert_close(left[name], right[name], **(tolerance or {"rtol": 0, "atol": 0}), msg=name)


def run(path, examples, settings, *, model=None, **options):
    model = model or make()
    history = loop.train(model, examples, settings, 7, SavedState(path / "model", settings), **options)
    return history, weights(model)


# --- schedules


@pytest.mark.parametrize("n_steps", [10, 137])
@pytest.mark.parametrize("warmup", [0.1, 0.25, 0.5])
def test_slanted_triangle_is_the_linear_schedule_with_warmup(n_steps, warmup):
    n_up = round(warmup * n_steps)
    factors = [slanted_triangle(step, n_steps, warmup) for step in range(n_steps + 1)]
    assert factors[0] == 0 and factors[n_up] == 1 and factors[-1] == 0
    closed = [step / n_up if step <= n_up else (n_steps - step) / (n_steps - n_up) for step in range(n_steps + 1)]
    np.testing.assert_allclose(factors, closed, rtol=1e-12)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = get_linear_schedule_with_warmup(optimizer, n_up, n_steps).lr_lambdas[0]
    np.testing.assert_allclose(factors, [theirs(step) for step in range(n_steps + 1)], rtol=1e-12)


def test_slanted_triangle_with_a_floor_and_no_warmup():
    assert slanted_triangle(0, 10, 0.5, floor=0.2) == pytest.approx(0.2)
    assert slanted_triangle(5, 10, 0.5, floor=0.2) == 1
    assert slanted_triangle(10, 10, 0.5, floor=0.2) == pytest.approx(0.2)
    assert slanted_triangle(1, 10, 0.0) == 1
    assert slanted_triangle(11, 10, 0.5) == 0
    assert {SCHEDULES["constant"](step, 10, 0.5) for step in range(11)} == {1.0}


@pytest.mark.parametrize("schedule", ["slanted", "constant"])
def test_rates_of_a_run_follow_the_schedule(tmp_path, examples, monkeypatch, schedule):
    seen, update = [], loop._update

    def recorded(accelerator, model, optimizer, *rest):
        seen.append([group["lr"] for group in optimizer.param_groups])
        return update(accelerator, model, optimizer, *rest)

    monkeypatch.setattr(loop, "_update", recorded)
    run(tmp_path, examples, SETTINGS | {"schedule": schedule})
    n_steps = 3 * N_UPDATES
    factors = [SCHEDULES[schedule](step + 1, n_steps + 1, 0.1) for step in range(n_steps)]
    assert min(factors) > 0  # no update is wasted on a rate of 0
    peaks = np.array([group["lr"] for group in loop.make_optimizer(make(), SETTINGS).param_groups])
    assert peaks.max() == 1e-2 and peaks.min() == pytest.approx(1e-2 * 0.9**N_LAYERS)
    np.testing.assert_allclose(seen, np.outer(factors, peaks), rtol=1e-12)


# --- batches


@pytest.mark.parametrize("n_rows", [1, 8, 9, 1000])
def test_batches_cover_every_row_once(n_rows):
    lengths = np.random.default_rng(0).integers(3, 60, size=n_rows)
    shuffled, in_order = bucketed_batches(lengths, 8, np.random.default_rng(3)), sorted_batches(lengths, 8)
    for batches in (shuffled, in_order):
        assert sorted(np.concatenate(batches).tolist()) == list(range(n_rows))
        assert max(map(len, batches)) <= 8
    assert len(shuffled) == -(-n_rows // 8)
    assert np.all(np.diff(lengths[np.concatenate(in_order)]) >= 0)


def cost(lengths: np.ndarray, batches: list[np.ndarray]) -> int:
    return sum(TOKENS_PER_BATCH + len(rows) * lengths[rows].max() for rows in batches)


def cheapest(lengths: np.ndarray, batch_size: int) -> int:
    """Of all ways to cut the rows, sorted by length, into batches."""
    lengths, best = np.sort(lengths), [0]
    for end in range(1, len(lengths) + 1):
        starts = range(max(0, end - batch_size), end)
        best.append(min(best[start] + TOKENS_PER_BATCH + (end - start) * lengths[end - 1] for start in starts))
    return best[-1]


@pytest.mark.parametrize("n_rows", [20, 150, 384, 960])
@pytest.mark.parametrize("long_tail", [False, True])
def test_sorted_batches_cost_hardly_more_than_the_cheapest_ones(n_rows, long_tail):
    """A tenth at most, and that on a batch or two; full batches cost up to a half more."""
    rng = np.random.default_rng(0)
    drawn = np.minimum(rng.lognormal(3.2, 0.6, n_rows), 128) if long_tail else rng.integers(12, 40, n_rows)
    lengths = drawn.astype(int)
    full, least = np.split(np.argsort(lengths), range(64, n_rows, 64)), cheapest(lengths, 64)
    assert cost(lengths, sorted_batches(lengths, 64)) <= (1.1 if n_rows < 384 else 1.05) * least
    assert cost(lengths, sorted_batches(lengths, 64)) < cost(lengths, full)


def test_sorted_batches_end_early_where_that_saves_padding():
    lengths = np.repeat([10, 100], [6, 8])
    assert [rows.tolist() for rows in sorted_batches(lengths, 8)] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11, 12, 13]]
    nearly_equal = np.repeat([10, 11], [6, 8])  # six tokens saved; two rows more elsewhere cost as much as twelve
    assert [len(rows) for rows in sorted_batches(nearly_equal, 8)] == [8, 6]


def test_batches_depend_on_the_seed_alone():
    lengths = np.random.default_rng(0).integers(3, 60, size=500)
    one, again, other = (
        [rows.tolist() for rows in bucketed_batches(lengths, 8, np.random.default_rng(seed))] for seed in (1, 1, 2)
    )
    assert one == again != other


@pytest.mark.parametrize(
    "make", [sorted_batches, lambda lengths, size: bucketed_batches(lengths, size, np.random.default_rng(3))]
)
def test_batches_hold_little_padding(make):
    lengths = np.random.default_rng(0).integers(3, 100, size=4000)
    padded = sum(len(rows) * lengths[rows].max() for rows in make(lengths, 16))
    assert padded < 1.05 * lengths.sum()


def test_shuffled_batches_are_not_in_the_order_of_length():
    lengths = np.random.default_rng(0).integers(3, 100, size=4000)
    means = [lengths[rows].mean() for rows in bucketed_batches(lengths, 16, np.random.default_rng(1))]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3


# --- the loop


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, examples):
    return run(tmp_path_factory.mktemp("whole"), examples, SETTINGS | {"save_every": 1})


def test_history_has_a_row_per_epoch(uninterrupted):
    history, _ = uninterrupted
    assert [row["epoch"] for row in history] == [1, 2, 3]
    assert [row["step"] for row in history] == [N_UPDATES, 2 * N_UPDATES, 3 * N_UPDATES]
    assert all(np.isfinite(row["loss"]) and np.isnan(row["held_out_score"]) for row in history)


def test_training_learns(tmp_path, examples):
    model = make(dropout=0.0)
    history, _ = run(tmp_path, examples, SETTINGS | {"epochs": 10}, model=model, held_out=examples)
    assert history[-1]["loss"] < 0.5 * history[0]["loss"]
    assert history[-1]["held_out_score"] > 0.8


@pytest.mark.parametrize("stop", [2, N_UPDATES + 3, 2 * N_UPDATES + 1])
def test_interrupted_in_a_step_and_resumed_is_the_same(tmp_path, examples, uninterrupted, stop):
    def interrupt(step, model):
        if step == stop:
            raise Interruption

    settings = SETTINGS | {"save_every": 1}
    with pytest.raises(Interruption):
        run(tmp_path, examples, settings, on_step=interrupt)
    torch.rand(13)  # another process starts from another random state
    history, resumed = run(tmp_path, examples, settings)
    assert repr(history) == repr(uninterrupted[0])  # repr: NaN is not equal to itself
    assert_same(resumed, uninterrupted[1])


def test_interrupted_in_an_evaluation_and_resumed_is_the_same(tmp_path, examples, monkeypatch):
    settings = SETTINGS | {"keep_best": True}
    whole = run(tmp_path / "whole", examples, settings, held_out=examples)
    measured = []

    def interrupted(model, held_out):
        measured.append(evaluate(model, held_out))
        if len(measured) == 2:
            raise Interruption
        return measured[-1]

    monkeypatch.setattr(loop, "evaluate", interrupted)
    with pytest.raises(Interruption):
        run(tmp_path / "parts", examples, settings, held_out=examples)
    history, resumed = run(tmp_path / "parts", examples, settings, held_out=examples)
    assert history == whole[0]
    assert_same(resumed, whole[1])


def test_finished_state_is_not_trained_again(tmp_path, examples, monkeypatch):
    settings = SETTINGS | {"epochs": 1}
    first = run(tmp_path, examples, settings)
    monkeypatch.setattr(loop, "_update", None)
    again = run(tmp_path, examples, settings)
    assert repr(again[0]) == repr(first[0])
    assert_same(again[1], first[1])


def test_saving_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "SHARE", 0.02)
    now = [100.0]
    monkeypatch.setattr(saving.time, "monotonic", lambda: now[0])

    def slow_save(state, file):
        now[0] += 1

    monkeypatch.setattr(saving.torch, "save", slow_save)
    state, saved = SavedState(tmp_path / "model", {}), []
    for epoch in range(30):  # of ten seconds each: one in five may be saved
        now[0] += 10
        before = now[0]
        state.save(epoch=epoch)
        saved += [epoch] if now[0] > before else []
    assert saved == [0, 5, 10, 15, 20, 25]


def test_state_of_other_settings_is_ignored(tmp_path):
    one, same, other = (SavedState(tmp_path / "model", {"rate": rate}) for rate in (1, 1, 2))
    assert one.load() is None
    one.save(epoch=3, weight=torch.ones(2))
    random = torch.rand(4)
    before = torch.get_rng_state()
    assert other.load() is None
    assert torch.equal(torch.get_rng_state(), before)
    state = same.load()
    assert state["epoch"] == 3 and torch.equal(state["weight"], torch.ones(2))
    assert torch.equal(torch.rand(4), random)
    same.remove()
    same.remove()
    assert one.load() is None and not list(tmp_path.iterdir())


def test_training_ignores_the_state_of_other_settings(tmp_path, examples):
    settings = SETTINGS | {"epochs": 1}
    run(tmp_path, examples, settings | {"learning_rate": 1e-3})
    after = run(tmp_path, examples, settings)
    fresh = run(tmp_path / "fresh", examples, settings)
    assert repr(after[0]) == repr(fresh[0])
    assert_same(after[1], fresh[1])


def test_accumulation_changes_nothing_without_dropout(tmp_path, examples):
    # a large epsilon: near 0, Adam divides two rounding errors by each other
    settings = SETTINGS | {"adam_epsilon": 1e-3, "learning_rate": 1e-3, "epochs": 2}
    whole = run(tmp_path / "1", examples, settings, model=make(dropout=0.0))
    parts = run(tmp_path / "4", examples, settings | {"accumulation": 4}, model=make(dropout=0.0))
    np.testing.assert_allclose([row["loss"] for row in parts[0]], [row["loss"] for row in whole[0]], rtol=1e-5)
    assert_same(parts[1], whole[1], rtol=0, atol=1e-6)


def test_accumulation_in_unequal_and_too_many_parts(tmp_path, examples):
    settings = SETTINGS | {"adam_epsilon": 1e-3, "learning_rate": 1e-3, "epochs": 1}
    whole = run(tmp_path / "1", examples, settings, model=make(dropout=0.0))
    for accumulation in (3, 100):
        settings["accumulation"] = accumulation
        parts = run(tmp_path / str(accumulation), examples, settings, model=make(dropout=0.0))
        assert_same(parts[1], whole[1], rtol=0, atol=1e-6)


def moved(recipe, tmp_path, examples) -> set[str]:
    """Names of the weights that training changed."""
    model = make(recipe)
    before = weights(model)
    _, after = run(tmp_path, examples, SETTINGS | {"epochs": 1}, model=model)
    return {name for name in before if not torch.equal(before[name], after[name])}


def test_frozen_encoder_keeps_its_weights_and_the_head_learns(tmp_path, examples):
    assert moved("frozen", tmp_path, examples) == {"head.linear.weight", "head.linear.bias"}


def test_frozen_encoder_gives_fixed_features():
    model = make("frozen").train()
    assert model.head.training and not any(module.training for module in model.encoder.modules())
    batch = UnitBatch({"input_ids": torch.arange(8).reshape(2, 4), "attention_mask": torch.ones(2, 4)}, [], None)
    states = []
    model.head.register_forward_pre_hook(lambda _, inputs: states.append(inputs[0]))
    model(batch), model(batch)
    assert torch.equal(*states) and not states[0].requires_grad
    # the end of a freezing curve is no other regime than its other points
    assert all(module.training for module in make(f"freeze-{N_LAYERS}").train().modules())
    assert all(module.training for module in make("full").eval().train().modules())


@pytest.mark.parametrize("depth", [1, 2])
def test_freeze_leaves_the_lower_blocks(tmp_path, examples, depth):
    changed = moved(f"freeze-{depth}", tmp_path, examples)
    assert not [name for name in changed if ".embeddings." in name]
    layers = {int(name.split("layer.")[1].split(".")[0]) for name in changed if "layer." in name}
    assert layers == set(range(depth, N_LAYERS))
    assert "head.linear.weight" in changed


def test_full_recipe_moves_every_layer(tmp_path, examples):
    layers = {name.split("layer.")[1][0] for name in moved("full", tmp_path, examples) if "layer." in name}
    assert layers == {str(layer) for layer in range(N_LAYERS)}


@pytest.mark.parametrize("scores, best", [([0.5, 0.9, 0.7], 2), ([0.9, 0.9, 0.9], 1), ([0.1, 0.2, 0.3], 3)])
def test_keep_best_restores_the_best_epoch(tmp_path, examples, monkeypatch, scores, best):
    seen = []

    def scripted(model, held_out):
        seen.append(weights(model))
        return {"accuracy": scores[len(seen) - 1]}

    monkeypatch.setattr(loop, "evaluate", scripted)
    history, kept = run(tmp_path, examples, SETTINGS | {"keep_best": True}, held_out=examples)
    assert [row["held_out_score"] for row in history] == scores
    assert_same(kept, seen[best - 1])


def test_last_epoch_is_kept_without_keep_best(tmp_path, examples, monkeypatch):
    seen = []
    falling = lambda model, _: seen.append(weights(model)) or {"accuracy": 1 - len(seen) / 10}  # noqa: E731
    monkeypatch.setattr(loop, "evaluate", falling)
    _, kept = run(tmp_path, examples, SETTINGS, held_out=examples)
    assert_same(kept, seen[-1])


@pytest.mark.parametrize("every, expected", [(0, []), (4, [0, 4, 8, 12, 16, 18]), (6, [0, 6, 12, 18])])
def test_saved_steps(tmp_path, examples, every, expected):
    steps, start = {}, weights(make())
    run(
        tmp_path,
        examples,
        SETTINGS | {"save_every": every},
        on_step=lambda step, model: steps.setdefault(step, weights(model)),
    )
    assert list(steps) == expected
    if expected:
        assert_same(steps[0], start)


def test_scores_are_those_of_one_row_at_a_time(examples):
    model = make().eval()
    with torch.no_grad():
        alone = [model(examples.batch(np.array([row]))).argmax().item() for row in range(len(examples))]
    scores = evaluate(model, examples)
    assert list(scores) == ["accuracy", "matthews"]
    assert scores["accuracy"] == np.mean(np.array(alone) == examples.numbers)
    assert scores["matthews"] == pytest.approx(matthews_corrcoef(examples.numbers, alone))


# --- the script


@pytest.mark.parametrize("n_rows", [10, 1000])
def test_nested_rows_are_nested(n_rows):
    parts = [finetuning.nested_rows(n_rows, fraction, 5) for fraction in (0.01, 0.1, 0.5, 1.0)]
    for small, large in itertools.pairwise(parts):
        assert set(small) <= set(large)
    assert [len(part) for part in parts] == [max(1, round(f * n_rows)) for f in (0.01, 0.1, 0.5, 1.0)]
    assert set(parts[-1]) == set(range(n_rows))
    assert finetuning.nested_rows(1000, 0.5, 5).tolist() != finetuning.nested_rows(1000, 0.5, 6).tolist()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.5])
def test_hold_out_is_disjoint_from_the_training_rows(share):
    rows = finetuning.nested_rows(400, 0.5, 5)
    kept, held_out = finetuning.split_off(rows, share)
    assert not set(kept) & set(held_out)
    assert set(kept) | set(held_out) == set(rows)
    assert len(held_out) == round(share * len(rows))


def test_training_rows_are_nested_beside_a_hold_out():
    small, large = (finetuning.split_off(finetuning.nested_rows(1000, fraction, 5), 0.1)[0] for fraction in (0.1, 1.0))
    assert set(small) <= set(large)


def test_a_part_keeps_rows_and_labels_together(examples):
    rows = np.array([7, 2, 30])
    part = examples.part(rows)
    assert len(part) == 3 and part.lengths.tolist() == examples.lengths[rows].tolist()
    batch, whole = part.batch(np.array([2, 0])), examples.encoded.batch(np.array([30, 7]))
    assert batch.labels.tolist() == examples.numbers[[30, 7]].tolist()
    assert all(torch.equal(batch.inputs[name], whole[name]) for name in whole)


def test_build_is_a_function_of_the_seed_and_save_is_whole(finetune, tmp_path, examples):
    task = finetuning.Task.__new__(finetuning.Task)  # without reading any rows
    task.encoder, task.settings, task.head, task.whole = make().encoder, {"dropout": 0.1}, SequenceHead, examples
    before = weights(task.encoder)
    one, again, other = (task.build("reinit-1", seed) for seed in (1, 1, 2))
    assert_same(weights(one), weights(again))
    assert not torch.equal(one.head.linear.weight, other.head.linear.weight)
    assert_same(weights(task.encoder), before)  # the next recipe starts from it
    finetune.save_model(one, tmp_path / "saved", {"labels": LABELS})
    task.encoder = load_encoder(tmp_path / "saved")
    assert_same(weights(task.build("full", 9).encoder), weights(one.encoder))
    assert {path.name for path in (tmp_path / "saved").iterdir()} >= {"head.safetensors", "tunescope.json"}


# --- the whole script


def write_task(path: Path, dataset: str, words: list[str]) -> None:
    for split in ("train", "test"):
        texts = [f"{words[n % 2]} the cat {'sat ' * (n % 3)}" for n in range(24)]
        rows = [{"id": f"{n}", "text": text, "text_pair": None, "label": n % 2} for n, text in enumerate(texts)]
        where = {"dataset": dataset, "split": split, "kind": "text", "labels": words, "source": "test"}
        write_dataset(path / dataset / f"{split}.parquet", rows, **where)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("results")
    tiny.save(root / "encoders/base.0", tiny.encoder(), tiny.wrapped(tiny.wordpiece(), 40))
    write_task(root / "data", "pets", ["dog", "mat"])
    write_task(root / "data", "signs", ["it", "that"])
    return root


MODELS = ["base.0/pets.full.f1.s0", "base.0/signs.freeze-1.f0.5.s3"]
SCRIPTED = SETTINGS | {"head": "sequence", "train_split": "train", "evaluate": "test", "max_tokens": 40, "dropout": 0.1,
                       "holdout": 0.0, "epochs": 2}  # fmt: skip


def job(results: Path, output: Path, models=MODELS, **changes) -> SimpleNamespace:
    settings = {model: SCRIPTED | changes | {"dataset": model.split("/")[1].split(".")[0]} for model in models}
    settings[models[0]]["save_every"] = 4
    place = f"{settings[models[0]]['dataset']}/{SCRIPTED['train_split']}"
    follow = {"unit": "cls", "layers": "blocks", "max_tokens": 38, "dtype": "float32", "place": place}
    steps = dict.fromkeys(models) | {models[0]: follow}
    return SimpleNamespace(
        input=SimpleNamespace(encoders=[str(results / "encoders/base.0")],
                              data=[str(path) for path in sorted((results / "data").rglob("*.parquet"))]),
        output=SimpleNamespace(models=[str(output / model) for model in models],
                               metrics=[str(output / f"{model}.metrics.parquet") for model in models],
                               steps=[str(output / f"{models[0]}/steps")]),
        params=SimpleNamespace(settings=settings, modules="digest", steps=steps),
        log=[str(output / "log")],
        threads=1,
    )  # fmt: skip


def run_job(work: SimpleNamespace) -> list:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)  # or it would replace pytest's
        run_script("scripts/finetune_model", work)
    return [read_table(path) for path in work.output.metrics]


@pytest.fixture(scope="module")
def tuned_together(results, tmp_path_factory) -> tuple[Path, list]:
    output = tmp_path_factory.mktemp("together")
    return output, run_job(job(results, output))


def test_a_job_leaves_whole_models_with_their_scores(results, tuned_together):
    output, metrics = tuned_together
    for model, table in zip(MODELS, metrics):
        folder = output / model
        names = {path.name for path in folder.iterdir()}
        assert names >= {"config.json", "model.safetensors", "head.safetensors", "tokenizer.json", "history.parquet"}
        assert len(read_table(folder / "history.parquet")) == 2
        [row] = table.to_dict("records")
        assert f"{row['encoder']}/{row['task']}.{row['recipe']}.f{row['fraction']:g}.s{row['seed']}" == model
        about = json.loads((folder / "tunescope.json").read_text())
        assert about["test_accuracy"] == row["test_accuracy"] and about["train_accuracy"] == row["train_accuracy"]
        assert about["labels"] == (["dog", "mat"] if "pets" in model else ["it", "that"])
    assert [int(table["n_train"][0]) for table in metrics] == [24, 12]
    before, after = (load_encoder(folder) for folder in (results / "encoders/base.0", output / MODELS[1]))
    for block, (old, new) in enumerate(zip(before.encoder.layer, after.encoder.layer)):
        same = all(map(torch.equal, old.parameters(), new.parameters()))
        assert same == (block == 0)  # freeze-1
    assert not [path for path in output.rglob(".*")]


def test_answers_to_test_rows_and_scores_on_a_second_split_are_kept(results, tmp_path):
    [table] = run_job(job(results, tmp_path, MODELS[:1], also_evaluate="train"))
    row = table.iloc[0]
    assert len(row["row_truth"]) == 24 and (row["row_truth"] == np.arange(24) % 2).all()
    assert row["test_accuracy"] == np.mean(row["row_truth"] == row["row_guess"])
    assert row["also_accuracy"] == row["train_accuracy"]  # nothing is held out


def test_activations_are_cached_while_a_model_that_is_followed_is_tuned(results, tuned_together, tmp_path):
    """At the first and the last step they are what the encoder and the tuned model give."""
    output, _ = tuned_together
    assert not (output / MODELS[1] / "steps").exists()
    steps = sorted(path.name for path in (output / MODELS[0] / "steps").iterdir())
    assert steps == ["00000", "00004", "00006"]
    encoder = results / "encoders/base.0"
    work = job(results, tmp_path)
    follow = work.params.steps[MODELS[0]]
    path = next(file for file in work.input.data if file.endswith(f"/{follow['place']}.parquet"))
    for step, weights in ((steps[0], encoder), (steps[-1], output / MODELS[0])):
        cache_dataset(load_encoder(weights), "x", encoder, (path,), tmp_path / step, follow | {"batch_size": 64})
        files = layer_files(output / MODELS[0] / "steps" / step)
        assert list(files) == [1, 2]
        for layer, file in files.items():
            np.testing.assert_array_equal(read_vectors(file), read_vectors(layer_files(tmp_path / step)[layer]))


def test_models_that_share_a_process_are_those_of_separate_ones(results, tuned_together, tmp_path):
    output, together = tuned_together
    [alone] = run_job(job(results, tmp_path, MODELS[1:]))
    assert alone.equals(together[1])
    assert_same(*(weights(load_encoder(root / MODELS[1])) for root in (tmp_path, output)))


def test_a_model_killed_on_its_way_is_absent_and_then_the_same(results, tuned_together, tmp_path, monkeypatch):
    update, done = loop._update, []

    def killed(*args):
        done.append(1)
        if len(done) == 5:  # in the second epoch
            raise KeyboardInterrupt
        return update(*args)

    monkeypatch.setattr(loop, "_update", killed)
    work = job(results, tmp_path, MODELS[:1])
    with pytest.raises(KeyboardInterrupt):
        run_job(work)
    assert not (tmp_path / MODELS[0]).exists()
    [table] = run_job(work)
    assert len(done) == 5 + 3  # the first epoch was not lost
    output, together = tuned_together
    assert table.equals(together[0])
    assert_same(*(weights(load_encoder(root / MODELS[0])) for root in (tmp_path, output)))
    for step in ("00000", "00004", "00006"):
        files = (layer_files(root / MODELS[0] / "steps" / step)[2] for root in (tmp_path, output))
        np.testing.assert_array_equal(*map(read_vectors, files))
    assert not [path for path in tmp_path.rglob(".*")]


def test_encoders_have_random_draws_of_their_own():
    seeds = [
        finetuning.seed_of_run(f"results/x/encoders/{name}", seed) for name in ("base.0", "base.1") for seed in (0, 1)
    ]
    assert len(set(seeds)) == 4 and seeds[0] == finetuning.seed_of_run("elsewhere/base.0", 0)
    rows = [set(finetuning.nested_rows(200, 0.2, seed)) for seed in seeds]
    assert all(one != other for one in rows for other in rows if one is not other)
    assert rows[0] < set(finetuning.nested_rows(200, 0.5, seeds[0]))
