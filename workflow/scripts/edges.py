"""Edge probing: micro-F1 of a dataset's labels, from a mix of layers, the last layer and, for encoders, layer 0."""

import torch

from workflow.lib.methods.edges.networks import Lane
from workflow.lib.methods.edges.plan import SPLITS
from workflow.lib.methods.edges.reading import comparable_models, side_by_side
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
    from workflow.lib.base.names import is_pretrained
    from workflow.lib.base.tables import write_table
    from workflow.lib.encoders.device import choose_device

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    device = choose_device(snakemake.resources.gpu)
    torch.set_flush_denormal(True)  # Adam's moments of inactive units decay to denormal numbers, which are slow
    inputs, params = snakemake.input, snakemake.params
    outputs = dict(zip(params.work, snakemake.output))
    for dataset, folders in comparable_models(params.work, inputs.activations):
        settings = settings_from(params.settings, dataset)
        for models, splits in side_by_side(folders, inputs.data, dataset, SPLITS):
            # layer 0 of encoders only: fine-tuning hardly changes it, and the paper's baseline is the encoder's
            lanes = lanes_of(models, [model for model in models if is_pretrained(model)])
            scores = probe_task(*splits, lanes, settings, params.seed, device)
            del splits
            for at, model in enumerate(models):
                rows = [row for lane, row in zip(lanes, scores) if lane.model == at]
                write_table(rows, outputs[f"{model}/{dataset}"], model=model, task=dataset)
                log.info("%s, %s: %s", model, dataset, {row["input"]: round(row["f1"], 4) for row in rows})
