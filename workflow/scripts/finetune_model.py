"""Fine-tunes encoders on tasks by recipes, and evaluates them."""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file

from workflow.lib.base.files import whole_folder
from workflow.lib.base.tables import write_table
from workflow.lib.encoders.loading import load_tokenizer
from workflow.lib.training.finetuning import Outcome, Task
from workflow.lib.training.heads.tunable import Tunable, evaluate


def save_model(model: Tunable, folder: Path, about: dict) -> None:
    model.encoder.save_pretrained(folder)
    save_file(model.head.state_dict(), folder / "head.safetensors")
    (folder / "tunescope.json").write_text(json.dumps(about, indent=1))


def save_whole(tuned: Outcome, path: str, about: dict, encoder: str) -> None:
    """Save the model with its tokenizer and training history."""
    with whole_folder(path) as folder:
        save_model(tuned.model, folder, about)
        load_tokenizer(encoder).save_pretrained(folder)
        write_table(tuned.history, folder / "history.parquet")


def move_steps(tuned: Outcome, into: Path) -> None:
    """The checkpoints saved on the way; an empty folder if there are none."""
    shutil.rmtree(into, ignore_errors=True)
    if not tuned.state.folder.exists():
        into.mkdir()
        return
    # if killed between here and the end, training must restart: a state without its steps cannot be resumed
    tuned.state.remove()
    tuned.state.folder.rename(into)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import encoder_of, file_of, folder_of, recipe_of
    from workflow.lib.encoders.device import choose_device

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    choose_device(snakemake.resources.gpu)
    inputs, outputs = snakemake.input, snakemake.output
    states = []
    for (model, settings), path, metrics in zip(snakemake.params.settings.items(), outputs.models, outputs.metrics):
        name, recipe, fraction, seed = recipe_of(model)
        train, evaluated = (
            file_of(inputs.data, f"{settings['dataset']}/{settings[split]}") for split in ("train_split", "evaluate")
        )
        encoder = folder_of(inputs.encoders, encoder_of(model))
        task = Task(encoder, train, evaluated, settings, snakemake.params.modules)
        tuned = task.tune(recipe, float(fraction), int(seed), path)
        also = {}
        if "also_evaluate" in settings:
            second = file_of(inputs.data, f"{settings['dataset']}/{settings['also_evaluate']}")
            also = {f"also_{metric}": value for metric, value in task.scores_on(second, tuned.model).items()}
        on_train = {f"train_{metric}": value for metric, value in evaluate(tuned.model, tuned.examples).items()}
        scores = on_train | tuned.scores | also
        about = {"task": name, "recipe": recipe, "labels": task.whole.labels, **scores}
        save_whole(tuned, path, about, encoder)
        if f"{path}.steps" in outputs.steps:
            move_steps(tuned, Path(f"{path}.steps"))
        write_table([scores | tuned.rows], metrics, encoder=encoder_of(model), task=name, recipe=recipe,
                    fraction=float(fraction), seed=int(seed))  # fmt: skip
        states.append(tuned.state)
        del task, tuned  # or the next model would be trained beside this one
        log.info("%s: %s", model, scores)
    # only now: after a kill Snakemake drops all outputs of the job, and models that were done go on from these
    for state in states:
        state.remove()
