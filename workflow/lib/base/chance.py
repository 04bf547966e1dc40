"""Models that learnt nothing: no better on the test rows than always saying their most frequent label.

Told by accuracy, whatever a task's metric is, of models whose answers are stored row by row (classifiers).
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from workflow.lib.base.tables import read_table
from workflow.lib.base.verdicts import HOLDS, Estimate


def most_frequent(truth: np.ndarray, n_labels: int = 1) -> np.ndarray:
    """Which rows have the label that most of them have, or one of the `n_labels` most frequent ones."""
    labels, counts = np.unique(truth, return_counts=True)
    return np.isin(truth, labels[np.argsort(-counts, kind="stable")[:n_labels]])


def at_chance(metrics: pd.DataFrame) -> list[str]:
    """In words, the models (rows of `metrics`) of whose lead over the guess the 95 % interval does not lie above 0."""
    found = []
    for model in metrics.to_dict("records"):
        truth, answer = np.asarray(model["row_truth"]), np.asarray(model["row_guess"])
        right, guess = truth == answer, most_frequent(truth)
        if Estimate.of_rows([right.astype(float) - guess]).side() != HOLDS:
            name = f"{model['task']} of {model['encoder']} (seed {model['seed']})"
            found.append(f"{name}: {right.mean():.2f} against {guess.mean():.2f}")
    return found


def of_models(files: Iterable[str], models: Iterable[str]) -> list[str]:
    """The same from the files of scores of these models."""
    paths = {"/".join(Path(file).parts[-2:]).removesuffix(".metrics.parquet"): file for file in files}
    tables = [read_table(paths[model]) for model in models]
    return [said for table in tables if "row_truth" in table for said in at_chance(table)]
