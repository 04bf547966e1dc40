"""Runs models over datasets and stores the vectors of the units that analyses read; also for saved training steps."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from workflow.lib.activations.extraction import extract
from workflow.lib.activations.shared_sentences import merged, write_rows
from workflow.lib.activations.units import spread_rows, units_of
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.labelled_units import words_in_spans
from workflow.lib.encoders.loading import load_encoder, load_tokenizer, max_tokens
from workflow.lib.encoders.tokenization import Encoded, encode, longest_for
from workflow.lib.encoders.unit_pooling import TokenRuns
from workflow.lib.encoders.weights import digest_of_weights


@lru_cache(maxsize=1)
def loaded(weights: Path) -> tuple[PreTrainedModel, str]:
    """A model and the digest of its weights, loaded once for all its datasets."""
    return load_encoder(weights), digest_of_weights(weights)


@lru_cache
def tokenizer_of(folder: Path, for_words: bool) -> PreTrainedTokenizerBase:
    return load_tokenizer(folder, for_words=for_words)


@lru_cache(maxsize=32)  # more than a paper asks of an encoder; the datasets of a shared job are small
def tokenized(
    paths: tuple[str, ...],
    encoder: Path,
    unit: str,
    longest: int,
    limit: int,
    rows: int | None,
    per_row: int,
    seed: int,
) -> tuple[Encoded, TokenRuns, np.ndarray, str, dict[str, np.ndarray]]:
    """A tokenised dataset, its units, the rows in use, its digest, and for spans the sentence of each dataset's rows.

    Computed once for all models of the job. `paths`: several for `span` only, datasets of the same sentences;
    `longest`: maximum length of texts; `limit`: maximum length of the encoder.
    """
    tables, infos = zip(*map(read_dataset, paths))
    table, info, inside, of_rows = tables[0], infos[0], None, {}
    if unit == "span":
        sentences = merged({info["dataset"]: table for table, info in zip(tables, infos)})
        table, inside, of_rows = sentences.table, sentences.inside, sentences.rows
    elif unit == "target":
        inside = words_in_spans(table)
    example = spread_rows(len(table), rows)
    table = table.take(example) if len(example) < len(table) else table
    # for any unit, rows that are lists of words reach the tokenizer as lists
    tokenizer = tokenizer_of(encoder, for_words=unit == "word" or "words" in table.column_names)
    how = {"by_word": unit in ("word", "target"), "first_only": unit == "sampled_first"}
    encoded = encode(table, info, tokenizer, longest_for(info, longest, limit), **how)
    digest = " ".join(info["digest"] for info in infos)
    return encoded, units_of(unit, encoded, inside, per_row, seed), example, digest, of_rows


def cache_dataset(
    weights: Path, encoder: Path, unit: str, paths: tuple[str, ...], folder: Path, settings: dict
) -> dict:
    """Write a model's activations on a dataset, with the encoder's tokenizer; returns counts for the log.

    `settings`: layers, max_tokens, batch_size, dtype; for sampled tokens also rows, per_row and seed.
    """
    model, digest = loaded(weights)
    limit = max_tokens(model, tokenizer_of(encoder, False))
    sampling = (settings.get("rows"), settings.get("per_row", 0), settings.get("seed", 0))
    read = tokenized(paths, encoder, unit, settings["max_tokens"], limit, *sampling)
    encoded, units, example, of_data, of_rows = read
    about = {"model": digest, "dataset": of_data, "unit": unit}
    how = {key: settings[key] for key in ("layers", "batch_size", "dtype")}
    n_units = extract(model, encoded, units, folder, about, **how, example=example)
    if of_rows:
        write_rows(folder, of_rows)
    return {"units": n_units, "rows": len(example), "truncated": encoded.n_truncated}


def saved_steps(folder: Path) -> list[Path]:
    steps = sorted(path for path in folder.glob("*") if path.is_dir())
    if not steps:
        raise UserError(f"{folder} holds no saved steps; delete it and run again")
    return steps


if __name__ == "__main__":
    from workflow.lib.base.files import whole_folder
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import encoder_of, file_of, folder_of, target_of, weights_folder
    from workflow.lib.encoders.device import choose_device

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    choose_device(snakemake.resources.gpu)
    inputs, settings = snakemake.input, snakemake.params.settings
    for (item, of_item), output in zip(snakemake.params.work.items(), snakemake.output):
        name = weights_folder(item).partition("/")[2]
        model, encoder = (Path(folder_of(inputs.models, of)) for of in (name, f"encoders/{encoder_of(item)}"))
        unit = target_of(item).rpartition("/")[0]
        paths = tuple(file_of(inputs.data, place) for place in of_item["places"])
        with whole_folder(output) as folder:
            if unit.startswith("steps/"):
                weights = {folder / step.name: step for step in saved_steps(model)}
            else:
                weights = {folder: model}
            for into, of_step in weights.items():
                done = cache_dataset(of_step, encoder, unit.removeprefix("steps/"), paths, into, settings | of_item)
        log.info("%s: %s", item, done)
