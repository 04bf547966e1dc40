"""Online coding against closed forms, and on labels that are random or plain."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from tests.methods.test_edges import read_all, target, write_split
from tests.scripts import run_script
from workflow.lib.base.errors import UserError
from workflow.lib.methods.description_length import online_code as mdl
from workflow.lib.methods.description_length.finished import FinishedPortions
from workflow.lib.methods.description_length.online_code import bits_of, has_single_labels, online_code, portions_of
from workflow.lib.methods.description_length.plan import reads
from workflow.lib.methods.edges.networks import EdgeProbe
from workflow.lib.methods.edges.settings import EdgeSettings

torch.set_num_threads(1)
SMALL = EdgeSettings(
    projection=16, hidden=16, learning_rate=1e-2, validate_every=10, max_validations=12, patience=3, batch_size=32
)
FEW = (5, 10, 25, 50, 100)
K, WIDTH = 4, 8

PERCENTS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)  # the published portions


def write_task(tmp_path, task: str, random_labels: bool, n_train=300, several=False, unseen_in_dev=False):
    """Two targets of one word a sentence; a word's vector says its label, or nothing."""
    rng, centres = np.random.default_rng(0), 1.5 * np.random.default_rng(9).normal(size=(K, WIDTH))
    for split, n in (("train", n_train), ("dev", 60)):
        truth, rows = rng.integers(0, K, (n, 2)), []
        labels = rng.integers(0, K, (n, 2)) if random_labels else truth
        for first, second in labels:
            names = [[f"c{first}"], [f"c{second}"]]
            if several and split == "train":
                names[0] = ["c0", "c1"]
            rows.append((["a", "b"], [target((0, 1), names[0]), target((1, 2), names[1])]))
        if unseen_in_dev and split == "dev":
            for _, targets in rows[:20]:
                targets[0]["labels"] = ["never seen"]
        vectors = centres[truth.ravel()] + rng.normal(size=(2 * n, WIDTH))
        layers = np.stack([vectors, rng.normal(size=vectors.shape)]).astype(np.float32)
        write_split(tmp_path, task, split, rows, [[1, 1]] * n, layers)


def code_of(*args, **options) -> list[dict]:
    """Of the only model."""
    return online_code(*args, **options)[0]


def splits_of(tmp_path, task="t", **options):
    write_task(tmp_path, task, **options)
    return read_all(tmp_path, task, ("train", "dev"))


# ---- splits


def test_the_coded_split_and_dev_are_read():
    config = {"description_length": {"coded": "test"}, "datasets": {"ep_pos": {"source": "embedded"}}}
    caches = reads(config, "base.0/pretrained", "ep_pos")
    assert [cache.place for cache in caches] == ["ep_pos/test", "ep_pos/dev"]


# ---- portions


def test_portions_of_a_large_dataset_are_all_of_them():
    found = portions_of(100_000, PERCENTS)
    assert [portion.end for portion in found] == [100, 200, 400, 800, 1600, 3200, 6250, 12500, 25000, 50000, 100_000]
    assert [portion.start for portion in found] == [0] + [portion.end for portion in found[:-1]]
    assert {portion.n_merged for portion in found} == {1}


def test_portions_that_are_empty_or_equal_are_merged_and_counted():
    found = portions_of(300, PERCENTS)  # 0.3, 0.6, 1.2, 2.4, 4.8 ... sentences
    assert [portion.end for portion in found] == [1, 2, 4, 9, 18, 37, 75, 150, 300]
    assert [portion.n_merged for portion in found] == [3, 1, 1, 1, 1, 1, 1, 1, 1]
    assert [(p.start, p.end, p.n_merged) for p in portions_of(3, (10, 40, 60, 90, 100))] == [
        (0, 1, 3), (1, 2, 1), (2, 3, 1)
    ]  # fmt: skip
    for n in (1, 2, 5, 17, 999):
        found = portions_of(n, PERCENTS)
        assert sum(portion.n_merged for portion in found) == len(PERCENTS)
        assert found[0].start == 0 and found[-1].end == n and all(portion.start < portion.end for portion in found)


@pytest.mark.parametrize("percents", [(), (50,), (0, 100), (50, 25, 100), (50, 50, 100), (50, 120)])
def test_portions_that_make_no_sense_are_refused(percents):
    with pytest.raises(UserError, match="portions must rise"):
        portions_of(100, percents)


# ---- bits


def test_bits_of_known_probabilities():
    probabilities = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])
    bits = bits_of(np.log(probabilities).astype(np.float32) + 100, np.array([1, 0]))
    np.testing.assert_allclose(bits, [2, 3], atol=1e-4)
    assert np.isfinite(bits_of(np.array([[1e4, -1e4]]), np.array([1]))).all()


def constant_probe(monkeypatch, probabilities):
    """Probes begin, and without any update end, with these probabilities whatever they read."""

    class Constant(EdgeProbe):
        def __init__(self, *args):
            super().__init__(*args)
            self.output.data.zero_()
            self.output_bias.data.copy_(torch.log(torch.tensor(probabilities)))

    monkeypatch.setattr(mdl, "EdgeProbe", Constant)
    return EdgeSettings(**vars(SMALL) | {"max_validations": 0})


def test_a_constant_predictor_costs_its_closed_form_in_bits(tmp_path, monkeypatch):
    train, dev = splits_of(tmp_path, random_labels=True)
    probabilities = np.array([0.5, 0.25, 0.125, 0.125])  # bits 1, 2, 3, 3
    rows = code_of(train, dev, constant_probe(monkeypatch, probabilities), FEW, 1234, seed=0)
    order = np.random.default_rng(1234).permutation(300)
    bits = np.array([1, 2, 3, 3])[[int(name[1]) for name in train.targets.label]].reshape(300, 2).sum(axis=1)
    first = 15  # 5 % of the sentences, two targets each, two bits each
    expected = first * 2 * 2 + bits[order[first:]].sum()
    assert rows[-1]["bits"] == pytest.approx(expected, rel=1e-5)
    assert rows[-1]["uniform_bits"] == 600 * 2 and rows[-1]["compression"] == pytest.approx(1200 / expected)
    for row in rows[1:-1]:
        assert row["bits"] == pytest.approx(bits[order[row["start"] : row["end"]]].sum(), rel=1e-5)
    assert {row["epochs"] for row in rows} == {0}


# ---- whole codes


def test_random_labels_cost_what_a_uniform_code_does(tmp_path):
    total = code_of(*splits_of(tmp_path, random_labels=True), SMALL, FEW, 1234, seed=0)[-1]
    assert 0.95 < total["bits"] / total["uniform_bits"] < 1.25


def test_a_probe_that_only_learnt_by_heart_is_not_used(tmp_path):
    """Validated late, probes of random labels are sure and wrong: then the one that has learnt nothing codes."""
    late = EdgeSettings(**vars(SMALL) | {"validate_every": 150, "max_validations": 1, "dropout": 0, "input_dropout": 0})
    rows = code_of(*splits_of(tmp_path, random_labels=True, n_train=60), late, (25, 50, 100), 1234, seed=0)
    assert rows[-1]["epochs"] == 0 and rows[-1]["bits"] < 1.25 * rows[-1]["uniform_bits"]


def test_a_plain_task_compresses_strongly_and_ever_better(tmp_path):
    rows = code_of(*splits_of(tmp_path, random_labels=False), SMALL, FEW, 1234, seed=0)
    total = rows.pop()
    assert total["compression"] > 5
    assert [row["part"] for row in rows] == ["portion"] * 5 and total["part"] == "total"
    assert [(row["start"], row["end"]) for row in rows] == [(0, 15), (15, 30), (30, 75), (75, 150), (150, 300)]
    assert rows[0]["bits"] == rows[0]["uniform_bits"] == 30 * math.log2(K) and rows[0]["compression"] == 1
    assert rows[-1]["compression"] > 1.5 * rows[1]["compression"] > 1.5
    for name in ("n_targets", "bits", "uniform_bits", "n_merged", "epochs"):
        assert total[name] == pytest.approx(sum(row[name] for row in rows))
    assert (total["start"], total["end"], total["n_targets"], total["n_labels"]) == (0, 300, 600, K)


def test_a_probe_is_trained_on_what_was_sent_and_on_nothing_else(tmp_path, monkeypatch):
    seen, original = [], mdl.train

    def spy(probes, task, *args, **options):
        seen.append((task.sentences.tolist(), probes[0].project.tolist()))
        return original(probes, task, *args, **options)

    monkeypatch.setattr(mdl, "train", spy)
    train, dev = splits_of(tmp_path, random_labels=False, n_train=40)
    code_of(train, dev, EdgeSettings(**vars(SMALL) | {"max_validations": 1}), (25, 50, 100), 7, seed=0)
    order = np.random.default_rng(7).permutation(40).tolist()
    assert [sentences for sentences, _ in seen] == [order[:10], order[:20]]
    assert seen[0][1] == seen[1][1]  # from scratch


def test_the_same_seeds_give_the_same_bits(tmp_path):
    splits = splits_of(tmp_path, random_labels=False, n_train=100)
    codes = [code_of(*splits, SMALL, (10, 50, 100), order, seed) for order, seed in ((1, 0), (1, 0), (2, 0), (1, 1))]
    assert codes[0] == codes[1]
    assert len({code[-1]["bits"] for code in codes}) == 3


def test_labels_that_only_dev_has_do_not_matter(tmp_path):
    total = code_of(*splits_of(tmp_path, random_labels=False, unseen_in_dev=True), SMALL, FEW, 1234, seed=0)[-1]
    assert total["n_labels"] == K and total["compression"] > 5


def test_models_side_by_side_are_coded_as_each_alone(tmp_path):
    """One knows the labels, the other is noise."""
    train, dev = splits_of(tmp_path, random_labels=False, n_train=80)
    noise = torch.Generator().manual_seed(0)

    def with_noise(split):
        return replace(split, vectors=torch.randn(split.vectors.shape, generator=noise))

    def both(one, other):
        return replace(one, vectors=torch.cat([one.vectors, other.vectors]))

    noisy = with_noise(train), with_noise(dev)
    args = (SMALL, (25, 50, 100), 1234, 0)
    together = online_code(both(train, noisy[0]), both(dev, noisy[1]), *args)
    for of_model, alone in zip(together, (code_of(train, dev, *args), code_of(*noisy, *args)), strict=True):
        pd.testing.assert_frame_equal(pd.DataFrame(of_model), pd.DataFrame(alone), rtol=1e-5)
    assert together[0][-1]["bits"] < 0.8 * together[1][-1]["bits"]


def test_several_labels_of_a_target_cannot_be_coded(tmp_path):
    train, dev = splits_of(tmp_path, random_labels=False, several=True)
    assert not has_single_labels(train.targets) and has_single_labels(dev.targets)
    with pytest.raises(UserError, match="several labels or none"):
        code_of(train, dev, SMALL, FEW, 1234, seed=0)


def test_a_single_label_cannot_be_coded(tmp_path):
    train, dev = splits_of(tmp_path, random_labels=False)
    train.targets.label[:] = "c0"
    with pytest.raises(UserError, match="the only label is 'c0'"):
        code_of(train, dev, SMALL, FEW, 1234, seed=0)


def test_a_code_that_was_stopped_goes_on_after_its_last_portion(tmp_path, monkeypatch):
    fitted, dev = splits_of(tmp_path, random_labels=False)
    whole = online_code(fitted, dev, SMALL, FEW, 1234, seed=0)
    trained, train_probes = [], mdl.train

    def stopped(probes, task, *args, **kwargs):
        trained.append(len(task.sentences))
        if len(trained) == 2:
            raise KeyboardInterrupt
        return train_probes(probes, task, *args, **kwargs)

    monkeypatch.setattr(mdl, "train", stopped)
    with pytest.raises(KeyboardInterrupt):
        online_code(fitted, dev, SMALL, FEW, 1234, seed=0, finished=FinishedPortions(tmp_path / "code", "same"))
    again = FinishedPortions(tmp_path / "code", "same")
    assert online_code(fitted, dev, SMALL, FEW, 1234, seed=0, finished=again) == whole
    assert len(set(trained)) == len(trained) - 1  # only the portion that was interrupted was trained for twice
    assert FinishedPortions(tmp_path / "code", "other settings").rows == {}
    again.remove()
    assert not list(tmp_path.glob(".code*"))


def test_the_script_leaves_out_tasks_of_several_labels(tmp_path):
    write_task(tmp_path, "single", random_labels=False, n_train=40)
    write_task(tmp_path, "several", random_labels=False, n_train=40, several=True)
    items = {f"e.0/pretrained/{name}": [f"e.0/pretrained/span/{name}-{split}" for split in ("train", "dev")]
             for name in ("several", "single")}  # fmt: skip
    job = SimpleNamespace(
        input=SimpleNamespace(
            activations=[str(path) for path in (tmp_path / "activations").glob("*/*/span/*")],
            data=[str(path) for path in tmp_path.glob("data/*/*.parquet")],
        ),
        output=[str(tmp_path / name) for name in ("several.parquet", "single.parquet")],
        params=SimpleNamespace(
            work=items, seed=0, modules="digest",
            settings={"validate_every": 5, "max_validations": 2, "hidden": 8, "coded": "train",
                      "portions": [10, 100], "shuffle_seed": 1234},
        ),
        log=[str(tmp_path / "log")],
        threads=1,
    )  # fmt: skip
    run_script("scripts/description_length", job)
    left_out, table = (pd.read_parquet(path) for path in job.output)
    assert left_out.empty
    assert table.columns.tolist() == [
        "model", "task", "part", "start", "end", "n_merged", "n_targets", "bits", "epochs", "uniform_bits",
        "compression", "n_labels", "seed",
    ]  # fmt: skip
    assert set(table["task"]) == {"single"} and table["part"].tolist() == ["portion", "portion", "total"]
    assert "several is left out" in (tmp_path / "log").read_text()
