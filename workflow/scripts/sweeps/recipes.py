"""Fine-tune an encoder on a task by several recipes, one after the other; keep scores and how far weights moved."""

from pathlib import Path

import torch

from workflow.lib.encoders.layers import blocks
from workflow.lib.encoders.loading import load_encoder
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.errors import UserError
from workflow.lib.extraction import digest_of_weights
from workflow.lib.training.finetuning import Task
from workflow.lib.training.state import SavedState
from workflow.lib.weight_distance import block_distances


def moved(encoder: str, recipe: str, tuned, asked: dict) -> list[dict]:
    """How far each block is from the pre-trained one (of a cut encoder: of those that are left)."""
    before = load_encoder(encoder)
    if recipe.startswith("truncate"):
        before = apply_recipe(before, recipe, seed=0)
    rows = block_distances(before, tuned.cpu(), asked["projections"], asked["norms"])
    return [{"recipe": recipe, **row} for row in rows]


if __name__ == "__main__":
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    wildcards, inputs, recipes = snakemake.wildcards, snakemake.input, snakemake.params.recipes
    seed, fraction, output = int(wildcards.seed), float(wildcards.fraction), Path(snakemake.output.scores)
    n_layers = len(blocks(load_encoder(inputs.encoder)))
    if n_layers != snakemake.params.layers:
        raise UserError(f"encoder {wildcards.encoder} has {n_layers} layers, not the {snakemake.params.layers} that "
                        f"encoders.{wildcards.encoder.split('.')[0]}.layers says")  # fmt: skip
    task = Task(inputs.encoder, inputs.train, inputs.evaluate, snakemake.params.settings)
    params = snakemake.params
    made_from = [params.settings, recipes, params.distances, params.modules, seed, fraction, task.digest,
                 task.evaluated_digest, digest_of_weights(inputs.encoder)]  # fmt: skip
    finished = SavedState(output, made_from)  # a killed sweep goes on after the last recipe that was done
    done = finished.load() or {"rows": [], "distances": []}
    rows, distances = done["rows"], done["distances"]
    for recipe in recipes[len(rows) :]:
        tuned = task.tune(recipe, fraction, seed, output.with_name(f"{output.stem}.{recipe}"))
        rows.append({"recipe": recipe, **tuned.scores})
        distances += moved(inputs.encoder, recipe, tuned.model.encoder, snakemake.params.distances)
        finished.save(rows=rows, distances=distances)
        tuned.state.remove()
        log.info("%s", rows[-1])
    about = {"encoder": wildcards.encoder, "task": wildcards.task, "fraction": fraction, "seed": seed}
    write_table(distances, snakemake.output.distances, **about)
    write_table(rows, output, **about)
    finished.remove()
