"""Edge probing of models: micro-F1 of each task, read off all layers mixed, off the last and, if asked, layer 0."""

import torch

from workflow.lib.edge_probe.networks import Lane
from workflow.lib.edge_probe.probe import probe_task
from workflow.lib.edge_probe.reading import read_splits, side_by_side
from workflow.lib.edge_probe.settings import settings_from


def lanes_of(models: list[str], lexical: list[str]) -> list[Lane]:
    return [
        Lane(name, at)
        for at, model in enumerate(models)
        for name in (["mix", "top", "lexical"] if model in lexical else ["mix", "top"])
    ]


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
    caches = [cache_of(inputs.activations, model) for model in params.models]
    for task in params.tasks:
        for together in side_by_side(caches, task):
            splits = read_splits([caches[at] for at in together], inputs.data, task, ("train", "dev", "test"))
            models = [params.models[at] for at in together]
            lanes = lanes_of(models, params.lexical)
            scores = probe_task(*splits, lanes, settings, params.seed, device)
            rows += [{"model": models[lane.model], "task": task} | row for lane, row in zip(lanes, scores)]
    for row in rows:
        log.info("%(model)s, %(task)s, %(input)s: %(f1).4f", row)
    write_table(rows, snakemake.output[0])
