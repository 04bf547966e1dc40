"""Fine-tunes encoders on tasks by recipes, and evaluates them."""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import PreTrainedModel

from workflow.lib.activations.caching import cache_dataset
from workflow.lib.base.names import file_of
from workflow.lib.base.seals import sealed_folder
from workflow.lib.base.tables import write_table
from workflow.lib.encoders.loading import load_tokenizer
from workflow.lib.training.finetuning import Outcome, SaveStep, Task
from workflow.lib.training.heads.tunable import Tunable, evaluate

TEXTS_AT_ONCE = 64  # through the model, when a step is cached


def save_model(model: Tunable, folder: Path, about: dict) -> None:
    model.encoder.save_pretrained(folder)
    save_file(model.head.state_dict(), folder / "head.safetensors")
    (folder / "tunescope.json").write_text(json.dumps(about, indent=1))


def save_whole(tuned: Outcome, path: str, about: dict, encoder: str) -> None:
    """Save the model with its tokenizer and training history."""
    with sealed_folder(path) as folder:
        save_model(tuned.model, folder, about)
        load_tokenizer(encoder).save_pretrained(folder)
        write_table(tuned.history, folder / "history.parquet")


def step_saver(steps: dict | None, encoder: str, data: list[str], model: str) -> SaveStep | None:
    """Caches the activations of the training rows as the model is at a step; None for a model that nobody follows."""
    if steps is None:
        return None
    path = file_of(data, steps["place"])

    def save(tuned: PreTrainedModel, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)  # of a step that is trained for again, after a kill
        digest = f"{model} after {int(folder.name)} updates"
        cache_dataset(tuned, digest, Path(encoder), (path,), folder, steps | {"batch_size": TEXTS_AT_ONCE})

    return save


def move_steps(tuned: Outcome, into: Path) -> None:
    """What was saved on the way; an empty folder if nothing was."""
    shutil.rmtree(into, ignore_errors=True)
    into.parent.mkdir(parents=True, exist_ok=True)
    if not tuned.state.folder.exists():
        into.mkdir()
        return
    # if killed between here and the end, training must restart: a state without its steps cannot be resumed
    tuned.state.remove()
    shutil.move(tuned.state.folder, into)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import encoder_of, folder_of, recipe_of
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
        steps = snakemake.params.steps[model]
        task = Task(encoder, train, evaluated, settings, f"{snakemake.params.modules} {steps}")
        save_step = step_saver(steps, encoder, inputs.data, model)
        tuned = task.tune(recipe, float(fraction), int(seed), path, save_step)
        also = {}
        if "also_evaluate" in settings:
            second = file_of(inputs.data, f"{settings['dataset']}/{settings['also_evaluate']}")
            also = {f"also_{metric}": value for metric, value in task.scores_on(second, tuned.model).items()}
        on_train = {f"train_{metric}": value for metric, value in evaluate(tuned.model, tuned.examples).items()}
        scores = on_train | tuned.scores | also
        about = {"task": name, "recipe": recipe, "labels": task.whole.labels, **scores}
        save_whole(tuned, path, about, encoder)
        for folder in (folder for folder in outputs.steps if folder.endswith(f"/{model}/steps")):
            move_steps(tuned, Path(folder))
        write_table([scores | tuned.rows], metrics, encoder=encoder_of(model), task=name, recipe=recipe,
                    fraction=float(fraction), seed=int(seed))  # fmt: skip
        states.append(tuned.state)
        del task, tuned  # or the next model would be trained beside this one
        log.info("%s: %s", model, scores)
    # only now: after a kill Snakemake drops all outputs of the job, and models that were done go on from these
    for state in states:
        state.remove()
