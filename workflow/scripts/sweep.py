"""Fine-tunes encoders by several recipes on fractions of a task, one by one; keeps scores and weight distances."""

import copy
from pathlib import Path

import torch
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError
from workflow.lib.encoders.layers import blocks
from workflow.lib.encoders.loading import load_encoder
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.methods.weights.distances import block_distances
from workflow.lib.training.finetuning import Task
from workflow.lib.training.state import SavedState


def moved(encoder: PreTrainedModel, recipe: str, tuned: PreTrainedModel, asked: dict) -> list[dict]:
    """Distance of each block from the pre-trained one (in a truncated encoder: of the remaining blocks)."""
    if recipe.startswith("truncate"):
        encoder = apply_recipe(copy.deepcopy(encoder), recipe, seed=0)
    return block_distances(encoder, tuned.cpu(), asked["projections"], asked["norms"])


def check_depth(folder: str, said: int) -> None:
    """Check that the encoder has as many layers as the config says, for which the recipes were made."""
    encoder, n_layers = Path(folder).name, len(blocks(load_encoder(folder)))
    if n_layers != said:
        name = encoder.split(".")[0]
        raise UserError(f"encoder {encoder} has {n_layers} layers, not the {said} that encoders.{name}.layers says")


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import encoder_of, file_of, folder_of, recipe_of, task_of
    from workflow.lib.base.tables import write_table
    from workflow.lib.encoders.device import choose_device

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    choose_device(snakemake.resources.gpu)
    inputs, params, outputs = snakemake.input, snakemake.params, snakemake.output
    encoders = {encoder_of(model): folder_of(inputs.encoders, encoder_of(model)) for model in params.settings}
    layers = {encoder_of(model): said for model, said in params.layers.items()}
    for encoder, folder in encoders.items():
        check_depth(folder, layers[encoder])  # before hours of training
    files = dict(zip(params.settings, zip(outputs.scores, outputs.distances)))
    for encoder, name in dict.fromkeys((encoder_of(model), task_of(model)) for model in files):
        task = tuned = None  # release the previous task's, which would otherwise be in memory beside this one's
        models = [model for model in files if (encoder_of(model), task_of(model)) == (encoder, name)]
        settings = params.settings[models[0]]
        splits = (settings[split] for split in ("train_split", "evaluate"))
        train, evaluated = (file_of(inputs.data, f"{settings['dataset']}/{split}") for split in splits)
        task = Task(encoders[encoder], train, evaluated, settings, params.modules)
        for model in models:
            _, recipe, fraction, seed = recipe_of(model)
            scores, distances = files[model]
            run = {"task": name, "encoder": encoder, "seed": int(seed), "fraction": float(fraction),
                   "recipe": recipe}  # fmt: skip
            state = Path(scores).with_suffix("")
            finished = SavedState(
                f"{state}.finished", [params.weights, *task.made_from(recipe, float(fraction), int(seed))]
            )
            done = finished.load()  # a killed job resumes after the last finished run
            if done is None:
                tuned = task.tune(recipe, float(fraction), int(seed), state)
                moved_rows = moved(task.encoder, recipe, tuned.model.encoder, params.weights)
                done = {"scores": tuned.scores, "rows": tuned.rows, "distances": moved_rows}
                finished.save(**done)
            SavedState(state, None).remove()  # also one that a job left which was killed right here
            write_table([run | done["scores"] | done["rows"]], scores)
            write_table([run | row for row in done["distances"]], distances)
            log.info("%s: %s", model, done["scores"])
    for scores in outputs.scores:
        Path(scores).with_name(f".{Path(scores).stem}.finished.resume.pt").unlink(missing_ok=True)
