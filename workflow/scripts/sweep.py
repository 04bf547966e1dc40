"""Fine-tune encoders on shares of a task by several recipes, one by one; keep scores and weight distances."""

import copy
from itertools import groupby
from pathlib import Path

import torch
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.encoders.layers import blocks
from workflow.lib.encoders.loading import load_encoder
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.encoders.weights import digest_of_weights
from workflow.lib.methods.weights.distances import block_distances
from workflow.lib.training.finetuning import Task
from workflow.lib.training.state import SavedState


def moved(encoder: PreTrainedModel, recipe: str, tuned: PreTrainedModel, asked: dict) -> list[dict]:
    """How far each block is from the pre-trained one (of a cut encoder: of those that are left)."""
    if recipe.startswith("truncate"):
        encoder = apply_recipe(copy.deepcopy(encoder), recipe, seed=0)
    return block_distances(encoder, tuned.cpu(), asked["projections"], asked["norms"])


def check_depth(folder: str, said: int) -> None:
    """Recipes were made for as many layers as the config says."""
    encoder, n_layers = Path(folder).name, len(blocks(load_encoder(folder)))
    if n_layers != said:
        name = encoder.split(".")[0]
        raise UserError(f"encoder {encoder} has {n_layers} layers, not the {said} that encoders.{name}.layers says")


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    inputs, params, output = snakemake.input, snakemake.params, Path(snakemake.output.scores)
    folders = {Path(folder).name: folder for folder in inputs.encoders}
    for encoder, folder in folders.items():  # all of them before hours of training
        check_depth(folder, params.layers[encoder])
    data = [read_dataset(path)[1]["digest"] for path in (inputs.train, inputs.evaluate)]
    weights = [digest_of_weights(folder) for folder in inputs.encoders]
    made_from = [params.settings, params.runs, params.distances, params.modules, data, weights]
    finished = SavedState(output, made_from)  # a killed sweep goes on after the last run that was done
    done = finished.load() or {"rows": [], "distances": []}
    rows, distances = done["rows"], done["distances"]
    for encoder, runs in groupby(params.runs[len(rows) :], key=lambda run: run[0]):
        task = tuned = None  # of the encoder before, which else would be held beside this one's
        task = Task(folders[encoder], inputs.train, inputs.evaluate, params.settings, params.modules)
        for _, seed, fraction, recipe in runs:
            run = {"encoder": encoder, "seed": seed, "fraction": float(fraction), "recipe": recipe}
            state = output.with_name(f"{output.stem}.{encoder}.s{seed}.f{fraction}.{recipe}")
            tuned = task.tune(recipe, run["fraction"], seed, state)
            rows.append(run | tuned.scores)
            distances += [run | row for row in moved(task.encoder, recipe, tuned.model.encoder, params.distances)]
            finished.save(rows=rows, distances=distances)
            tuned.state.remove()
            log.info("%s", rows[-1])
    write_table(distances, snakemake.output.distances, task=snakemake.wildcards.task)
    write_table(rows, output, task=snakemake.wildcards.task)
    finished.remove()
