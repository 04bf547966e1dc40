"""Fine-tune an encoder on shares of a task by several recipes, one by one; keep scores and weight distances."""

import copy
from pathlib import Path

import torch
from transformers import PreTrainedModel

from workflow.lib.encoders.layers import blocks
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.errors import UserError
from workflow.lib.training.finetuning import Task
from workflow.lib.training.state import SavedState
from workflow.lib.weight_distance import block_distances


def moved(encoder: PreTrainedModel, recipe: str, tuned: PreTrainedModel, asked: dict) -> list[dict]:
    """How far each block is from the pre-trained one (of a cut encoder: of those that are left)."""
    if recipe.startswith("truncate"):
        encoder = apply_recipe(copy.deepcopy(encoder), recipe, seed=0)
    return block_distances(encoder, tuned.cpu(), asked["projections"], asked["norms"])


if __name__ == "__main__":
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    wildcards, inputs, params = snakemake.wildcards, snakemake.input, snakemake.params
    seed, output = int(wildcards.seed), Path(snakemake.output.scores)
    task = Task(inputs.encoder, inputs.train, inputs.evaluate, params.settings, params.modules)
    n_layers = len(blocks(task.encoder))
    if n_layers != params.layers:
        raise UserError(f"encoder {wildcards.encoder} has {n_layers} layers, not the {params.layers} that "
                        f"encoders.{wildcards.encoder.split('.')[0]}.layers says")  # fmt: skip
    made_from = [params.settings, params.runs, params.distances, params.modules, seed, task.digest,
                 task.evaluated_digest, task.weights_digest]  # fmt: skip
    finished = SavedState(output, made_from)  # a killed sweep goes on after the last run that was done
    done = finished.load() or {"rows": [], "distances": []}
    rows, distances = done["rows"], done["distances"]
    for fraction, recipe in params.runs[len(rows) :]:
        run = {"fraction": float(fraction), "recipe": recipe}
        tuned = task.tune(recipe, run["fraction"], seed, output.with_name(f"{output.stem}.f{fraction}.{recipe}"))
        rows.append(run | tuned.scores)
        distances += [run | row for row in moved(task.encoder, recipe, tuned.model.encoder, params.distances)]
        finished.save(rows=rows, distances=distances)
        tuned.state.remove()
        log.info("%s", rows[-1])
    about = {"encoder": wildcards.encoder, "task": wildcards.task, "seed": seed}
    write_table(distances, snakemake.output.distances, **about)
    write_table(rows, output, **about)
    finished.remove()
