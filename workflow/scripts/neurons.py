"""Salient neurons of the last layer's [CLS] vector: selected greedily, and each one alone."""

import numpy as np

from workflow.lib.activations.text_vectors import TaskVectors
from workflow.lib.methods.neurons.scored import search_and_test
from workflow.lib.methods.neurons.search import single_neuron_accuracies


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
