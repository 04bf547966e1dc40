"""Online codelengths of edge-probing tasks: how many bits a task's labels cost, given a model's vectors."""

import torch

from workflow.lib.activations.cache import last_layer_file, read_about
from workflow.lib.base.names import file_of
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.methods.description_length.finished import FinishedPortions
from workflow.lib.methods.description_length.online_code import online_code, why_not
from workflow.lib.methods.description_length.plan import splits_of
from workflow.lib.methods.edges.reading import comparable_models, side_by_side
from workflow.lib.methods.edges.settings import settings_from

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table
    from workflow.lib.encoders.device import choose_device

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    device = choose_device(snakemake.resources.gpu)
    torch.set_flush_denormal(True)  # Adam's moments of inactive units decay to denormal numbers, which are slow
    inputs, params = snakemake.input, snakemake.params
    portions, shuffle_seed = params.settings["portions"], params.settings["shuffle_seed"]
    of_code, splits = ("coded", "portions", "shuffle_seed"), splits_of(params.settings)
    of_probe = {name: value for name, value in params.settings.items() if name not in of_code}
    settings, outputs = settings_from(of_probe), dict(zip(params.work, snakemake.output))
    states = []
    for dataset, folders in comparable_models(params.work, inputs.activations):
        for models, (coded, dev) in side_by_side(folders, inputs.data, dataset, splits):
            if reason := why_not(coded, dev):
                log.info("%s is left out: %s", dataset, reason)
                codes = [[] for _ in models]
            else:
                digests = [read_dataset(file_of(inputs.data, f"{dataset}/{split}"))[1]["digest"] for split in splits]
                vectors = [read_about(last_layer_file(folder)) for model in models for folder in folders[model]]
                made_from = [models, params.settings, params.seed, params.modules, digests, vectors]
                finished = FinishedPortions(outputs[f"{models[0]}/{dataset}"], made_from)
                states.append(finished)
                codes = online_code(coded, dev, settings, portions, shuffle_seed, params.seed, device, finished)
            del coded, dev
            for model, code in zip(models, codes):
                write_table(code, outputs[f"{model}/{dataset}"], model=model, task=dataset)
                if code:
                    log.info("%s, %s: %.0f bits, %.2f times shorter than uniform", model, dataset, code[-1]["bits"],
                             code[-1]["compression"])  # fmt: skip
    # only now: after a kill Snakemake drops all outputs of the job
    for state in states:
        state.remove()
