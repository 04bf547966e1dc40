"""Trains both probes on several layers in one pass over the data; each stops on its own and keeps its best weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from workflow.lib.base.work import count
from workflow.lib.methods.structural.batches import Batch, batch_of, evaluation_batches
from workflow.lib.methods.structural.gold_trees import Trees
from workflow.lib.methods.structural.losses import LOSSES
from workflow.lib.methods.structural.probes import PROBES, StructuralProbe, project
from workflow.lib.methods.structural.settings import StructuralSettings

Vectors = dict[int, torch.Tensor]  # (words, width) by layer
MIN_IMPROVEMENT = 1e-4  # of the dev loss, for early stopping (as in Hewitt and Manning's code)


@dataclass
class Probe:
    """A trained projection: (width, rank) weights of the epoch with the best dev loss."""

    layer: int
    probe: str  # depth or distance
    weights: torch.Tensor
    dev_loss: float = np.inf
    epochs: int = 0  # until it stopped


class Training:
    """A probe, its optimiser, its learning-rate schedule and the best weights so far."""

    def __init__(self, probe: StructuralProbe, settings: StructuralSettings):
        self.probe, self.patience = probe, settings.patience
        self.optimiser = torch.optim.Adam(probe.parameters(), lr=settings.learning_rate, fused=True)
        # divides the rate by 10 after every epoch whose dev loss is not below the best by 1e-4 of it
        self.schedule = ReduceLROnPlateau(self.optimiser, factor=0.1, patience=0, threshold=1e-4)
        self.best = Probe(probe.layer, probe.probe, probe.projection.detach().clone())
        self.epochs_without_improvement = 0

    @property
    def stopped(self) -> bool:
        return self.epochs_without_improvement >= self.patience

    def end_epoch(self, dev_loss: float) -> None:
        self.schedule.step(dev_loss)
        self.best.epochs += 1
        self.epochs_without_improvement += 1
        if dev_loss < self.best.dev_loss - MIN_IMPROVEMENT:
            self.epochs_without_improvement = 0
            self.best.dev_loss = dev_loss
            self.best.weights = self.probe.projection.detach().clone()


def losses_of(running: Sequence[Training], vectors: Vectors, batch: Batch) -> torch.Tensor:
    """(running,) losses on a batch, depth probes before distance probes. Vectors are gathered once for both."""
    probes = [each.probe for each in running]
    layers = sorted({probe.layer for probe in probes})
    gathered = torch.stack([vectors[layer].index_select(0, batch.words) for layer in layers])
    losses = []
    for kind in PROBES:
        of_kind = [probe for probe in probes if probe.probe == kind]
        if of_kind:
            places = [layers.index(probe.layer) for probe in of_kind]
            own_layers = gathered if len(places) == len(layers) else gathered[places]
            losses.append(LOSSES[kind](project(of_kind, own_layers), batch))
    return torch.cat(losses)


def train_probes(
    train: tuple[Vectors, Trees], dev: tuple[Vectors, Trees], settings: StructuralSettings, seed: int
) -> list[Probe]:
    """A depth and a distance probe for each layer. `train` and `dev` are vectors by layer, and the matching trees."""
    (vectors, trees), (dev_vectors, dev_trees) = train, dev
    width, device = next(iter(vectors.values())).shape[1], next(iter(vectors.values())).device
    trainings = [
        Training(StructuralProbe(width, settings.rank, layer, probe, seed).to(device), settings)
        for probe in PROBES
        for layer in sorted(vectors)
    ]
    dev_batches, rng = evaluation_batches(dev_trees, device), np.random.default_rng(seed)
    for _ in range(settings.max_epochs):
        running = [each for each in trainings if not each.stopped]
        if not running:
            break
        order = rng.permutation(len(trees))
        for sentences in np.split(order, range(settings.batch_size, len(order), settings.batch_size)):
            batch = batch_of(trees, sentences, len(sentences), device)
            losses_of(running, vectors, batch).sum().backward()
            for each in running:
                each.optimiser.step()
                each.optimiser.zero_grad()
            count("probe_steps", len(running))
        with torch.no_grad():
            dev_losses = sum(losses_of(running, dev_vectors, batch).double() for batch in dev_batches)
        for each, dev_loss in zip(running, dev_losses.tolist()):
            each.end_epoch(dev_loss)
    count("fits", len(trainings))
    return sorted((each.best for each in trainings), key=lambda probe: (probe.layer, PROBES.index(probe.probe)))
