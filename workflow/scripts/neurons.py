"""Salient neurons of the last layer's [CLS] vector: selected greedily, and each one alone."""

import numpy as np

from workflow.lib.activations.text_vectors import TaskVectors
from workflow.lib.methods.linear import common_scale_of, fit_softmax
from workflow.lib.methods.neurons.search import greedy_search, single_neuron_accuracies


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


def each_alone(task: TaskVectors, c: float, device: str) -> list[dict]:
    rows = task.train, task.train_labels, task.test, task.test_labels
    scores = single_neuron_accuracies(*rows, len(task.labels), c=c, device=device)
    return [{"neuron": neuron, "accuracy": float(score)} for neuron, score in enumerate(scores)]


def activations_by_class(task: TaskVectors, neuron: int) -> list[dict]:
    names = np.array(task.labels)[task.test_labels]
    return [{"label": str(name), "activation": float(value)} for name, value in zip(names, task.test[:, neuron])]


if __name__ == "__main__":
    import torch

    from workflow.lib.activations.text_vectors import task_vectors
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import model_of, target_of
    from workflow.lib.base.tables import write_table
    from workflow.lib.encoders.device import choose_device, with_float64

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    device = with_float64(choose_device(snakemake.resources.gpu))
    inputs, outputs, settings, seed = (
        snakemake.input,
        snakemake.output,
        snakemake.params.settings,
        snakemake.params.seed,
    )
    for (item, rows), greedy, alone, best in zip(
        snakemake.params.work.items(), outputs.greedy, outputs.alone, outputs.best
    ):
        about = {"model": model_of(item), "task": target_of(item)}
        task = task_vectors(inputs.activations, inputs.data, model_of(item), rows)
        found = search_and_test(task, settings, seed, device)
        write_table([{"n_classes": len(task.labels), **row} for row in found], greedy, **about)
        write_table(each_alone(task, settings["regularisation"], device), alone, **about)
        write_table(activations_by_class(task, found[1]["neuron"]), best, **about)
        log.info("%s: all %.4f, best neuron %.4f", item, found[0]["test_accuracy"], found[1]["test_accuracy"])
