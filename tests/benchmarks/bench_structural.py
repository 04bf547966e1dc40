"""Structural probes, all layers at once, against one after the other: `python -m tests.benchmarks.bench_structural`.

The baseline does what Hewitt and Manning's code does, one layer and one probe at a time: shuffled batches of 20 padded
to their longest sentence, differences of all pairs of words, automatic differentiation, torch's Adam, the loss on dev
after each epoch. It is spared their reading of files: its sentences wait in memory. It trains some layers, and its time
is scaled to all. Both train for the same number of epochs, from the same weights in the same order, on one thread.
CPU ratios compare processor seconds and so hold on a busy machine too. Two more lines tell where the gain comes from:
the same baseline with distances by the Gram matrix, and our own code, given one layer at a time.
"""

import time
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import torch
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import spearmanr
from torch.nn.utils.rnn import pad_sequence

from workflow.lib.methods.structural.gold_trees import Trees, trees_of
from workflow.lib.methods.structural.probes import PROBES, first_weights
from workflow.lib.methods.structural.scores import Evaluation
from workflow.lib.methods.structural.settings import StructuralSettings
from workflow.lib.methods.structural.training import Probe, train_probes

# layers, width, rank, mean length, sentences of train and dev, epochs, layers that the baselines train
SHAPES = {
    "demo, 5 x 64, rank 32": (5, 64, 32, 9, (400, 200), 10, (0, 1, 2, 3, 4)),
    "BERT-base, 13 x 768, rank 128": (13, 768, 128, 17, (240, 120), 3, (0, 6, 12)),
}


def random_treebank(n: int, mean_length: float, rng: np.random.Generator) -> Trees:
    """Lengths as skewed as those of real text (from 1 to 120 words); a word hangs on one that came shortly before."""
    heads = []
    for _ in range(n):
        length = int(np.clip(rng.gamma(2, mean_length / 2), 1, 120))
        order, above = rng.permutation(length), np.zeros(length, dtype=int)
        for at in range(1, length):
            above[order[at]] = order[rng.integers(max(0, at - 6), at)] + 1
        heads.append(above.tolist())
    return trees_of(heads, [["NOUN"] * len(above) for above in heads])


def vectors_of(trees: Trees, width: int, layers: int, rng: np.random.Generator) -> dict[int, torch.Tensor]:
    """Each word has a random direction, and a vector that sums those on its way from the root, so that squared
    distances are about the tree's; then a mixing of dimensions and noise, least in the middle layers."""
    own = rng.standard_normal((trees.length.sum(), width)) / np.sqrt(width)
    own[trees.depth == 0] = 0
    path = np.zeros_like(own)
    for first, pair, n in zip(trees.first, trees.first_pair, trees.length):
        depth, distance = trees.depth[first : first + n], trees.distance[pair : pair + n * n].reshape(n, n)
        path[first : first + n] = (distance == np.subtract.outer(depth, depth)) @ own[first : first + n]
    found = {}
    for layer in range(layers):
        noise = 0.4 + 1.2 * abs(layer / (layers - 1) - 0.6)
        mixing = np.random.default_rng(layer).standard_normal((width, width)) / np.sqrt(
            width
        )  # the same for train and dev
        mixed = 4 * (path @ mixing) + noise * rng.standard_normal(path.shape)
        found[layer] = torch.from_numpy(mixed.astype(np.float32))
    return found


def sentences_of(vectors: torch.Tensor, trees: Trees, probe: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Each sentence's vectors and gold depths or distances."""
    lengths = trees.length.tolist()
    if probe == "depth":
        return list(zip(vectors.split(lengths), torch.from_numpy(trees.depth).split(lengths)))
    pairs = torch.from_numpy(trees.distance).split((trees.length**2).tolist())
    return [(words, flat.view(n, n)) for words, flat, n in zip(vectors.split(lengths), pairs, lengths)]


def padded(batch: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    words, lengths = pad_sequence([words for words, _ in batch], batch_first=True), [len(words) for words, _ in batch]
    gold = torch.full((len(batch), *[max(lengths)] * batch[0][1].ndim), -1.0)
    for place, (_, value) in zip(gold, batch):
        place[tuple(slice(n) for n in value.shape)] = value
    return words, gold, torch.tensor(lengths)


def plain_loss(weights: torch.Tensor, words: torch.Tensor, gold: torch.Tensor, lengths: torch.Tensor, by_gram: bool):
    projected = words @ weights
    if gold.ndim == 2:
        predicted = projected.square().sum(-1)
    elif by_gram:
        norms = projected.square().sum(-1)
        predicted = norms[:, :, None] + norms[:, None, :] - 2 * projected @ projected.transpose(1, 2)
    else:
        predicted = (projected[:, :, None] - projected[:, None, :]).pow(2).sum(-1)
    counts = (gold != -1).float()
    per_sentence = (predicted * counts - gold * counts).abs().flatten(1).sum(1) / lengths.float() ** (gold.ndim - 1)
    return per_sentence.sum() / len(words)


def train_plainly(
    train: list, dev: list, start: torch.Tensor, settings: StructuralSettings, seed: int, by_gram: bool
) -> torch.Tensor:
    """One probe: the weights of the epoch with the best loss on dev."""
    weights, best, best_loss = start.clone().requires_grad_(), start, np.inf
    optimiser = torch.optim.Adam([weights], lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.1, patience=0)
    rng, size = np.random.default_rng(seed), settings.batch_size
    for _ in range(settings.max_epochs):
        order = rng.permutation(len(train))
        for begin in range(0, len(train), size):
            optimiser.zero_grad()
            plain_loss(weights, *padded([train[s] for s in order[begin : begin + size]]), by_gram).backward()
            optimiser.step()
        with torch.no_grad():
            parts = (dev[begin : begin + size] for begin in range(0, len(dev), size))
            loss = sum(len(part) * plain_loss(weights, *padded(part), by_gram).item() for part in parts) / len(dev)
        schedule.step(loss)
        if loss < best_loss - 1e-4:
            best, best_loss = weights.detach().clone(), loss
    return best


def score_plainly(projected: np.ndarray, trees: Trees, probe: str) -> float:
    """Spearman as Hewitt and Manning's code counts it, sentence by sentence with scipy; distances get a tree too."""
    of_length: dict[int, list[float]] = {}
    for (words, gold), n in zip(sentences_of(torch.from_numpy(projected), trees, probe), trees.length.tolist()):
        if probe == "depth":
            rows = [(words.square().sum(1), gold)]
        else:
            predicted = (words[:, None] - words[None]).square().sum(2)
            rows = list(zip(predicted, gold))
            minimum_spanning_tree(predicted.numpy())
        if 5 <= n <= 50:
            of_length.setdefault(n, []).extend(spearmanr(a, b).statistic for a, b in rows)
    return float(np.mean([np.mean(values) for values in of_length.values()]))


def timed(function: Callable) -> tuple[object, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def scored(probe: Probe, vectors: dict[int, torch.Tensor], evaluation: Evaluation) -> dict[str, float]:
    found = getattr(evaluation, probe.probe)((vectors[probe.layer] @ probe.weights).numpy())
    return {f"{probe.probe} {measure}": value for measure, (value, _) in found.measures.items()}


def bench(name: str, layers: int, width: int, rank: int, mean_length: int, sizes: tuple, epochs: int, sampled: tuple):
    rng = np.random.default_rng(0)
    treebanks = [random_treebank(n, mean_length, rng) for n in sizes]
    train, dev = ((vectors_of(trees, width, layers, rng), trees) for trees in treebanks)
    settings = StructuralSettings(rank=rank, max_epochs=epochs, patience=epochs)
    evaluation = Evaluation(dev[1], 5, 50)
    print(f"{name}: {sizes[0]} + {sizes[1]} sentences, {train[1].length.sum()} words, {epochs} epochs, both probes")
    train_probes(train, dev, StructuralSettings(rank=rank, max_epochs=1), seed=0)  # start-up is not timed
    ours, *ours_time = timed(lambda: train_probes(train, dev, settings, seed=0))
    ours = {(probe.layer, probe.probe): probe for probe in ours}

    def one_by_one() -> list[Probe]:
        few = [({layer: train[0][layer]}, {layer: dev[0][layer]}) for layer in sampled]
        return [probe for a, b in few for probe in train_probes((a, train[1]), (b, dev[1]), settings, seed=0)]

    def plainly(by_gram: bool) -> list[Probe]:
        found = []
        for layer, probe in product(sampled, PROBES):
            rows = (sentences_of(vectors[layer], trees, probe) for vectors, trees in (train, dev))
            start = first_weights(width, rank, layer, probe, seed=0)
            found.append(Probe(layer, probe, train_plainly(*rows, start, settings, seed=0, by_gram=by_gram)))
        return found

    reached = [scored(probe, dev[0], evaluation)[f"{probe.probe} spearman"] for probe in ours.values()]
    spearman = f"Spearman {min(reached):.2f} to {max(reached):.2f}"
    print(f"  {'ours, all layers in one go':35s} {ours_time[0]:7.2f} s | {spearman}", flush=True)
    rivals = {
        "ours, one layer at a time": one_by_one,
        "plain loop, Gram matrix": partial(plainly, by_gram=True),
        "plain loop, all differences": partial(plainly, by_gram=False),
    }
    for rival, work in rivals.items():
        theirs, *their_time = timed(work)
        wall, cpu = (layers / len(sampled) * seconds for seconds in their_time)
        scores = [(scored(probe, dev[0], evaluation), scored(ours[probe.layer, probe.probe], dev[0], evaluation))
                  for probe in theirs]  # fmt: skip
        largest = max(abs(a[measure] - b[measure]) for a, b in scores for measure in a)
        print(f"  {rival:35s} {wall:7.2f} s | {wall / ours_time[0]:5.1f}x wall {cpu / ours_time[1]:5.1f}x CPU | "
              f"largest difference of a score {largest:.4f}", flush=True)  # fmt: skip
    bench_scores(list(ours.values()), dev, evaluation)


def bench_scores(probes: list[Probe], dev: tuple, evaluation: Evaluation) -> None:
    """Spearman and trees of two layers' probes."""
    projected = [
        (probe.probe, (dev[0][probe.layer] @ probe.weights).numpy()) for probe in probes if probe.layer in (1, 2)
    ]
    ours, *our_time = timed(lambda: [getattr(evaluation, probe)(x).measures["spearman"][0] for probe, x in projected])
    theirs, *their_time = timed(lambda: [score_plainly(x, dev[1], probe) for probe, x in projected])
    print(f"  scoring: {our_time[0]:.2f} s, scipy sentence by sentence {their_time[0]:.2f} s: "
          f"{their_time[0] / our_time[0]:.0f}x wall {their_time[1] / our_time[1]:.0f}x CPU | "
          f"largest difference {np.abs(np.subtract(ours, theirs)).max():.1e}", flush=True)  # fmt: skip


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, shape in SHAPES.items():
        bench(name, *shape)
