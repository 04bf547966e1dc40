"""Trains the probes of a task side by side until each has met its stopping rule, and keeps each probe's best state."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import ReduceLROnPlateau

from workflow.lib.base.work import count
from workflow.lib.methods.edges.examples import Batch, Split
from workflow.lib.methods.edges.networks import EdgeProbe, draw_masks, logits_of
from workflow.lib.methods.edges.settings import EdgeSettings

EVALUATED_AT_ONCE = 128  # sentences
AMSGRAD = True


@dataclass(frozen=True)
class Task:
    """Training data, loss, and the validation score."""

    split: Split
    sentences: np.ndarray  # the split's sentences to train on
    gold: torch.Tensor  # a row per target of the split
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # mean over targets, of logits (g, labels) and gold
    dev: Split
    scores: Callable[[np.ndarray], np.ndarray]  # logits (m, g, labels) of dev -> (m,), higher is better


class Training:
    """A probe, its optimiser, its learning-rate schedule and the best state so far."""

    def __init__(self, probe: EdgeProbe, settings: EdgeSettings):
        self.probe, self.settings, self.parameters = probe, settings, list(probe.parameters())
        self.optimiser = torch.optim.Adam(self.parameters, lr=settings.learning_rate, amsgrad=AMSGRAD, fused=True)
        self.schedule = ReduceLROnPlateau(
            self.optimiser,
            mode="max",
            factor=0.5,
            patience=settings.learning_rate_patience,
            threshold=1e-4,
            threshold_mode="abs",
            eps=0,
        )
        self.best_state, self.best_score, self.best_update = None, -np.inf, 0
        self.validations_without_improvement = 0

    def update(self) -> None:
        """An optimiser step with the accumulated gradients, clipped."""
        clip_grad_norm_(self.parameters, self.settings.clip_norm)
        self.optimiser.step()
        self.optimiser.zero_grad()
        count("probe_steps")

    def validate(self, score: float, n_updates: int) -> None:
        self.schedule.step(score)
        self.validations_without_improvement += 1
        if score > self.best_score:
            self.best_state = {name: value.clone() for name, value in self.probe.state_dict().items()}
            self.best_score, self.best_update = score, n_updates
            self.validations_without_improvement = 0

    @property
    def stopped(self) -> bool:
        return (
            self.validations_without_improvement >= self.settings.patience
            or self.optimiser.param_groups[0]["lr"] < self.settings.min_learning_rate
        )


@dataclass(frozen=True)
class Trained:
    """Epoch and score of each probe's best state, in which it is left."""

    epochs: list[float]
    scores: list[float]


def train(
    probes: Sequence[EdgeProbe], task: Task, settings: EdgeSettings, seed: int, device: str = "cpu", from_start=False
) -> Trained:
    """Train probes in place. `from_start`: the initial state is a candidate for the best one too. (Not with F1: random
    guesses beat probes that still predict few labels.)"""
    trainings = [Training(probe.to(device), settings) for probe in probes]
    batches = shuffled(task.sentences, settings.batch_size, seed)
    generator, gold = torch.Generator(device).manual_seed(seed), task.gold.to(device)
    running = trainings
    for validation in range(0 if from_start else 1, settings.max_validations + 1):
        for _ in range(settings.validate_every if validation else 0):
            vectors, batch = fetched(task.split, next(batches), device)
            masks = draw_masks(batch, vectors.shape[3], settings, generator)
            logits = logits_of([each.probe for each in running], vectors, batch, masks)
            labels = gold.index_select(0, batch.target)
            mean_loss = task.loss(logits.flatten(0, 1), torch.cat([labels] * len(running)))
            (len(running) * mean_loss).backward()  # the sum of the probes' losses, so each gets its own gradient
            for each in running:
                each.update()
        scores = task.scores(predict([each.probe for each in running], task.dev, device=device))
        for each, score in zip(running, scores):
            each.validate(float(score), validation * settings.validate_every)
        running = [each for each in running if not each.stopped]
        if not running:
            break
    for each in trainings:
        if each.best_state:
            each.probe.load_state_dict(each.best_state)
    count("fits", len(probes))
    updates_per_epoch = -(-len(task.sentences) // settings.batch_size)
    return Trained(
        [each.best_update / updates_per_epoch for each in trainings], [each.best_score for each in trainings]
    )


@torch.no_grad()
def predict(
    probes: Sequence[EdgeProbe], split: Split, sentences: np.ndarray | None = None, device: str = "cpu"
) -> np.ndarray:
    """(m, targets, labels) logits of the targets of these sentences, or of all."""
    sentences = np.arange(split.n_sentences) if sentences is None else sentences
    parts = [sentences[start : start + EVALUATED_AT_ONCE] for start in range(0, len(sentences), EVALUATED_AT_ONCE)]
    return torch.cat([logits_of(probes, *fetched(split, part, device)) for part in parts], dim=1).cpu().numpy()


def shuffled(sentences: np.ndarray, batch_size: int, seed: int) -> Iterator[np.ndarray]:
    """Endless batches of sentences, reshuffled every epoch."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(sentences)
        yield from (order[start : start + batch_size] for start in range(0, len(order), batch_size))


def fetched(split: Split, sentences: np.ndarray, device: str) -> tuple[torch.Tensor, Batch]:
    """The vectors (n, l, t, w) of these sentences' tokens, and their batch of spans."""
    batch = split.batch(sentences)
    return split.vectors.index_select(2, batch.token).to(device).float(), batch.to(device)
