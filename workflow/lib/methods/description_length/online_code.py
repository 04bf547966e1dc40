"""Minimum description length by online coding (Voita & Titov 2020) with the edge probe.

Sender and receiver share the sentences, not the labels. The first portion's labels are sent with a uniform code; then
a probe is trained from scratch on everything sent so far, and the next portion's labels cost their cross-entropy under
it. Everything is in bits (the published code adds nats to bits). The last portion is sent but not trained on.

Choices: portions are of sentences, not targets, because targets of one sentence share tokens; bits are summed over
targets. Early stopping uses dev, as in the published code. The probe ends in a softmax, so that a task can be coded
only if each target has exactly one label.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2

import numpy as np
import torch
from scipy.special import log_softmax
from torch.nn.functional import cross_entropy

from workflow.lib.base.errors import UserError
from workflow.lib.methods.description_length.finished import FinishedPortions
from workflow.lib.methods.edges.examples import Split
from workflow.lib.methods.edges.networks import EdgeProbe, Lane, sizes_of
from workflow.lib.methods.edges.settings import EdgeSettings
from workflow.lib.methods.edges.targets import Targets, label_names
from workflow.lib.methods.edges.training import Task, predict, train


@dataclass(frozen=True)
class Portion:
    start: int
    end: int  # half-open, in shuffled sentences
    n_merged: int  # requested portions in it: more than 1 if several would end at the same sentence, or be empty


def portions_of(n: int, percents: Sequence[float]) -> list[Portion]:
    """Portions of n sentences that end at these `percents`, of which the last must be 100."""
    if sorted(set(percents)) != list(percents) or not percents or percents[0] <= 0 or percents[-1] != 100:
        raise UserError(f"portions must rise from above 0 to 100, not {list(percents)}")
    found, waiting = [], 0
    for end in (int(n * percent / 100 + 1e-9) for percent in percents):
        waiting += 1
        start = found[-1].end if found else 0
        if end > start:
            found.append(Portion(start, end, waiting))
            waiting = 0
        elif found:  # it ends where the previous one does
            found[-1] = Portion(found[-1].start, found[-1].end, found[-1].n_merged + 1)
            waiting = 0
    return found


def has_single_labels(targets: Targets) -> bool:
    return bool((np.bincount(targets.target_of_label, minlength=len(targets.row)) == 1).all())


def label_codes(targets: Targets, names: list[str]) -> np.ndarray:
    """(targets,) number of each target's label; -1: not among these names."""
    number = {name: at for at, name in enumerate(names)}
    return np.array([number.get(name, -1) for name in targets.label], dtype=np.int64)


def bits_of(logits: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(targets,) bits of each label under the softmax of its logits (targets, labels)."""
    return -log_softmax(logits.astype(np.float64), axis=1)[np.arange(len(codes)), codes] / log(2)


def why_not(fitted: Split, dev: Split) -> str:
    """Why a task's labels cannot be coded; empty if they can."""
    if not has_single_labels(fitted.targets) or not has_single_labels(dev.targets):
        return "targets have several labels or none (the paper leaves out SPR for that)"
    names = label_names(fitted.targets)
    return f"the only label is '{names[0]}'" if len(names) < 2 else ""


def online_code(
    fitted: Split,
    dev: Split,
    settings: EdgeSettings,
    percents: Sequence[float],
    shuffle_seed: int,
    seed: int,
    device="cpu",
    finished: FinishedPortions | None = None,
) -> list[list[dict]]:
    """For each model, a row per portion and one for the total: start, end, n_merged, n_targets, bits, ..."""
    if reason := why_not(fitted, dev):
        raise UserError(f"no online code: {reason}")
    names = label_names(fitted.targets)
    order = np.random.default_rng(shuffle_seed).permutation(fitted.n_sentences)
    codes, dev_codes = label_codes(fitted.targets, names), label_codes(dev.targets, names)
    known = dev_codes >= 0  # a label that does not occur in the coded split has no code

    def scores(logits: np.ndarray) -> np.ndarray:
        return -np.array([bits_of(of_lane[known], dev_codes[known]).mean() for of_lane in logits])

    sizes, lanes = sizes_of(fitted, len(names)), [Lane("mix", model) for model in range(len(fitted.vectors))]
    by_portion = []
    for portion in portions_of(fitted.n_sentences, percents):
        if finished and (rows := finished.get(portion.end)):
            by_portion.append(rows)
            continue
        coded = order[portion.start : portion.end]
        targets = fitted.targets_of(coded)
        row = vars(portion) | {"n_targets": len(targets), "bits": len(targets) * log2(len(names)), "epochs": 0.0}
        of_models = [row] * len(lanes)
        if portion.start:
            probes = [EdgeProbe(lane, sizes, settings, seed) for lane in lanes]
            task = Task(fitted, order[: portion.start], torch.from_numpy(codes), cross_entropy, dev, scores)
            trained = train(probes, task, settings, seed, device, from_start=True)
            of_models = [
                row | {"bits": float(bits_of(logits, codes[targets]).sum()), "epochs": epochs}
                for logits, epochs in zip(predict(probes, fitted, coded, device), trained.epochs)
            ]
        by_portion.append(of_models)
        if finished:
            finished.add(portion.end, of_models)
    about = {"n_labels": len(names), "seed": seed}
    return [with_total(list(rows), about) for rows in zip(*by_portion)]


def with_total(portions: list[dict], about: dict) -> list[dict]:
    """A model's portions and their total, each with the length of a uniform code and the compression."""
    total = {name: sum(row[name] for row in portions) for name in ("n_merged", "n_targets", "bits", "epochs")}
    total |= {"start": 0, "end": portions[-1]["end"]}
    rows = [{"part": "portion"} | row for row in portions] + [{"part": "total"} | total]
    for row in rows:
        row["uniform_bits"] = row["n_targets"] * log2(about["n_labels"])
        row["compression"] = row["uniform_bits"] / row["bits"] if row["bits"] else np.inf
    return [row | about for row in rows]
