"""Chosen neurons scored on test rows, beside all dimensions together."""

from workflow.lib.activations.text_vectors import TaskVectors
from workflow.lib.methods.linear import common_scale_of, fit_softmax
from workflow.lib.methods.neurons.search import greedy_search


def search_and_test(task: TaskVectors, settings: dict, seed: int, device: str) -> list[dict]:
    """Select neurons by cross-validation on train; each set along the way is fitted on all of train, scored on test."""
    n_classes, c = len(task.labels), settings["regularisation"]
    n_neurons = max(settings["neurons"], n_classes)
    found = greedy_search(
        task.train, task.train_labels, n_classes, n_neurons,
        n_folds=settings["folds"], seed=seed, c=c, max_rows=settings["rows"], device=device,
    )  # fmt: skip
    chosen: list[int] = []
    for row in found:
        chosen.append(row["neuron"])
        row |= accuracy_of(task, chosen, c)
    # step 0 stands for all dimensions at once: the classifier that the curves over principal components end in, in
    # which all dimensions share one scale
    everything = accuracy_of(task, list(range(task.train.shape[1])), c, common_scale_of(task.train))
    return [{"step": 0, "neuron": -1, "cv_accuracy": float("nan")} | everything, *found]


def accuracy_of(task: TaskVectors, neurons: list[int], c: float, scale: float | None = None) -> dict:
    """Test accuracy, and which rows were right."""
    model = fit_softmax(task.train[:, neurons], task.train_labels, c, common_scale=scale)
    right = model.predict(task.test[:, neurons]) == task.test_labels
    return {"test_accuracy": float(right.mean()), "right": right}
