"""The edge probe against a slow one written as the paper describes it, and on tasks whose truth is planted."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import f1_score, precision_score, recall_score
from torch.nn.functional import binary_cross_entropy_with_logits, layer_norm

from tests.scripts import run_script
from workflow.lib.activations.cache import LayerWriter, layer_file, write_words
from workflow.lib.activations.shared_sentences import read_rows, write_rows
from workflow.lib.base.digests import ROOT, modules_behind
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.methods.edges import reading
from workflow.lib.methods.edges.networks import EdgeProbe, Lane, Sizes, draw_masks, logits_of, sizes_of
from workflow.lib.methods.edges.pooling import softmax_in_spans
from workflow.lib.methods.edges.reading import read_split, read_splits
from workflow.lib.methods.edges.scored_task import predicted_labels, probe_task
from workflow.lib.methods.edges.scores import all_scores, micro_f1
from workflow.lib.methods.edges.settings import EdgeSettings, settings_from
from workflow.lib.methods.edges.targets import label_matrix, label_names
from workflow.lib.methods.edges.training import Task, Training, fetched, predict, train

torch.set_num_threads(1)
SMALL = EdgeSettings(
    projection=16, hidden=32, learning_rate=1e-2, batch_size=32, validate_every=20, max_validations=12, patience=6
)
N_LAYERS, WIDTH = 4, 12


def lanes(*inputs: str, model: int = 0) -> list[Lane]:
    return [Lane(name, model) for name in inputs]


def target(first, labels, second=None):
    start2, end2 = second or (None, None)
    return {"start1": first[0], "end1": first[1], "start2": start2, "end2": end2, "labels": labels}


MODEL = "e.0/pretrained"


def write_split(
    root: Path, task: str, split: str, rows: list, pieces: list, layers: np.ndarray, dtype="float32", model=MODEL
):
    """A dataset's file and its activations. `rows`: (words, targets); `pieces`: tokens of each word (0: of no word)."""
    about = {"dataset": task, "split": split, "kind": "spans", "labels": [], "source": "test"}
    rows = [{"id": f"r{at}", "words": words, "targets": targets} for at, (words, targets) in enumerate(rows)]
    write_dataset(root / "data" / task / f"{split}.parquet", rows, **about)
    example = np.concatenate([np.full(sum(sizes), at) for at, sizes in enumerate(pieces)])
    word = np.concatenate([np.repeat(np.arange(len(sizes)), sizes) for sizes in pieces])
    unit = np.concatenate([np.arange(sum(sizes)) for sizes in pieces])
    folder = root / "activations" / model / "span" / f"{task}-{split}"
    folder.mkdir(parents=True)
    for layer, vectors in enumerate(layers):
        writer = LayerWriter(layer_file(folder, layer), vectors.shape[1], dtype, {})
        writer.write(example, unit, vectors)
        writer.close()
    write_words(folder, example, unit, word)
    write_rows(folder, {task: np.arange(len(rows))})
    return [folder], root / "data" / task / f"{split}.parquet"


def read_all(root: Path, task: str, splits: tuple[str, ...], model=MODEL):
    """The splits of a task that `write_split` wrote."""
    folders = [root / "activations" / model / "span" / f"{task}-{split}" for split in splits]
    return read_splits([folders], [str(path) for path in root.glob(f"data/{task}/*.parquet")], task, splits)


def random_rows(rng, n_rows: int, n_spans: int, labels=("a", "b", "c")):
    """Sentences of up to six words of up to three pieces, with up to four targets, often none."""
    rows, pieces = [], []
    for _ in range(n_rows):
        n = int(rng.integers(1, 7))
        targets = []
        for _ in range(rng.integers(0, 5)):
            spans = [tuple(sorted(rng.choice(n + 1, 2, replace=False).tolist())) for _ in range(n_spans)]
            names = rng.choice(labels, rng.integers(0, 3), replace=False).tolist()
            targets.append(target(spans[0], names, spans[1] if n_spans > 1 else None))
        rows.append(([f"w{at}" for at in range(n)], targets))
        pieces.append(rng.integers(1, 4, n).tolist())
    return rows, pieces


def random_split(tmp_path, n_spans: int, n_rows=30, seed=0, width=WIDTH):
    rng = np.random.default_rng(seed)
    rows, pieces = random_rows(rng, n_rows, n_spans)
    layers = rng.normal(size=(N_LAYERS, sum(map(sum, pieces)), width)).astype(np.float32)
    return read_split(*write_split(tmp_path, f"t{n_spans}{seed}", "train", rows, pieces, layers)), rows, pieces, layers


def slow_spans(rows, pieces):
    """Of each target, the cached rows of the tokens in each of its spans."""
    found, before = [], 0
    for (_, targets), sizes in zip(rows, pieces):
        tokens = [(before + at, word) for at, word in enumerate(np.repeat(np.arange(len(sizes)), sizes))]
        before += len(tokens)
        for each in targets:
            ends = [(each["start1"], each["end1"])] + [(each["start2"], each["end2"])] * (each["start2"] is not None)
            found.append([[at for at, word in tokens if start <= word < end] for start, end in ends])
    return found


# ---- reading


@pytest.mark.parametrize("n_spans", [1, 2])
def test_a_batch_has_the_tokens_of_its_spans(tmp_path, n_spans):
    split, rows, pieces, layers = random_split(tmp_path, n_spans)
    expected = slow_spans(rows, pieces)
    with_targets = [at for at, (_, targets) in enumerate(rows) if targets]
    assert split.n_sentences == len(with_targets) < len(rows) and split.n_targets == len(expected)
    used = {at for spans in expected for span in spans for at in span}
    assert split.vectors.shape == (1, N_LAYERS, len(used), WIDTH) and len(used) < layers.shape[1]
    chosen = np.random.default_rng(1).permutation(split.n_sentences)[:9]
    vectors, batch = fetched(split, chosen, "cpu")
    first_target = np.cumsum([0] + [len(rows[at][1]) for at in with_targets])
    wanted = [number for at in chosen for number in range(first_target[at], first_target[at + 1])]
    assert batch.target.tolist() == wanted == split.targets_of(chosen).tolist()
    n = len(wanted)
    for at, number in enumerate(wanted):
        for which in range(n_spans):
            members = batch.member[batch.span == which * n + at]
            np.testing.assert_array_equal(vectors[0, :, members], layers[:, expected[number][which]])
            assert batch.first[which * n + at] == torch.nonzero(batch.span == which * n + at)[0, 0]
    assert torch.equal(batch.score_index, batch.member + (batch.span >= n) * len(batch.token))


def test_vectors_too_large_for_memory_are_mapped_from_a_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows, pieces = random_rows(rng, 30, 2)
    layers = rng.normal(size=(N_LAYERS, sum(map(sum, pieces)), WIDTH)).astype(np.float32)
    written = write_split(tmp_path, "large", "train", rows, pieces, layers)
    held = read_split(*written)
    made = []

    def mapped(*args, **kwargs):
        made.append(memmap(*args, **kwargs))
        return made[-1]

    memmap = np.memmap
    monkeypatch.setattr(reading, "MOST_IN_MEMORY", 100)
    monkeypatch.setattr(np, "memmap", mapped)
    from_file = read_split(*written)
    assert len(made) == 1 and torch.equal(from_file.vectors, held.vectors)
    chosen = np.arange(held.n_sentences)[::-2]
    assert torch.equal(fetched(from_file, chosen, "cpu")[0], fetched(held, chosen, "cpu")[0])


def test_datasets_of_the_same_sentences_read_one_cache(tmp_path):
    """Two datasets over three sentences, one of them twice in the first, in the order of the second's."""
    sentences = [["a", "b", "c"], ["d"], ["e", "f"]]
    pieces = [[1, 2, 1], [3], [1, 1]]
    layers = np.random.default_rng(0).normal(size=(N_LAYERS, 9, WIDTH)).astype(np.float32)
    one = [(sentences[1], [target((0, 1), ["x"])]), (sentences[0], [target((1, 3), ["y"])]),
           (sentences[1], [target((0, 1), ["y"])])]  # fmt: skip
    _, data = write_split(tmp_path, "one", "train", one, [pieces[1], pieces[0], pieces[1]],
                                 np.zeros((1, 10, WIDTH)))  # fmt: skip
    other = [(words, [target((0, len(words)), ["z"])]) for words in sentences]
    [shared], data_of_other = write_split(tmp_path, "other", "train", other, pieces, layers)
    write_rows(shared, {"one": np.array([1, 0, 1]), "other": np.arange(3)})
    split = read_split([shared], data)
    places = [[4, 5, 6], [1, 2, 3], [4, 5, 6]]  # of the tokens in each target's span
    assert split.first_token.tolist() == [0, 3, 6, 9]
    np.testing.assert_array_equal(split.vectors[0], layers[:, np.concatenate(places)])
    np.testing.assert_array_equal(read_split([shared], data_of_other).vectors[0], layers)
    with pytest.raises(UserError, match="no rows of strangers"):
        read_rows(shared, "strangers")


def test_labels_of_targets(tmp_path):
    split, rows, _, _ = random_split(tmp_path, 1)
    names = label_names(split.targets)
    assert names == ["a", "b", "c"]
    labels = [set(each["labels"]) for _, targets in rows for each in targets]
    assert label_matrix(split.targets, names).tolist() == [[name in given for name in names] for given in labels]


def test_half_precision_stays_half_in_memory(tmp_path):
    rows, pieces = [(["a", "b"], [target((0, 2), ["x"])])], [[1, 2]]
    vectors = np.arange(6, dtype=np.float32).reshape(1, 3, 2)
    split = read_split(*write_split(tmp_path, "half", "train", rows, pieces, vectors, "float16"))
    assert split.vectors.dtype == torch.float16 and fetched(split, np.array([0]), "cpu")[0].dtype == torch.float32


def test_faults_are_named(tmp_path):
    one, two, vectors = target((0, 1), ["x"]), target((0, 1), ["x"], (0, 1)), np.ones((1, 1, 2), np.float32)
    for name, targets, values, said in [
        ("mixed", [one, two], vectors, "dataset mixed: 1 of 2 targets have one span"),
        ("none", [], vectors, "dataset none: no row has a target"),
        ("nan", [one], vectors * np.nan, "no finite numbers"),
    ]:
        with pytest.raises(UserError, match=said):
            read_split(*write_split(tmp_path, name, "train", [(["a"], targets)], [[1]], values))
    write_split(tmp_path, "t", "train", [(["a"], [one])], [[1]], vectors)
    write_split(tmp_path, "t", "dev", [(["a"], [two])], [[1]], vectors)
    with pytest.raises(UserError, match="one span in some splits"):
        read_all(tmp_path, "t", ("train", "dev"))
    with pytest.raises(UserError, match="no setting `projektion`"):
        settings_from({"projektion": 3})
    with pytest.raises(UserError, match="not 'middle'"):
        EdgeProbe(Lane("middle"), Sizes(2, 3, 1, 2), SMALL, 0)


# ---- the network is the paper's


def probes_of(split, read, settings=SMALL, seed=0):
    return [EdgeProbe(lane, sizes_of(split, 3), settings, seed) for lane in read]


def gold_of(split):
    return torch.from_numpy(label_matrix(split.targets, ["a", "b", "c"])).float()


def slow_logits(part: dict, kind: str, vectors, spans, mask, hidden_mask):
    """One probe, one target after another; `part` holds its parameters, `spans` the tokens of each target's spans."""
    if kind == "mix":
        shares = torch.softmax(part["layer_scores"], 0)
        states = part["mixture_scale"] * sum(share * layer for share, layer in zip(shares, vectors))
    else:
        states = vectors[-1 if kind == "top" else 0]
    states = states * mask
    rows = []
    for number, of_target in enumerate(spans):
        pooled = []
        for which, tokens in enumerate(of_target):
            projected = states[tokens] @ part["project"][which] + part["project_bias"][which]
            attention = torch.softmax(projected @ part["attention"][which, :, 0], dim=0)
            pooled.append(sum(weight * vector for weight, vector in zip(attention, projected)))
        hidden = torch.cat(pooled) @ part["hidden"].flatten(0, 1) + part["hidden_bias"][0]
        hidden = layer_norm(torch.tanh(hidden), hidden.shape, part["norm"][0], part["norm_bias"][0])
        rows.append((hidden * hidden_mask[number]) @ part["output"] + part["output_bias"][0])
    return torch.stack(rows)


def token_lists(batch, n_spans: int):
    n = len(batch.target)
    return [[batch.member[batch.span == which * n + at].tolist() for which in range(n_spans)] for at in range(n)]


@pytest.mark.parametrize("n_spans", [1, 2])
@pytest.mark.parametrize("training", [True, False])
def test_logits_and_gradients_are_those_of_the_slow_probe(tmp_path, n_spans, training):
    """In double precision; the slow probe's own gradient is checked by finite differences."""
    split, *_ = random_split(tmp_path, n_spans)
    generator = torch.Generator().manual_seed(2)
    split = replace(split, vectors=torch.randn(2, *split.vectors.shape[1:], generator=generator))  # of two models
    read = [*lanes("mix", "top"), *lanes("mix", "lexical", "top", model=1)]
    probes = [probe.double() for probe in probes_of(split, read)]
    for probe in probes:  # lanes that differ, mixtures that are not what they begin with
        for value in probe.parameters():
            value.data += 0.5 * torch.randn(value.shape, generator=generator)
    vectors, batch = fetched(split, np.arange(7), "cpu")
    vectors, labels = vectors.double(), gold_of(split)[batch.target].double()
    masks = draw_masks(batch, WIDTH, SMALL, generator) if training else None
    logits = logits_of(probes, vectors, batch, masks)
    sum(binary_cross_entropy_with_logits(of_probe, labels) for of_probe in logits).backward()
    mask, hidden_mask = masks if training else (torch.ones(1), torch.ones(len(labels), 1))

    def slow_loss(part, lane):
        spans = token_lists(batch, n_spans)
        expected = slow_logits(part, lane.input, vectors[lane.model], spans, mask, hidden_mask)
        return expected, binary_cross_entropy_with_logits(expected, labels)

    for probe, of_probe in zip(probes, logits):
        part = {name: value.detach().clone().requires_grad_() for name, value in probe.named_parameters()}
        expected, loss = slow_loss(part, probe.lane)
        torch.testing.assert_close(of_probe, expected, atol=1e-9, rtol=1e-9)
        gradients = dict(zip(part, torch.autograd.grad(loss, list(part.values()), allow_unused=True)))
        for name, value in probe.named_parameters():
            slow = torch.zeros_like(value) if gradients[name] is None else gradients[name]
            torch.testing.assert_close(value.grad, slow, atol=1e-9, rtol=1e-7)
        assert (gradients["layer_scores"] is None) == (probe.lane.input != "mix")
        step = {name: torch.randn(value.shape, generator=generator).double() for name, value in part.items()}
        with torch.no_grad():
            above, below = (
                slow_loss({name: value + sign * 1e-6 * step[name] for name, value in part.items()}, probe.lane)[1]
                for sign in (1, -1)
            )
        along = sum((value.grad * step[name]).sum() for name, value in probe.named_parameters())
        assert along.item() == pytest.approx(((above - below) / 2e-6).item(), rel=1e-5, abs=1e-8)


def test_dropout_masks_keep_the_mean(tmp_path):
    split, *_ = random_split(tmp_path, 2, n_rows=60)
    _, batch = fetched(split, np.arange(split.n_sentences), "cpu")
    tokens, hidden = draw_masks(batch, WIDTH, SMALL, torch.Generator().manual_seed(0))
    assert tokens.shape == (len(batch.token), WIDTH) and hidden.shape == (len(batch.target), SMALL.hidden)
    assert set(tokens.unique().tolist()) == {0.0, 1.25} and hidden.max().item() == pytest.approx(1 / 0.7)
    assert 0.18 < (tokens == 0).float().mean() < 0.22 and 0.27 < (hidden == 0).float().mean() < 0.33


def test_attention_weights_add_up_to_one_and_do_not_overflow(tmp_path):
    split, *_ = random_split(tmp_path, 2)
    _, batch = fetched(split, np.arange(7), "cpu")
    scores = 1e4 * torch.randn(3, 2, len(batch.token), generator=torch.Generator().manual_seed(0))
    scores.requires_grad_()
    weights = softmax_in_spans(scores, batch)
    (weights**2).sum().backward()
    assert torch.isfinite(weights).all() and torch.isfinite(scores.grad).all()
    of_spans = torch.zeros(3, len(batch.first)).index_add(1, batch.span, weights.detach())
    torch.testing.assert_close(of_spans, torch.ones_like(of_spans))


class PlainAmsgrad:
    """Of one probe's parameters: the gradient clipped by its norm over all of them, then Adam with the highest second
    moment so far."""

    def __init__(self, part: dict, rate: float, clip_norm: float):
        self.part, self.rate, self.clip_norm, self.n, self.norms = part, rate, clip_norm, 0, []
        self.first, self.second, self.highest = ({name: 0 * part[name].detach() for name in part} for _ in range(3))

    def step(self, gradients: dict) -> None:
        self.n += 1
        self.norms.append(sum(gradient.square().sum().item() for gradient in gradients.values()) ** 0.5)
        factor = min(1.0, self.clip_norm / self.norms[-1])
        for name, gradient in gradients.items():
            self.first[name] = 0.9 * self.first[name] + 0.1 * factor * gradient
            self.second[name] = 0.999 * self.second[name] + 0.001 * (factor * gradient) ** 2
            self.highest[name] = torch.maximum(self.highest[name], self.second[name])
            spread = (self.highest[name] / (1 - 0.999**self.n)).sqrt() + 1e-8
            with torch.no_grad():
                self.part[name] -= self.rate * self.first[name] / (1 - 0.9**self.n) / spread


def test_updates_are_those_of_a_slow_probe_with_clipping(tmp_path):
    """Six updates of probes side by side, each with its own rate, against Adam written out on the slow probe."""
    split, *_ = random_split(tmp_path, 2)
    settings = EdgeSettings(projection=8, hidden=8, input_dropout=0, dropout=0, clip_norm=0.72)
    gold, rates, kinds = gold_of(split), [1e-2, 3e-3], ("mix", "top")
    probes = probes_of(split, lanes(*kinds), settings)
    trainings = [Training(probe, replace(settings, learning_rate=rate)) for probe, rate in zip(probes, rates)]
    slow = [{name: value.detach().clone().requires_grad_() for name, value in p.named_parameters()} for p in probes]
    plain = [PlainAmsgrad(part, rate, settings.clip_norm) for part, rate in zip(slow, rates)]
    ones = torch.ones(100, 1)
    for step in range(6):
        vectors, batch = fetched(split, np.arange(step, step + 8), "cpu")
        logits, labels = logits_of(probes, vectors, batch), gold[batch.target]
        sum(binary_cross_entropy_with_logits(of_probe, labels) for of_probe in logits).backward()
        for training, kind, part, optimiser in zip(trainings, kinds, slow, plain):
            training.update()
            expected = slow_logits(part, kind, vectors[0], token_lists(batch, 2), ones[0], ones)
            loss = binary_cross_entropy_with_logits(expected, labels)
            found = torch.autograd.grad(loss, list(part.values()), allow_unused=True)
            optimiser.step({name: gradient for name, gradient in zip(part, found) if gradient is not None})
    assert all(max(optimiser.norms) > settings.clip_norm > min(optimiser.norms) for optimiser in plain)
    for probe, part in zip(probes, slow):
        for name, value in probe.named_parameters():
            torch.testing.assert_close(value.detach(), part[name].detach(), atol=2e-4, rtol=1e-3)


def test_a_probe_does_not_see_its_company(tmp_path):
    """Alone, beside others, or left alone when the other is dropped: the same up to rounding."""
    split, *_ = random_split(tmp_path, 2, n_rows=60)
    gold = gold_of(split)

    def trained(inputs, watched, dropped_at=None):
        running = [Training(probe, replace(SMALL, learning_rate=1e-3)) for probe in probes_of(split, lanes(*inputs))]
        watched, generator = running[watched], torch.Generator().manual_seed(3)
        for step in range(10):
            if step == dropped_at:
                running = [watched]
            vectors, batch = fetched(split, np.arange(3 * step, 3 * step + 10), "cpu")
            masks = draw_masks(batch, WIDTH, SMALL, generator)
            logits = logits_of([each.probe for each in running], vectors, batch, masks)
            sum(binary_cross_entropy_with_logits(of_probe, gold[batch.target]) for of_probe in logits).backward()
            for each in running:
                each.update()
        return torch.nn.utils.parameters_to_vector(watched.probe.parameters()).detach()

    alone = trained(["top"], 0)
    for company in (trained(["mix", "top", "lexical"], 1), trained(["mix", "top"], 1, dropped_at=4)):
        torch.testing.assert_close(company, alone, atol=1e-4, rtol=0)
    assert (trained(["mix"], 0) - alone).abs().max() > 1e-3


# ---- when to stop


def training_of(**settings) -> Training:
    settings = EdgeSettings(projection=2, hidden=2, **settings)
    return Training(EdgeProbe(Lane("mix"), Sizes(2, 3, 1, 2), settings, 0), settings)


def rate_of(training: Training) -> float:
    return training.optimiser.param_groups[0]["lr"]


def test_the_rate_is_halved_after_validations_without_a_rise():
    """More than `learning_rate_patience` in a row whose score is not above the last rise by 1e-4."""
    rng = np.random.default_rng(0)
    scores = np.round(np.cumsum(rng.normal(0.001, 0.01, (60, 3)), axis=0), 3) + rng.choice([0, 5e-5], (60, 3))
    reached = []
    for of_probe in scores.T:
        training = training_of(learning_rate=1.0, min_learning_rate=0.0, learning_rate_patience=2, patience=10**9)
        rate, highest, flat = 1.0, -np.inf, 0
        for at, score in enumerate(of_probe):
            training.validate(float(score), at)
            highest, flat = (score, 0) if score > highest + 1e-4 else (highest, flat + 1)
            if flat > 2:
                rate, flat = rate / 2, 0
            assert rate_of(training) == rate
        reached.append(rate)
    assert len(set(reached)) > 1 and max(reached) < 1


def test_a_probe_stops_after_patience_or_at_the_lowest_rate():
    for scores, best_at, stopped in [
        ([0.1, 0.2, 0.2, 0.1, 0.2], [1, 2, 2, 2, 2], [False] * 4 + [True]),
        ([0.1, 0.1, 0.1, 0.0], [1, 1, 1, 1], [False] * 3 + [True]),
        ([0.1, 0.1, 0.1, 0.3], [1, 1, 1, 4], [False] * 4),
    ]:
        training = training_of(learning_rate=1.0, min_learning_rate=0.3, learning_rate_patience=100, patience=3)
        for at, score in enumerate(scores):
            training.validate(score, at + 1)
            assert (training.best_update, training.stopped) == (best_at[at], stopped[at])
    training, stopped = training_of(learning_rate=1.0, min_learning_rate=0.3, learning_rate_patience=0), []
    for at in range(3):
        training.validate(0.0, at)
        stopped.append(training.stopped)
    assert stopped == [False, False, True] and rate_of(training) == 0.25


def test_the_best_state_is_the_one_that_is_left(tmp_path):
    """A score that says when a probe is best: its parameters are those of that validation."""
    split, *_ = random_split(tmp_path, 1)
    settings = EdgeSettings(projection=8, hidden=8, learning_rate=1e-2, validate_every=2, max_validations=6, patience=9)
    probes, seen = probes_of(split, lanes("mix", "top"), settings), []
    wanted = [[0, 0], [1, 0], [5, 1], [2, 2], [3, 9], [1, 3]]

    def scores(logits):
        seen.append(logits)
        return np.array(wanted[len(seen) - 1])

    everything = np.arange(split.n_sentences)
    task = Task(split, everything, gold_of(split), binary_cross_entropy_with_logits, split, scores)
    trained = train(probes, task, settings, seed=0)
    assert trained.scores == [5, 9] and len(seen) == 6
    left = [predict([probe], split)[0] for probe in probes]
    np.testing.assert_allclose(left[0], seen[2][0], atol=1e-6)
    np.testing.assert_allclose(left[1], seen[4][1], atol=1e-6)
    assert np.abs(seen[3][0] - seen[2][0]).max() > 1e-3 and np.abs(seen[5][1] - seen[4][1]).max() > 1e-3
    assert trained.epochs == [6.0, 10.0]  # one batch is an epoch here


# ---- scores


def label_matrices(seed, n_labels=7):
    rng = np.random.default_rng(seed)
    gold = rng.random((200, n_labels)) < 0.2
    return gold, np.where(rng.random(gold.shape) < 0.15, ~gold, gold)


def test_micro_f1_is_that_of_scikit_learn():
    for seed in range(5):
        gold, predicted = label_matrices(seed)
        expected = [score(gold, predicted, average="micro") for score in (f1_score, precision_score, recall_score)]
        assert micro_f1(gold, predicted) == pytest.approx(expected)
    nothing = np.zeros_like(gold)
    assert micro_f1(gold, nothing) == micro_f1(nothing, nothing) == micro_f1(nothing, gold) == (0, 0, 0)


def test_variants_of_coreference_and_relations():
    gold, predicted = label_matrices(0, 2)
    both = all_scores(gold, predicted, ["0", "1"])
    assert both["f1"] == pytest.approx(f1_score(gold, predicted, average="micro"))
    assert both["f1_positive_only"] == pytest.approx(f1_score(gold[:, 1], predicted[:, 1]))
    assert both["f1_positive_only"] != both["f1"] and np.isnan(both["f1_no_other"])
    gold, predicted = label_matrices(1, 4)
    relations = all_scores(gold, predicted, ["Cause(e1,e2)", "Other", "Whole(e2,e1)", "unseen"])
    assert relations["f1_no_other"] == pytest.approx(
        f1_score(gold[:, [0, 2, 3]], predicted[:, [0, 2, 3]], average="micro")
    )
    assert relations["f1_no_other"] != relations["f1"] and np.isnan(relations["f1_positive_only"])
    plain = all_scores(gold, predicted, ["0", "1", "2", "3"])
    assert np.isnan(plain["f1_no_other"]) and np.isnan(plain["f1_positive_only"])


def test_a_logit_of_zero_is_a_yes_and_unseen_labels_are_a_no():
    predicted = predicted_labels(np.array([[0.0, -1e-9], [2.0, -3.0]], dtype=np.float32), 3)
    assert predicted.tolist() == [[True, False, False], [True, False, False]]


# ---- planted tasks


def planted(rng, n_rows: int, n_spans: int, n_labels=3, layer=1):
    """One token of each span says a class at one layer; all other layers and tokens are noise. With two spans the
    label is whether the classes are the same, which neither span alone tells."""
    centres = 2.5 * np.random.default_rng(99).normal(size=(n_labels, WIDTH))
    rows, pieces, vectors = [], [], []
    for _ in range(n_rows):
        sizes = rng.integers(1, 4, 5).tolist()
        of_row = rng.normal(size=(N_LAYERS, sum(sizes), WIDTH)).astype(np.float32)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        spans = [(0, 2), (3, 5)]
        classes = rng.integers(0, n_labels if n_spans == 1 else 2, 2)
        for which, (start, end) in enumerate(spans):
            at = rng.integers(ends[start], ends[end])
            of_row[layer, at] = centres[classes[which]] + 0.3 * rng.normal(size=WIDTH)
        if n_spans == 1:
            targets = [target(spans[0], [f"c{classes[0]}"])]
        else:
            targets = [target(spans[0], ["same" if classes[0] == classes[1] else "different"], spans[1])]
        rows.append(([f"w{at}" for at in range(5)], targets))
        pieces.append(sizes)
        vectors.append(of_row)
    return rows, pieces, np.concatenate(vectors, axis=1)


def planted_splits(tmp_path, n_spans: int, n_train=400, **options):
    rng = np.random.default_rng(5)
    for split, n in (("train", n_train), ("dev", 80), ("test", 150)):
        write_split(tmp_path, "planted", split, *planted(rng, n, n_spans, **options))
    return read_all(tmp_path, "planted", ("train", "dev", "test"))


@pytest.mark.parametrize("n_spans", [1, 2])
def test_a_planted_task_is_learnt_from_its_layer_and_from_no_other(tmp_path, n_spans):
    splits = planted_splits(tmp_path, n_spans, layer=1)
    mix, top, lexical = probe_task(*splits, lanes("mix", "top", "lexical"), SMALL, seed=0)
    assert [row["input"] for row in (mix, top, lexical)] == ["mix", "top", "lexical"]
    chance = 1 / 3 if n_spans == 1 else 1 / 2
    assert mix["f1"] > 0.9 and top["f1"] < chance + 0.12 and lexical["f1"] < chance + 0.12
    assert mix["n_targets"] == 150 and mix["n_labels"] == (3 if n_spans == 1 else 2) and mix["seed"] == 0


def edge_job(root: Path, models: list[str], settings: dict) -> SimpleNamespace:
    """What the script gets for the dataset `planted`."""
    items = {f"e.0/{model}/planted": [f"e.0/{model}/span/planted-{split}" for split in ("train", "dev", "test")]
             for model in models}  # fmt: skip
    return SimpleNamespace(
        log=[str(root / "log")],
        threads=1,
        input=SimpleNamespace(
            activations=[str(path) for path in (root / "activations").glob("*/*/span/*")],
            data=[str(path) for path in root.glob("data/*/*.parquet")],
        ),
        params=SimpleNamespace(work=items, settings=settings, seed=0),
        output=[str(root / f"{item.replace('/', '.')}.parquet") for item in items],
    )


def test_models_side_by_side_score_as_each_alone(tmp_path, monkeypatch):
    """Two models of which one knows more, by the script: in one training, and in two where memory is short."""
    rng = np.random.default_rng(5)
    for split, n in (("train", 120), ("dev", 40), ("test", 60)):
        rows, pieces, vectors = planted(rng, n, 1)
        noisy = (vectors + 2 * rng.normal(size=vectors.shape)).astype(np.float32)
        for model, layers in (("tuned", vectors), ("pretrained", noisy)):
            write_split(tmp_path, "planted", split, rows, pieces, layers, model=f"e.0/{model}")

    def scored(models):
        job = edge_job(tmp_path, models, vars(SMALL))
        run_script("scripts/edges", job)
        return pd.concat([pd.read_parquet(path) for path in job.output], ignore_index=True)

    together = scored(["tuned", "pretrained"])
    monkeypatch.setattr(reading, "BYTES_HELD", 1)
    pd.testing.assert_frame_equal(together, scored(["tuned", "pretrained"]), rtol=1e-6)
    alone = pd.concat([scored([model]) for model in ("tuned", "pretrained")], ignore_index=True)
    pd.testing.assert_frame_equal(together, alone, rtol=1e-6)
    assert together["input"].tolist() == ["mix", "top", "mix", "top", "lexical"]
    assert together["f1"][0] > together["f1"][2] + 0.1


def test_models_side_by_side_must_have_the_same_tokens_and_depth(tmp_path):
    one, two = target((0, 1), ["x"]), np.ones((2, 2, 3), np.float32)
    (first,), data = write_split(tmp_path / "a", "t", "train", [(["a", "b"], [one])], [[1, 1]], two)
    (other,), _ = write_split(tmp_path / "b", "t", "train", [(["a", "b"], [one])], [[1, 2]], np.ones((2, 3, 3)))
    with pytest.raises(UserError, match="do not hold the same tokens"):
        read_split([first, other], data)
    (deeper,), _ = write_split(tmp_path / "c", "t", "train", [(["a", "b"], [one])], [[1, 1]], np.ones((3, 2, 3)))
    with pytest.raises(UserError, match="different depths"):
        read_split([first, deeper], data)


@pytest.mark.parametrize("layer, reads", [(N_LAYERS - 1, "top"), (0, "lexical")])
def test_top_is_the_last_layer_and_lexical_the_first(tmp_path, layer, reads):
    splits = planted_splits(tmp_path, 1, layer=layer)
    rows = {row["input"]: row["f1"] for row in probe_task(*splits, lanes("top", "lexical"), SMALL, seed=0)}
    assert rows.pop(reads) > 0.95 and rows.popitem()[1] < 0.5


def test_the_same_seed_gives_the_same_bits(tmp_path):
    splits, short = planted_splits(tmp_path, 1, n_train=100), EdgeSettings(**vars(SMALL) | {"max_validations": 3})
    first, again, other = (probe_task(*splits, lanes("mix", "top"), short, seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(pd.DataFrame(first), pd.DataFrame(again), check_exact=True)
    assert [row["dev_f1"] for row in first] != [row["dev_f1"] for row in other]


def test_labels_that_train_lacks_are_missed(tmp_path):
    rng = np.random.default_rng(5)
    for split, n in (("train", 400), ("dev", 80), ("test", 150)):
        rows, pieces, vectors = planted(rng, n, 1)
        if split == "test":
            for _, targets in rows[:50]:
                targets[0]["labels"] = ["never seen"]
        write_split(tmp_path, "planted", split, rows, pieces, vectors)
    splits = read_all(tmp_path, "planted", ("train", "dev", "test"))
    row = probe_task(*splits, lanes("mix"), SMALL, seed=0)[0]
    assert row["n_labels"] == 3 and 0.55 < row["recall"] <= 100 / 150 and row["precision"] < 0.8


# ---- scripts


def test_the_script_writes_its_table(tmp_path):
    planted_splits(tmp_path, 1, n_train=60)
    shutil.copytree(tmp_path / "activations/e.0/pretrained", tmp_path / "activations/e.0/tuned")
    job = edge_job(tmp_path, ["pretrained", "tuned"], {"validate_every": 5, "max_validations": 2, "hidden": 8})
    run_script("scripts/edges", job)
    encoder, tuned = (pd.read_parquet(path) for path in job.output)
    assert encoder.columns.tolist() == [
        "model", "task", "input", "f1", "f1_positive_only", "precision", "recall", "f1_no_other", "n_targets",
        "n_labels", "dev_f1", "epochs", "seed",
    ]  # fmt: skip
    assert encoder["input"].tolist() == ["mix", "top", "lexical"] and tuned["input"].tolist() == ["mix", "top"]
    assert set(encoder["task"]) == {"planted"} and set(tuned["model"]) == {"e.0/tuned"}
    # a model's probes know nothing of those trained before them in the same process
    np.testing.assert_array_equal(encoder["f1"][:2], tuned["f1"])


@pytest.mark.parametrize("script", ["edges.py", "description_length.py"])
def test_scripts_do_not_import_transformers(script):
    path = ROOT / "workflow/scripts" / script
    sources = [path, *modules_behind(path)]
    assert len(sources) > 10
    assert [path.name for path in sources if "transformers" in path.read_text()] == []
