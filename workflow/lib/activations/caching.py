"""Runs a model over a dataset and stores the vectors of the units that analyses read."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from workflow.lib.activations.extraction import extract
from workflow.lib.activations.shared_sentences import merged, write_rows
from workflow.lib.activations.units import spread_rows, units_of
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.labelled_units import words_in_spans
from workflow.lib.encoders.loading import load_tokenizer, max_tokens
from workflow.lib.encoders.tokenization import Encoded, encode, longest_for
from workflow.lib.encoders.unit_pooling import TokenRuns


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
    model: PreTrainedModel, digest: str, encoder: Path, paths: tuple[str, ...], folder: Path, settings: dict
) -> dict:
    """Write a model's activations on a dataset, with its encoder's tokenizer; returns counts for the log.

    `digest`: of the model's weights; `settings`: unit, layers, max_tokens, batch_size, dtype; for sampled tokens also
    rows, per_row and seed.
    """
    unit = settings["unit"]
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
