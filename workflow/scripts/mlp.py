"""The classifier probe on the last layer: an MLP whose sizes and penalty are selected on a hold-out of train."""

import torch

from workflow.lib.activations.labelled_vectors import labelled_vectors
from workflow.lib.methods.mlp.grid import probe_grid

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import model_of, target_of
    from workflow.lib.base.tables import write_table
    from workflow.lib.encoders.device import choose_device

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    device = choose_device(snakemake.resources.gpu)
    inputs, outputs, params = snakemake.input, snakemake.output, snakemake.params
    for (item, rows), accuracy, grid in zip(params.work.items(), outputs.accuracy, outputs.grid):
        train, test = (
            labelled_vectors(inputs.activations, inputs.data, model_of(item), rows, split)
            for split in ("train", "test")
        )
        last, names = train.last, sorted({*train.labels, *test.labels})
        number = {name: at for at, name in enumerate(names)}
        y_train, y_test = ([number[name] for name in units.labels] for units in (train, test))
        points = train.layer(last), y_train, test.layer(last), y_test
        result = probe_grid(*points, params.settings, seed=params.seed, device=device)
        about = {"model": model_of(item), "task": target_of(item), "layer": last}
        best = {name: result.best[name] for name in ("first", "second", "alpha")}
        of_grid = {"n_configurations": len(result.rows), "grid_stopping": params.settings["grid_stopping"]}
        tested = [
            best | of_grid | {"probe_seed": seed, "accuracy": value}
            for seed, value in enumerate(result.test_accuracies)
        ]
        write_table(tested, accuracy, **about)
        write_table(result.rows, grid, **about)
        log.info("%s: %.4f, best %s", item, result.mean, best)
