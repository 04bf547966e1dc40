"""Edge probing of models: micro-F1 of each task, read off all layers mixed, off the last and, if asked, layer 0."""

import torch

from workflow.lib.methods.edges.networks import Lane
from workflow.lib.methods.edges.reading import side_by_side
from workflow.lib.methods.edges.scored_task import probe_task
from workflow.lib.methods.edges.settings import settings_from


def lanes_of(models: list[str], lexical: list[str]) -> list[Lane]:
    return [
        Lane(name, at)
        for at, model in enumerate(models)
        for name in (["mix", "top", "lexical"] if model in lexical else ["mix", "top"])
    ]


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    torch.set_flush_denormal(True)  # what Adam remembers of silent units fades to denormal numbers, which are slow
    inputs, params = snakemake.input, snakemake.params
    settings, device = settings_from(params.settings), "cuda" if torch.cuda.is_available() else "cpu"
    rows = []
    names = ("train", "dev", "test")
    for task in params.tasks:
        for models, splits in side_by_side(inputs.activations, params.models, inputs.data, task, names):
            lanes = lanes_of(models, params.lexical)
            scores = probe_task(*splits, lanes, settings, params.seed, device)
            del splits
            for lane, row in zip(lanes, scores):
                rows.append({"model": models[lane.model], "task": task} | row)
                log.info("%(model)s, %(task)s, %(input)s: %(f1).4f", rows[-1])
    write_table(rows, snakemake.output[0])
