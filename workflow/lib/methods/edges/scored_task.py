"""Probes a task: train on train, select on dev, score on test.

Labels are those of train, sorted. A label that occurs only in dev or test cannot be predicted, and counts as missed
(jiant gives it an output that is never trained to be positive, which is equivalent).
"""

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from workflow.lib.methods.edges.examples import Split
from workflow.lib.methods.edges.networks import EdgeProbe, Lane, sizes_of
from workflow.lib.methods.edges.scores import all_scores, micro_f1
from workflow.lib.methods.edges.settings import EdgeSettings
from workflow.lib.methods.edges.targets import label_matrix, label_names
from workflow.lib.methods.edges.training import Task, predict, train


def predicted_labels(logits: np.ndarray, n_names: int) -> np.ndarray:
    """(targets, names) True where a logit is 0 or more; always False for labels that do not occur in train."""
    lacking = n_names - logits.shape[1]
    return np.pad(logits >= 0, ((0, 0), (0, lacking)))


def names_with_unseen(names: list[str], split: Split) -> list[str]:
    return names + sorted(set(split.targets.label) - set(names))


def probe_task(
    fitted: Split, dev: Split, test: Split, lanes: list[Lane], settings: EdgeSettings, seed: int, device: str = "cpu"
) -> list[dict]:
    """One row of scores per lane, whose input is mix (all layers), top (the last layer) or lexical (layer 0)."""
    names = label_names(fitted.targets)
    gold = torch.from_numpy(label_matrix(fitted.targets, names)).float()
    of_dev, of_test = names_with_unseen(names, dev), names_with_unseen(names, test)
    gold_dev, gold_test = label_matrix(dev.targets, of_dev), label_matrix(test.targets, of_test)

    def scores(logits: np.ndarray) -> np.ndarray:
        return np.array([micro_f1(gold_dev, predicted_labels(of_lane, len(of_dev)))[0] for of_lane in logits])

    sizes = sizes_of(fitted, len(names))
    probes = [EdgeProbe(lane, sizes, settings, seed) for lane in lanes]
    task = Task(fitted, np.arange(fitted.n_sentences), gold, binary_cross_entropy_with_logits, dev, scores)
    trained = train(probes, task, settings, seed, device)
    logits = predict(probes, test, device=device)
    about = {"n_targets": test.n_targets, "n_labels": len(names)}
    return [
        {"input": lane.input}
        | all_scores(gold_test, predicted_labels(of_lane, len(of_test)), of_test)
        | about
        | {"dev_f1": score, "epochs": epochs, "seed": seed}
        for lane, of_lane, score, epochs in zip(lanes, logits, trained.scores, trained.epochs)
    ]
