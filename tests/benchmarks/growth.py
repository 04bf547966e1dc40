"""How time and memory of every stage grow with rows, width and layers: fitted exponents, and a picture.

    python -m tests.benchmarks.growth            writes docs/growth.md and docs/growth.svg
    python -m tests.benchmarks.growth <stage> …  prints measurements of these alone

Each measurement is a process of its own, on one core, with random data: seconds of processor time, and the largest
memory beyond that of a process that only imported. An exponent of 1: twice the size takes twice as much.
"""

import resource
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context

import numpy as np
import pandas as pd
import torch
from transformers import BertConfig, BertModel

from tests.benchmarks.bench_structural import random_treebank
from workflow.lib.base.digests import ROOT
from workflow.lib.methods.directprobe.clustering import probe
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances
from workflow.lib.methods.edges.examples import Split
from workflow.lib.methods.edges.networks import Lane
from workflow.lib.methods.edges.scored_task import probe_task
from workflow.lib.methods.edges.settings import EdgeSettings
from workflow.lib.methods.edges.targets import Targets
from workflow.lib.methods.layer_probes.short_training import train_short
from workflow.lib.methods.linear import fit_softmax
from workflow.lib.methods.mlp.grid import probe_grid
from workflow.lib.methods.neurons.search import greedy_search
from workflow.lib.methods.pca.principal_axes import principal_axes
from workflow.lib.methods.rsa.similarity import similarity
from workflow.lib.methods.structural.settings import StructuralSettings
from workflow.lib.methods.structural.training import train_probes
from workflow.lib.plotting.figures import new_figure, plt

MIDDLE = {"rows": 4000, "width": 256, "layers": 4}
FACTORS = (0.5, 1, 2, 4)
TEXT = """\
# How stages grow

Made by `python -m tests.benchmarks.growth`, on one core: fitted exponents between half and four times {rows} rows,
{width} dimensions and {layers} layers. 1: twice the size takes twice as much. Below 1: a part that does not grow.
Random data; fine-tuning and activations are bare loops with the same model, rows are sentences, texts, words or tokens,
as the stage has them. Clusters: a quarter of the rows, a sixteenth of the dimensions, labels that overlap. Layer
probes' converged classifier needs more iterations at some sizes than at others.

![Time and memory by size](growth.svg)

"""
PAGE, PICTURE = ROOT / "docs/growth.md", ROOT / "docs/growth.svg"


def classes(rows: int, width: int, n: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(rows) % n
    return (rng.standard_normal((rows, width)) + 3 * rng.standard_normal((n, width))[y] / width**0.5).astype(
        np.float32
    ), y


def bert(width: int, layers: int) -> BertModel:
    shape = {"hidden_size": width, "num_hidden_layers": layers, "intermediate_size": 4 * width}
    return BertModel(BertConfig(vocab_size=1000, num_attention_heads=max(1, width // 64), **shape))


def fine_tuning(rows: int, width: int, layers: int) -> None:
    model, ids = bert(width, layers), torch.randint(0, 1000, (32, 16))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(rows // 400):
        model(ids).last_hidden_state[:, 0].sum().backward()
        optimizer.step()
        optimizer.zero_grad()


@torch.inference_mode()
def activations(rows: int, width: int, layers: int) -> None:
    model, ids = bert(width, layers), torch.randint(0, 1000, (64, 16))
    held = [model(ids, output_hidden_states=True).hidden_states for _ in range(rows // 400)]
    np.concatenate([torch.stack(states)[:, :, 0].numpy() for states in held], axis=1)


def pca(rows: int, width: int, layers: int) -> None:
    x, y = classes(rows, width)
    axes = principal_axes(x)
    for n in (1, 5, 25):
        fit_softmax(axes.project(x, n), y)


def neurons(rows: int, width: int, layers: int) -> None:
    x, y = classes(rows, width)
    greedy_search(x, y, 4, 2, n_folds=3)


def rsa(rows: int, width: int, layers: int) -> None:
    for _ in range(layers):
        x = classes(rows, width)[0]
        similarity(x, x + 0.1 * np.roll(x, 1, axis=1))


def hulls(rows: int, width: int, layers: int) -> None:
    x, y = classes(rows // 2, width)
    for _ in range(layers):
        label_hull_distances(x, y.astype(str))


def clusters(rows: int, width: int, layers: int) -> None:
    """Labels at random, so that they overlap: a quarter of the rows, a sixteenth of the dimensions."""
    rng = np.random.default_rng(0)
    probe(rng.standard_normal((rows // 4, width // 16)).astype(np.float32), np.arange(rows // 4) % 4)


def structural(rows: int, width: int, layers: int) -> None:
    rng = np.random.default_rng(0)
    trees = random_treebank(rows // 20, 12, rng)
    vectors = {at: torch.from_numpy(rng.standard_normal((trees.length.sum(), width)).astype(np.float32))
               for at in range(layers)}  # fmt: skip
    train_probes((vectors, trees), (vectors, trees), StructuralSettings(rank=32, max_epochs=2), 0)


def edges(rows: int, width: int, layers: int) -> None:
    """Two epochs of single words."""
    n, rng = rows // 4, np.random.default_rng(0)
    vectors = torch.from_numpy(rng.standard_normal((1, layers, n, width)).astype(np.float32))
    names = np.array([f"l{at % 5}" for at in range(n)], dtype=object)
    at = np.arange(n)
    targets = Targets(row=at, start=at[None] * 0, end=at[None] * 0 + 1, label=names, target_of_label=at)
    split = Split(vectors, np.arange(n + 1), np.arange(n + 1), at[None], np.ones((1, n), np.int64), targets)
    settings = EdgeSettings(projection=64, hidden=64, validate_every=-(-n // 32), max_validations=2)
    probe_task(split, split, split, [Lane("mix"), Lane("top")], settings, 0)


def layer_probes(rows: int, width: int, layers: int) -> None:
    x, y = classes(rows, width)
    train_short([x] * layers, y, 4, learning_rate=1e-3, epochs=2, batch_size=32, seed=[0])
    for _ in range(layers):
        fit_softmax(x, y)


def mlp(rows: int, width: int, layers: int) -> None:
    x, y = classes(rows // 2, width)
    probe_grid(x, y, x, y, {"sizes": [32], "alphas": [1e-4], "max_epochs": 6, "n_seeds": 1})


STAGES: dict[str, tuple[Callable, tuple[str, ...]]] = {
    "fine-tuning": (fine_tuning, ("rows", "width", "layers")),
    "activations": (activations, ("rows", "width", "layers")),
    "PCA": (pca, ("rows", "width")),
    "neurons": (neurons, ("rows", "width")),
    "RSA": (rsa, ("rows", "width", "layers")),
    "hull distances": (hulls, ("rows", "width", "layers")),
    "clusters of overlapping labels": (clusters, ("rows", "width")),
    "structural probes": (structural, ("rows", "width", "layers")),
    "edge probes": (edges, ("rows", "width", "layers")),
    "layer probes": (layer_probes, ("rows", "width", "layers")),
    "MLP": (mlp, ("rows", "width")),
}


def _measure(stage: Callable | None, size: dict, answer) -> None:
    torch.set_num_threads(1)
    begun = time.process_time()
    if stage:
        stage(**size)
    answer.put((time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3))


def measure(stage: Callable | None, size: dict) -> tuple[float, float]:
    """Processor seconds and megabytes, in a process of its own."""
    context = get_context("fork")
    answer = context.SimpleQueue()
    child = context.Process(target=_measure, args=(stage, size, answer))
    child.start()
    found = answer.get()
    child.join()
    return found


def exponent(sizes: pd.Series, values: pd.Series) -> float:
    """The slope in double logarithms; NaN where there is next to nothing to measure."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) if (values > 0).all() else float("nan")


def draw(found: pd.DataFrame) -> None:
    figure, panels = new_figure(5.0, 9.0, nrows=2, ncols=3, sharey="row")
    for column, axis in enumerate(("rows", "width", "layers")):
        of_axis = found[found["axis"] == axis]
        sizes = sorted(of_axis["size"].unique())
        for panel, what in zip(panels[:, column], ("seconds", "megabytes")):
            for name, part in of_axis.groupby("stage", sort=False):
                color = f"C{list(STAGES).index(name)}"
                panel.plot(part["size"], part[what], marker="o", markersize=3, label=name, color=color)
            panel.set(xscale="log", yscale="log", xlabel=axis if what == "megabytes" else "")
            panel.minorticks_off()
            panel.set_xticks(sizes, labels=[f"{size:,}" for size in sizes])
    panels[0][0].set_ylabel("processor seconds")
    panels[1][0].set_ylabel("memory in MB")
    lines = panels[0][0].get_legend_handles_labels()  # not every stage has layers
    panels[0][2].legend(*lines, fontsize="x-small", loc="center left", bbox_to_anchor=(1.02, 0.0))
    figure.savefig(PICTURE, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    _, nothing = measure(None, {})
    rows = []
    for name, (stage, axes) in STAGES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        for axis in axes:
            for factor in FACTORS:
                size = MIDDLE | {axis: int(MIDDLE[axis] * factor)}
                seconds, megabytes = measure(stage, size)
                rows.append({"stage": name, "axis": axis, "size": size[axis], "seconds": seconds,
                             "megabytes": max(megabytes - nothing, 1.0)})  # fmt: skip
                print(rows[-1], flush=True)
    if sys.argv[1:]:
        sys.exit()
    found = pd.DataFrame(rows)
    lines = ["| stage | seconds by rows | by width | by layers | memory by rows | by width | by layers |",
             "| --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for name in STAGES:
        of_stage = found[found["stage"] == name]
        cells = []
        for what in ("seconds", "megabytes"):
            for axis in ("rows", "width", "layers"):
                part = of_stage[of_stage["axis"] == axis]
                cells.append(f"{exponent(part['size'], part[what]):.1f}" if len(part) else "")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    draw(found)
    PAGE.write_text(TEXT.format(**MIDDLE) + "\n".join(lines) + "\n")
