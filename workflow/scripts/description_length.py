"""Online codelengths of edge-probing tasks under models: how many bits do a task's labels cost, given the sentences?"""

import torch

from workflow.lib.methods.edges.description_length import online_code, why_not
from workflow.lib.methods.edges.reading import side_by_side
from workflow.lib.methods.edges.settings import settings_from

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    torch.set_flush_denormal(True)  # what Adam remembers of silent units fades to denormal numbers, which are slow
    inputs, params = snakemake.input, snakemake.params
    settings, device = settings_from(params.settings), "cuda" if torch.cuda.is_available() else "cpu"
    rows = []
    for task in params.tasks:
        for models, (train, dev) in side_by_side(
            inputs.activations, params.models, inputs.data, task, ("train", "dev")
        ):
            if reason := why_not(train, dev):
                log.info("%s is left out: %s", task, reason)
                break
            codes = online_code(train, dev, settings, params.portions, params.shuffle_seed, params.seed, device)
            del train, dev
            for model, code in zip(models, codes):
                rows += [{"model": model, "task": task} | row for row in code]
                log.info("%s, %s: %.0f bits, %.2f times shorter than uniform", model, task, code[-1]["bits"],
                         code[-1]["compression"])  # fmt: skip
    write_table(rows, snakemake.output[0])
