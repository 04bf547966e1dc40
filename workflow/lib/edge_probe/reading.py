"""From a model's cached tokens and a dataset's file to a split of an edge-probing task."""

from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import torch

from workflow.lib.activations import layer_files, read_units, read_vectors, read_words
from workflow.lib.datasets import read_dataset
from workflow.lib.edge_probe.alignment import first_tokens
from workflow.lib.edge_probe.examples import Split
from workflow.lib.edge_probe.targets import read_targets
from workflow.lib.errors import UserError


def read_split(folder: str | Path, data: str | Path) -> Split:
    """`folder`: token activations of one dataset's split, `data`: its file."""
    table, info = read_dataset(data)
    if info["kind"] != "spans":
        raise UserError(f"dataset {info['dataset']} is of kind {info['kind']}: edge probing needs spans")
    targets, files = read_targets(table, info["dataset"]), layer_files(folder)
    n_words = pc.list_value_length(table["words"]).to_numpy().astype(np.int64)
    tokens, first = first_tokens(read_units(files[0])[0], read_words(folder), n_words, str(folder))
    words_before = (np.cumsum(n_words) - n_words)[targets.row]
    start, end = first[words_before + targets.start], first[words_before + targets.end]

    # a token is held if a span has begun before it and not ended: spans stay unbroken when others are left out
    open_spans = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.add.at(open_spans, start.ravel(), 1)
    np.add.at(open_spans, end.ravel(), -1)
    held = np.cumsum(open_spans)[:-1] > 0
    place = np.concatenate([[0], np.cumsum(held)])
    rows, first_target = np.unique(targets.row, return_index=True)
    ends = np.cumsum(n_words)
    return Split(
        vectors=torch.from_numpy(_read_layers(files, tokens[held])),
        first_token=np.append(place[first[(ends - n_words)[rows]]], place[-1]),
        first_target=np.append(first_target, len(targets.row)),
        start=place[start],
        size=end - start,
        targets=targets,
    )


def _read_layers(files: list[Path], rows: np.ndarray) -> np.ndarray:
    """(layers, rows, width), one layer in memory beside what is kept."""
    for layer, path in enumerate(files):
        kept = read_vectors(path)[rows]
        if not np.isfinite(kept).all():
            raise UserError(f"{path} holds values that are no finite numbers; the model or the cache is broken")
        if not layer:
            layers = np.empty((len(files), *kept.shape), dtype=kept.dtype)
        layers[layer] = kept
    return layers


def read_splits(activations: str | Path, data: list[str], task: str, splits: tuple[str, ...]) -> list[Split]:
    """A task's splits, from a model's activations and the dataset files that a rule has as input."""
    files = {f"{Path(path).parent.name}-{Path(path).stem}": path for path in data}
    names = [f"{task}-{split}" for split in splits]
    if missing := [name for name in names if name not in files]:
        raise UserError(f"edge probing of '{task}' needs its splits {', '.join(splits)}: {missing[0]} is missing")
    found = [read_split(Path(activations) / "token" / name, files[name]) for name in names]
    if len({split.n_spans for split in found}) > 1:
        raise UserError(f"dataset {task}: targets have one span in some splits and two in others")
    return found
