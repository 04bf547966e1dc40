"""Edge probing of one model: micro-F1 of each task, read off all layers mixed, off the last and, if asked, layer 0."""

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
    read_by_probes = ["mix", "top", "lexical"] if params.lexical else ["mix", "top"]
    cache = cache_of(snakemake.input.activations, snakemake.wildcards.model)
    rows = []
    for task in params.tasks:
        splits = read_splits(cache, inputs.data, task, ("train", "dev", "test"))
        scores = probe_task(*splits, read_by_probes, settings, params.seed, device)
        rows += [{"task": task} | row for row in scores]
        log.info("%s: %s", task, ", ".join(f"{row['input']} {row['f1']:.4f}" for row in scores))
    write_table(rows, snakemake.output[0], model=snakemake.wildcards.model)
