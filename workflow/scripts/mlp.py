"""The classifier probe on the last layer: a two-layer network, its sizes and penalty chosen on a hold-out of train."""

import torch

from workflow.lib.activations.labelled_vectors import points_of_task
from workflow.lib.methods.mlp.grid import probe_grid

if __name__ == "__main__":
    from workflow.lib.activations.cache import cache_of
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    inputs, settings = snakemake.input, snakemake.params.settings
    cache = cache_of(snakemake.input.activations, snakemake.wildcards.model)
    accuracies, grid = [], []
    for task, place in snakemake.params.tasks.items():
        train, test = (points_of_task(cache, inputs.data, place, split) for split in ("train", "test"))
        last, names = train.n_layers, sorted({*train.labels, *test.labels})
        number = {name: at for at, name in enumerate(names)}
        y_train, y_test = ([number[name] for name in units.labels] for units in (train, test))
        result = probe_grid(
            train.layer(last), y_train, test.layer(last), y_test, settings,
            seed=snakemake.params.seed, device="cuda" if torch.cuda.is_available() else "cpu",
        )  # fmt: skip
        about = {"task": task, "layer": last}
        best = {name: result.best[name] for name in ("first", "second", "alpha")}
        accuracies += [
            about | best | {"probe_seed": seed, "accuracy": accuracy, "n_configurations": len(result.rows)}
            for seed, accuracy in enumerate(result.test_accuracies)
        ]
        grid += [about | row for row in result.rows]
        log.info("%s: %.4f, best %s", task, result.mean, best)
    write_table(accuracies, snakemake.output.accuracy, model=snakemake.wildcards.model)
    write_table(grid, snakemake.output.grid, model=snakemake.wildcards.model)
