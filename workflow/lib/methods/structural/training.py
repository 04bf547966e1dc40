"""Train both probes on several layers in one pass over the data; each stops by itself and keeps its best weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from workflow.lib.methods.structural.batches import Batch, batch_of, evaluation_batches
from workflow.lib.methods.structural.gold_trees import Trees
from workflow.lib.methods.structural.lanes import PROBES, Lanes
from workflow.lib.methods.structural.patience import Patience
from workflow.lib.methods.structural.settings import StructuralSettings

Vectors = dict[int, torch.Tensor]  # (words, width) by layer


@dataclass
class Probe:
    """A trained projection: (width, rank) weights of the epoch with the best loss on dev."""

    layer: int
    probe: str  # depth or distance
    weights: torch.Tensor
    dev_loss: float = np.inf
    epochs: int = 0  # until it stopped


class Stack:
    """All lanes of one kind of probe, and the best that each has found."""

    def __init__(self, probe: str, layers: list[int], width: int, settings: StructuralSettings, seed: int, device: str):
        self.lanes = Lanes(probe, layers, width, settings.rank, seed, device)
        self.patience = Patience(len(layers), settings.learning_rate, settings.patience)
        self.probes = {
            layer: Probe(layer, probe, self.lanes.weights[lane].clone()) for lane, layer in enumerate(layers)
        }

    def look_at(self, losses: np.ndarray, epoch: int) -> None:
        """After an epoch: keep what has become better, drop the lanes that have stopped."""
        improved, stops = self.patience.see(losses)
        for lane, layer in enumerate(self.lanes.layers):
            self.probes[layer].epochs = epoch
            if improved[lane]:
                self.probes[layer].weights = self.lanes.weights[lane].clone()
                self.probes[layer].dev_loss = float(losses[lane])
        if stops.any():
            kept = np.flatnonzero(~stops).tolist()
            self.lanes.keep(kept)
            self.patience.keep(kept)


def gather(vectors: Vectors, layers: Sequence[int], batch: Batch) -> torch.Tensor:
    """(layers, words, width)"""
    some = vectors[layers[0]]
    gathered = some.new_empty(len(layers), len(batch.words), some.shape[1])
    for layer, place in zip(layers, gathered):
        torch.index_select(vectors[layer], 0, batch.words, out=place)
    return gathered


def shares(stacks: list[Stack], vectors: Vectors, batch: Batch) -> list[tuple[Lanes, torch.Tensor]]:
    """The lanes with the (lanes, words, width) vectors of their layers: gathered once, and seldom copied."""
    layers = running_layers(stacks)
    gathered = gather(vectors, layers, batch)
    places = ([layers.index(layer) for layer in stack.lanes.layers] for stack in stacks)
    return [
        (stack.lanes, gathered if len(at) == len(layers) else gathered[at]) for stack, at in zip(stacks, places) if at
    ]


def running_layers(stacks: list[Stack]) -> list[int]:
    return sorted({layer for stack in stacks for layer in stack.lanes.layers})


def losses_of(stacks: list[Stack], vectors: Vectors, batches: list[Batch]) -> dict[str, np.ndarray]:
    """Of each kind of probe its lanes' losses."""
    totals = {}
    for batch in batches:
        for lanes, of_lanes in shares(stacks, vectors, batch):
            totals[lanes.probe] = totals.get(lanes.probe, 0) + lanes.losses(of_lanes, batch).double()
    return {probe: total.cpu().numpy() for probe, total in totals.items()}


@torch.no_grad()
def train_probes(
    train: tuple[Vectors, Trees], dev: tuple[Vectors, Trees], settings: StructuralSettings, seed: int
) -> list[Probe]:
    """A depth and a distance probe for each layer of `train`, whose vectors and trees belong together; so for `dev`."""
    (vectors, trees), (dev_vectors, dev_trees) = train, dev
    layers, some = sorted(vectors), next(iter(vectors.values()))
    stacks = [Stack(probe, layers, some.shape[1], settings, seed, some.device) for probe in PROBES]
    dev_batches, rng = evaluation_batches(dev_trees, some.device), np.random.default_rng(seed)
    for epoch in range(1, settings.max_epochs + 1):
        for stack in stacks:
            stack.lanes.set_rates(stack.patience.rates)
        order = rng.permutation(len(trees))
        for sentences in np.split(order, range(settings.batch_size, len(order), settings.batch_size)):
            batch = batch_of(trees, sentences, len(sentences), some.device)
            for lanes, of_lanes in shares(stacks, vectors, batch):
                lanes.update(of_lanes, batch)
        losses = losses_of(stacks, dev_vectors, dev_batches)
        for stack in stacks:
            if stack.lanes.layers:
                stack.look_at(losses[stack.lanes.probe], epoch)
        if not running_layers(stacks):
            break
    return [stack.probes[layer] for layer in layers for stack in stacks]
