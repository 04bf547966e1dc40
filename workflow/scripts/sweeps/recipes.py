"""Fine-tune an encoder on a task by several recipes, one after the other, and keep their scores."""

from pathlib import Path

import torch

from workflow.lib.extraction import digest_of_weights
from workflow.lib.training.finetuning import Task
from workflow.lib.training.state import SavedState

if __name__ == "__main__":
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    wildcards, inputs, recipes = snakemake.wildcards, snakemake.input, snakemake.params.recipes
    seed, fraction, output = int(wildcards.seed), float(wildcards.fraction), Path(snakemake.output[0])
    task = Task(inputs.encoder, inputs.train, inputs.evaluate, snakemake.params.settings)
    made_from = [snakemake.params.settings, recipes, seed, fraction, task.digest, digest_of_weights(inputs.encoder)]
    finished = SavedState(output, made_from)  # a killed sweep goes on after the last recipe that was done
    rows = (finished.load() or {"rows": []})["rows"]
    for recipe in recipes[len(rows) :]:
        tuned = task.tune(recipe, fraction, seed, output.with_name(f"{output.stem}.{recipe}"))
        rows.append({"recipe": recipe, **tuned.scores})
        finished.save(rows=rows)
        tuned.state.remove()
        log.info("%s", rows[-1])
    write_table(rows, output, encoder=wildcards.encoder, task=wildcards.task, fraction=fraction, seed=seed)
    finished.remove()
