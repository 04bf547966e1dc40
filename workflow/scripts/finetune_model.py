"""Fine-tune an encoder on a task by a recipe, and measure it on the evaluation split."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from workflow.lib.encoders.loading import load_tokenizer
from workflow.lib.training.finetuning import Task
from workflow.lib.training.heads.tunable import Tunable, evaluate


def save_model(model: Tunable, folder: Path, about: dict) -> None:
    model.encoder.save_pretrained(folder)
    save_file(model.head.state_dict(), folder / "head.safetensors")
    (folder / "tunescope.json").write_text(json.dumps(about, indent=1))


if __name__ == "__main__":
    from workflow.lib.base.files import whole_folder
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    wildcards, inputs = snakemake.wildcards, snakemake.input
    seed, fraction = int(wildcards.seed), float(wildcards.fraction)
    task = Task(inputs.encoder, inputs.train, inputs.evaluate, snakemake.params.settings, snakemake.params.modules)
    tuned = task.tune(wildcards.recipe, fraction, seed, snakemake.output.model)
    on_train = {f"train_{name}": value for name, value in evaluate(tuned.model, tuned.examples).items()}
    scores = on_train | tuned.scores
    with whole_folder(snakemake.output.model) as folder:
        about = {"task": wildcards.task, "recipe": wildcards.recipe, "labels": task.whole.labels, **scores}
        save_model(tuned.model, folder, about)
        load_tokenizer(inputs.encoder).save_pretrained(folder)
        write_table(tuned.history, folder / "history.parquet")
        if tuned.state.folder.exists():
            # killed between here and the end, training must begin anew: a state without its steps is not continued
            tuned.state.remove()
            tuned.state.folder.rename(folder / "steps")
    write_table([scores], snakemake.output.metrics, encoder=wildcards.encoder,
                task=wildcards.task, recipe=wildcards.recipe, fraction=fraction, seed=seed)  # fmt: skip
    tuned.state.remove()
    log.info("%s", scores)
