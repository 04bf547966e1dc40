"""The largest cases of the paper preset, at full size where two cores and this machine's disk can: time and memory.

python -m tests.benchmarks.largest [bert] [rsa] [layer_probes] [pca] [neurons] [hulls] [clusters] [edges]
"""

import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from transformers import BertConfig, BertModel

from workflow.lib.methods.directprobe.clustering import probe
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances
from workflow.lib.methods.edges import reading
from workflow.lib.methods.layer_probes.short_training import train_short
from workflow.lib.methods.linear import fit_softmax
from workflow.lib.methods.neurons.search import cross_validated_accuracies, stratified_folds
from workflow.lib.methods.pca.principal_axes import principal_axes
from workflow.lib.methods.rsa.similarity import similarity

WIDTH = 768


def vectors(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes with centres of their own, in dimensions that correlate as a model's do; in parts, to save memory."""
    rng = np.random.default_rng(0)
    mixing = (rng.standard_normal((WIDTH, WIDTH)) * np.linspace(1, 0.02, WIDTH)).astype(np.float32)
    centres, y = rng.standard_normal((n_classes, WIDTH)).astype(np.float32), np.arange(n) % n_classes
    x = np.empty((n, WIDTH), dtype=np.float32)
    for start in range(0, n, 50_000):
        part = slice(start, min(start + 50_000, n))
        x[part] = (rng.standard_normal((part.stop - start, WIDTH), dtype=np.float32) + centres[y[part]]) @ mixing
    return x, y


def bert() -> str:
    """BERT-base: batches of 32 texts of 32 tokens, to be trained on and to be read."""
    model, ids = BertModel(BertConfig()), torch.randint(0, 1000, (32, 32))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step() -> None:
        model(ids).last_hidden_state[:, 0].sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    def forward() -> None:
        with torch.inference_mode():
            model(ids)

    (_, training), (_, reading) = (timed(of) for of in (step, forward))
    return f"12 x 768, 1,024 tokens: a step in {training:.1f} s, a forward pass in {reading:.1f} s"


def rsa() -> str:
    x, _ = vectors(5000, 4)
    _, seconds = timed(lambda: similarity(x, np.roll(x, 1, axis=1)))
    return f"5,000 x 768 in {seconds:.2f} s"


def layer_probes() -> str:
    """Two classes, which is what the papers have."""
    x, y = vectors(6000, 2)
    settings = {"learning_rate": 2e-5, "epochs": 3, "batch_size": 32, "seed": [0, 1, 2]}
    _, short = timed(lambda: train_short([x] * 13, y, 2, **settings))
    _, converged = timed(lambda: fit_softmax(x, y))
    return (
        f"6,000 x 768, 13 layers, 3 seeds x 3 epochs in {short:.1f} s; a layer's converged probe in {converged:.1f} s"
    )


def pca() -> str:
    """A million general sentences, and a classifier on 25 components of DBpedia's 560,000."""
    general, _ = vectors(1_000_000, 14)
    axes, seconds = timed(lambda: principal_axes(general))
    x, y = general[:560_000], np.arange(560_000) % 14
    _, fitting = timed(lambda: fit_softmax(axes.project(x, 25), y))
    return f"axes of 1,000,000 x 768 in {seconds:.0f} s, a classifier on 25 components of 560,000 in {fitting:.0f} s"


def neurons() -> str:
    """One of the fourteen steps of DBpedia's search: every dimension beside one chosen one, in five folds."""
    x, y = vectors(560_000, 14)
    folds = stratified_folds(y, 5, 0, 14)
    _, seconds = timed(lambda: cross_validated_accuracies(x, y, 14, [3], folds))
    return f"one step of 560,000 x 768, 14 classes, 5 folds in {seconds:.0f} s"


def hulls() -> str:
    """PUD's 16,854 words in 17 labels: a layer at a step, and at the next, which starts from it."""
    x, y = vectors(16_854, 17)
    labels = np.array([f"l{at:02d}" for at in y])
    gaps, first = timed(lambda: label_hull_distances(x, labels))
    _, second = timed(lambda: label_hull_distances(x + 0.01 * np.roll(x, 1, axis=1), labels, gaps))
    return f"16,854 x 768, 17 labels: {first:.0f} s, and {second:.1f} s a step more; 12 layers and 16 steps x 12 follow"


def clusters() -> str:
    """Labels that overlap: all of 16,000 points in 64 dimensions, and TREC-50's, where one text carries two labels."""
    (x, y), (trec, kinds) = overlapping(16_000, 64, 17), vectors(5452, 50)
    whole, seconds = timed(lambda: probe(x, y))
    trec[1] = trec[0]
    two, second = timed(lambda: probe(trec, kinds))
    return (
        f"16,000 x 64, 17 labels that overlap: {whole.n_clusters} clusters in {seconds:.0f} s; "
        f"5,452 x 768, 50 labels with one point in common: {two.n_clusters} in {second:.0f} s"
    )


def overlapping(n: int, width: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Clouds about centres that are nearer than the clouds are wide."""
    rng, y = np.random.default_rng(0), np.arange(n) % n_labels
    return rng.standard_normal((n, width)) + 0.3 * rng.standard_normal((n_labels, width))[y], y


def edges(n_tokens: int = 2_360_000) -> str:
    """OntoNotes' tokens in 13 layers, from a scratch file: fetching batches of 32 sentences of 20 tokens."""
    shape = (1, 13, n_tokens, WIDTH)
    held, writing = timed(lambda: filled(reading._new_array(shape, np.dtype("float16"))))
    stored, rng = torch.from_numpy(held), np.random.default_rng(0)

    def fetch() -> None:
        for _ in range(100):
            tokens = (rng.integers(0, n_tokens - 20, 32)[:, None] + np.arange(20)).ravel()
            stored.index_select(2, torch.from_numpy(tokens)).float()

    _, seconds = timed(fetch)
    return f"{held.nbytes / 1e9:.0f} GB written in {writing:.0f} s, {10 * seconds:.0f} ms a batch"


def filled(array: np.ndarray) -> np.ndarray:
    part = np.random.default_rng(0).standard_normal((20_000, WIDTH)).astype(array.dtype)
    for layer in array[0]:
        for start in range(0, len(layer), len(part)):
            layer[start : start + len(part)] = part[: len(layer) - start]
    return array


def timed(function: Callable) -> tuple:
    begun = time.monotonic()
    result = function()
    return result, time.monotonic() - begun


if __name__ == "__main__":
    for name in sys.argv[1:] or ("bert", "rsa", "layer_probes", "pca", "hulls", "clusters", "neurons", "edges"):
        said = globals()[name]()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{name}: {said}; at most {peak:.1f} GB so far", flush=True)
