"""Greedy forward search for the few neurons that carry a task, by cross-validated accuracy (Matton & de Oliveira 2019).

A step scores every remaining neuron together with those already selected, all at once (`candidate_accuracies`). Its
cost grows with rows x dimensions x classes x folds; the number of selected neurons adds only small matrix products.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import resample

from workflow.lib.base.errors import UserError
from workflow.lib.methods.neurons.heldout_accuracy import Split, candidate_accuracies
from workflow.lib.methods.scaling import mean_and_scale


def stratified_folds(y: np.ndarray, n_folds: int, seed: int, n_classes: int = 0) -> np.ndarray:
    """The fold in which each row is held out. `n_classes`: the expected number of classes, even if `y` has fewer."""
    for label, count in enumerate(np.bincount(y, minlength=n_classes)):
        if count < n_folds:
            raise UserError(
                f"class {label} has {count} examples, fewer than n_folds={n_folds}: every fold must hold each class "
                "(use fewer folds or more rows)"
            )
    folds = np.empty(len(y), dtype=np.int64)
    splits = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y)
    for fold, (_, held_out) in enumerate(splits):
        folds[held_out] = fold
    return folds


def stratified_rows(y: np.ndarray, max_rows: int | None, seed: int) -> np.ndarray:
    """Sorted indices of a stratified sample of at most `max_rows` rows."""
    if max_rows is None or len(y) <= max_rows:
        return np.arange(len(y))
    return np.sort(resample(np.arange(len(y)), replace=False, n_samples=max_rows, stratify=y, random_state=seed))


def cross_validated_accuracies(
    x: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    selected: list[int],
    folds: np.ndarray,
    c: float = 1.0,
    device: str = "cpu",
    memory_gib: float = 1.0,
) -> np.ndarray:
    """(d,) mean accuracy over held-out folds of a classifier on `selected` + [j]; NaN if j is already selected."""
    blocks = [(x[folds == fold], y[folds == fold]) for fold in np.unique(folds)]
    splits = [Split([i for i in range(len(blocks)) if i != scored], scored) for scored in range(len(blocks))]
    return candidate_accuracies(blocks, splits, n_classes, list(selected), *mean_and_scale(x), c, device, memory_gib)


def single_neuron_accuracies(
    x_train: np.ndarray,
    y_train: np.ndarray,
    x_test: np.ndarray,
    y_test: np.ndarray,
    n_classes: int,
    c: float = 1.0,
    device: str = "cpu",
    memory_gib: float = 1.0,
) -> np.ndarray:
    """(d,) test accuracies of classifiers on a single neuron."""
    blocks, splits = [(x_train, y_train), (x_test, y_test)], [Split(fitted=[0], scored=1)]
    return candidate_accuracies(blocks, splits, n_classes, [], *mean_and_scale(x_train), c, device, memory_gib)


def greedy_search(
    x: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    n_neurons: int,
    n_folds: int = 5,
    seed: int = 0,
    c: float = 1.0,
    device: str = "cpu",
    max_rows: int | None = None,
    memory_gib: float = 1.0,
) -> list[dict]:
    """Add the neuron with the best cross-validated accuracy, `n_neurons` times; ties go to the lowest index."""
    rows = stratified_rows(y, max_rows, seed)
    x, y = x[rows], y[rows]
    folds = stratified_folds(y, n_folds, seed, n_classes)
    selected, found = [], []
    for step in range(1, min(n_neurons, x.shape[1]) + 1):
        accuracies = cross_validated_accuracies(x, y, n_classes, selected, folds, c, device, memory_gib)
        neuron = int(np.nanargmax(np.round(accuracies, 12)))  # equal sums of fractions may differ in the last bit
        selected.append(neuron)
        found.append({"step": step, "neuron": neuron, "cv_accuracy": float(accuracies[neuron])})
    return found
