"""Fine-tune an encoder on a task by a recipe, and measure it on the evaluation split."""

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from workflow.lib.datasets import read_dataset
from workflow.lib.encoders.loading import load_encoder, load_tokenizer, max_tokens
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.encoding import encode
from workflow.lib.errors import UserError
from workflow.lib.extraction import digest_of_weights
from workflow.lib.heads import HEADS, Tunable
from workflow.lib.training.examples import Examples
from workflow.lib.training.loop import accuracy, train
from workflow.lib.training.state import SavedState
from workflow.lib.units import label_numbers, labelled_units, vocabulary


def nested_rows(n_rows: int, fraction: float, seed: int) -> np.ndarray:
    """The first part of a seeded permutation: a smaller fraction is contained in every larger one."""
    return np.random.default_rng([seed, n_rows]).permutation(n_rows)[: max(1, round(fraction * n_rows))]


def split_off(rows: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, held-out rows), spread evenly: both parts of a smaller fraction lie within those of a larger."""
    held_out = np.diff(np.floor(np.arange(len(rows) + 1) * share + 0.5)) > 0
    return rows[~held_out], rows[held_out]


def load_examples(
    path: str, head: str, encoder, tokenizer, longest: int, log, labels: list[str] | None = None
) -> tuple[Examples, list[str], str]:
    """Examples, names of the labels (those that the training rows have) and the data's digest."""
    table, info = read_dataset(path)
    units = labelled_units(table, info, head)
    labels = labels or vocabulary(units, info)
    longest = min(longest, max_tokens(encoder, tokenizer))
    encoded = encode(table, info, tokenizer, longest, by_word=head != "sequence")
    if encoded.n_truncated:
        log.warning("%s: %d of %d texts cut to %d tokens", path, encoded.n_truncated, len(table), longest)
    examples = Examples(encoded, units, label_numbers(units, labels), np.arange(len(table)))
    return examples, labels, info["digest"]


def build(encoder_folder: str, recipe: str, settings: dict, n_labels: int, seed: int) -> Tunable:
    torch.manual_seed(seed)
    encoder = apply_recipe(load_encoder(encoder_folder), recipe, seed)
    return Tunable(encoder, HEADS[settings["head"]](encoder.config.hidden_size, n_labels, settings["dropout"]))


def save_model(model: Tunable, folder: Path, about: dict) -> None:
    model.encoder.save_pretrained(folder)
    save_file(model.head.state_dict(), folder / "head.safetensors")
    (folder / "tunescope.json").write_text(json.dumps(about, indent=1))


if __name__ == "__main__":
    from workflow.lib.files import whole_folder
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import write_table

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    wildcards, settings = snakemake.wildcards, dict(snakemake.params.settings)
    seed, fraction = int(wildcards.seed), float(wildcards.fraction)
    encoder, head = load_encoder(snakemake.input.encoder), settings["head"]
    tokenizer = load_tokenizer(snakemake.input.encoder, for_words=head != "sequence")
    reading = (head, encoder, tokenizer, settings["max_tokens"], log)
    whole, labels, digest = load_examples(snakemake.input.train, *reading)
    tested, _, _ = load_examples(snakemake.input.evaluate, *reading, labels)
    kept, held_out = split_off(nested_rows(len(whole), fraction, seed), settings["holdout"])
    if settings["keep_best"] and not len(held_out):
        raise UserError(
            f"task {wildcards.task}: keep_best needs held-out rows, but holdout {settings['holdout']} gives none"
        )

    def attempt(settings: dict):
        model = build(snakemake.input.encoder, wildcards.recipe, settings, len(labels), seed)
        made_from = [settings, seed, fraction, digest, digest_of_weights(snakemake.input.encoder)]
        state = SavedState(snakemake.output.model, made_from)

        def save_step(step: int, model: Tunable) -> None:
            model.encoder.save_pretrained(state.folder / f"{step:05d}")

        held = whole.part(held_out) if len(held_out) else None
        return model, train(model, whole.part(kept), settings, seed, state, held, save_step), state

    try:
        trained = attempt(settings)
    except torch.OutOfMemoryError:
        trained = None  # tried again outside: here the error still holds the failed model in memory
    if trained is None:
        # the same effective batch in twice as many parts; a second failure is the user's to solve
        settings["accumulation"] *= 2
        log.warning("out of memory: once more with accumulation %d", settings["accumulation"])
        torch.cuda.empty_cache()
        trained = attempt(settings)
    model, history, state = trained
    with whole_folder(snakemake.output.model) as folder:
        scores = {"train_accuracy": accuracy(model, whole.part(kept)), "test_accuracy": accuracy(model, tested)}
        about = {"task": wildcards.task, "recipe": wildcards.recipe, "labels": labels, **scores}
        save_model(model, folder, about)
        load_tokenizer(snakemake.input.encoder).save_pretrained(folder)
        write_table(history, folder / "history.parquet")
        if state.folder.exists():
            # killed between here and the end, training must begin anew: a state without its steps is not continued
            state.remove()
            state.folder.rename(folder / "steps")
    write_table([scores | {"n_train": len(kept)}], snakemake.output.metrics, encoder=wildcards.encoder,
                task=wildcards.task, recipe=wildcards.recipe, fraction=fraction, seed=seed)  # fmt: skip
    state.remove()
    log.info("%s", scores)
