"""Edge probing of models: micro-F1 of each task, read off all layers mixed, off the last and, if asked, layer 0."""

from itertools import product

import torch

from workflow.lib.edge_probe.probe import probe_task
from workflow.lib.edge_probe.reading import read_splits
from workflow.lib.edge_probe.settings import settings_from

if __name__ == "__main__":
    from workflow.lib.activations import cache_of
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    torch.set_flush_denormal(True)  # what Adam remembers of silent units fades to denormal numbers, which are slow
    inputs, params = snakemake.input, snakemake.params
    settings, device = settings_from(params.settings), "cuda" if torch.cuda.is_available() else "cpu"
    rows = []
    for model, task in product(params.models, params.tasks):
        splits = read_splits(cache_of(inputs.activations, model), inputs.data, task, ("train", "dev", "test"))
        read_by_probes = ["mix", "top", "lexical"] if model in params.lexical else ["mix", "top"]
        scores = probe_task(*splits, read_by_probes, settings, params.seed, device)
        rows += [{"model": model, "task": task} | row for row in scores]
        log.info("%s, %s: %s", model, task, ", ".join(f"{row['input']} {row['f1']:.4f}" for row in scores))
    write_table(rows, snakemake.output[0])
