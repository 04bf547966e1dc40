"""Representational similarity of two models, layer by layer, from their cached vectors of the same tokens."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import layer_files, read_about, read_units, read_vectors
from workflow.lib.base.errors import UserError
from workflow.lib.methods.rsa.similarity import FEWEST_TOKENS, Space, correlation, sample_tokens, space_of


def same_examples(base: dict[int, Path], tuned: dict[int, Path]) -> np.ndarray:
    """The example of every token, after a check that both caches hold the same tokens of the same dataset."""
    one, other = (next(iter(files.values())) for files in (base, tuned))
    both = f"{one.parent} and {other.parent}"
    if list(base) != list(tuned):
        raise UserError(f"{both} have {len(base)} and {len(tuned)} layers, and cannot be compared one by one")
    datasets = {read_about(file).get("dataset") for file in (one, other)}
    (example, unit), (other_example, other_unit) = (read_units(file) for file in (one, other))
    if len(datasets) > 1 or not (np.array_equal(example, other_example) and np.array_equal(unit, other_unit)):
        raise UserError(f"{both} do not hold the same tokens of the same rows; delete them and run again")
    return example


def spaces(layer: int, file: Path, samples: list[np.ndarray]) -> list[Space]:
    """The space of each sample of tokens."""
    vectors = read_vectors(file)
    try:
        return [space_of(vectors[rows]) for rows in samples]
    except UserError as error:
        raise UserError(f"layer {layer}, {file}: {error}") from error


def compare(
    base_folder: str | Path, tuned_folder: str | Path, *, tokens: int, samples: int, per_example: int, seed: int
) -> Iterator[dict]:
    """Table rows for one dataset, given by the two models' folders of token activations."""
    base, tuned = layer_files(base_folder), layer_files(tuned_folder)
    example = same_examples(base, tuned)
    drawn = sample_tokens(example, tokens, per_example, samples, seed)
    if min(map(len, drawn)) < FEWEST_TOKENS:
        raise UserError(f"{base_folder} has {len(drawn[0])} tokens to compare; {FEWEST_TOKENS} are needed at least")
    for layer in base:
        both = zip(*(spaces(layer, files[layer], drawn) for files in (base, tuned)))
        for sample, (rows, pair) in enumerate(zip(drawn, both)):
            counts = {"n_tokens": len(rows), "n_examples": len(np.unique(example[rows]))}
            yield {"layer": layer, "sample": sample, **counts, "similarity": correlation(*pair)}
