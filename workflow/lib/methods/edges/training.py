"""Train the probes of a task until each has stopped by its own rule, and keep the best state of each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from workflow.lib.methods.edges.examples import Batch, Split
from workflow.lib.methods.edges.networks import Probes
from workflow.lib.methods.edges.progress import Progress

EVALUATED_AT_ONCE = 128  # sentences


@dataclass(frozen=True)
class Lesson:
    """What to learn from, and how that is judged."""

    split: Split
    sentences: np.ndarray  # those of the split that are trained on
    gold: torch.Tensor  # a row per target of the split
    slope: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # logits (m, g, labels), gold -> gradient by the logits
    dev: Split
    scores: Callable[[np.ndarray], np.ndarray]  # logits (m, g, labels) of all of dev -> (m,), higher is better


@dataclass(frozen=True)
class Trained:
    """Per probe, when it was best and how good. It is left in that state."""

    epochs: list[float]
    scores: list[float]


def train(probes: Probes, lesson: Lesson, seed: int, from_start: bool = False) -> Trained:
    """`from_start`: the probes' first state counts too. (Not by F1: guesses beat probes that are still cautious.)"""
    settings, lanes = probes.settings, probes.lanes
    batches = shuffled(lesson.sentences, settings.batch_size, seed)
    progress, running = Progress(len(lanes), settings), np.arange(len(lanes))
    best, updates, scores = probes.parameters.clone(), np.zeros(len(lanes)), np.zeros(len(lanes))
    gold = lesson.gold.to(probes.device)
    for validation in range(0 if from_start else 1, settings.max_validations + 1):
        for _ in range(settings.validate_every if validation else 0):
            vectors, batch = fetched(lesson.split, next(batches), probes.device)
            passed = probes.forward(vectors, batch, training=True)
            slope = lesson.slope(passed.logits, gold.index_select(0, batch.target))
            probes.backward(vectors, batch, passed, slope)
            probes.update(progress.rates)
        reached = lesson.scores(predict(probes, lesson.dev, np.arange(lesson.dev.n_sentences)))
        better, stops = progress.see(reached)
        best[running[better]] = probes.parameters[np.flatnonzero(better)]
        updates[running[better]] = validation * settings.validate_every
        scores[running[better]] = reached[better]
        if stops.all():
            break
        if stops.any():
            running = running[~stops]
            probes.keep(np.flatnonzero(~stops).tolist())
            progress.keep(~stops)
    probes.put(lanes, best)
    epochs = updates / -(-len(lesson.sentences) // settings.batch_size)
    return Trained(epochs.tolist(), scores.tolist())


def predict(probes: Probes, split: Split, sentences: np.ndarray) -> np.ndarray:
    """(m, targets, labels) logits of these sentences' targets."""
    parts = [sentences[start : start + EVALUATED_AT_ONCE] for start in range(0, len(sentences), EVALUATED_AT_ONCE)]
    logits = [probes.forward(*fetched(split, part, probes.device), training=False).logits for part in parts]
    return torch.cat(logits, dim=1).cpu().numpy()


def shuffled(sentences: np.ndarray, batch_size: int, seed: int) -> Iterator[np.ndarray]:
    """Batches without end, epoch after epoch in a new order."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(sentences)
        yield from (order[start : start + batch_size] for start in range(0, len(order), batch_size))


def fetched(split: Split, sentences: np.ndarray, device: str) -> tuple[torch.Tensor, Batch]:
    """The vectors (n, l, t, w) of these sentences' tokens, and the spans in them."""
    batch = split.batch(sentences)
    return split.vectors.index_select(2, batch.token).to(device).float(), batch.to(device)
