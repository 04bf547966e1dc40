"""Similarity of two models' spaces, layer by layer, from their caches of the same tokens."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import layer_files, read_about, read_units
from workflow.lib.activations.cache_rows import read_rows
from workflow.lib.base.errors import UserError
from workflow.lib.methods.rsa.similarity import FEWEST_TOKENS, Space, correlation, sample_tokens, space_of


def same_examples(base: list[Path], tuned: list[Path]) -> np.ndarray:
    """The example of every token, after a check that both caches are of the same tokens of the same dataset."""
    both = f"{base[0].parent} and {tuned[0].parent}"
    if len(base) != len(tuned):
        raise UserError(f"{both} have {len(base)} and {len(tuned)} layers, and cannot be compared one by one")
    datasets = {read_about(files[0]).get("dataset") for files in (base, tuned)}
    (example, unit), (other_example, other_unit) = (read_units(files[0]) for files in (base, tuned))
    if len(datasets) > 1 or not (np.array_equal(example, other_example) and np.array_equal(unit, other_unit)):
        raise UserError(f"{both} do not hold the same tokens of the same rows; delete them and run again")
    return example


def space(layer: int, file: Path, rows: np.ndarray) -> Space:
    vectors = read_rows(file, rows)
    try:
        return space_of(vectors)
    except UserError as error:
        raise UserError(f"layer {layer}, {file}: {error}") from error


def compare(
    base_folder: str | Path, tuned_folder: str | Path, *, tokens: int, samples: int, per_example: int, seed: int
) -> Iterator[dict]:
    """Rows of the table for one dataset, given by its two folders of token activations."""
    base, tuned = layer_files(base_folder), layer_files(tuned_folder)
    example = same_examples(base, tuned)
    drawn = sample_tokens(example, tokens, per_example, samples, seed)
    if min(map(len, drawn)) < FEWEST_TOKENS:
        raise UserError(f"{base_folder} has {len(drawn[0])} tokens to compare; {FEWEST_TOKENS} are needed at least")
    for layer, files in enumerate(zip(base, tuned)):
        for sample, rows in enumerate(drawn):
            counts = {"n_tokens": len(rows), "n_examples": len(np.unique(example[rows]))}
            score = correlation(*(space(layer, file, rows) for file in files))
            yield {"layer": layer, "sample": sample, **counts, "similarity": score}
