"""Reads a split of an edge-probing task from models' cached tokens and a dataset's file."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pyarrow.compute as pc
import torch

from workflow.lib.activations.cache import (
    last_layer_file,
    layer_files,
    read_about,
    read_units,
    read_vectors,
    read_words,
)
from workflow.lib.activations.shared_sentences import read_rows
from workflow.lib.base.errors import UserError
from workflow.lib.base.names import encoder_of, file_of, folder_of, model_of, target_of
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.methods.edges.alignment import first_tokens, ranges
from workflow.lib.methods.edges.examples import Split
from workflow.lib.methods.edges.plan import MOST_IN_MEMORY
from workflow.lib.methods.edges.targets import read_targets

BYTES_HELD = 2 << 30  # size of the vectors in memory of models that are probed side by side; a single one may need more


def read_split(folders: list[Path], data: str | Path) -> Split:
    """A split with the vectors of several models. `folders`: their token activations, `data`: the dataset's file."""
    table, info = read_dataset(data)
    if info["kind"] != "spans":
        raise UserError(f"dataset {info['dataset']} is of kind {info['kind']}: edge probing needs spans")
    targets, n_words = read_targets(table, info["dataset"]), pc.list_value_length(table["words"])
    n_words = n_words.to_numpy().astype(np.int64)
    words_before = (np.cumsum(n_words) - n_words)[targets.row]
    needed = np.zeros(n_words.sum(), dtype=bool)
    needed[ranges((words_before + targets.start).ravel(), (targets.end - targets.start).ravel())] = True
    cached, example, word = _tokens_of(folders, info["dataset"])
    tokens, first = first_tokens(example, word, n_words, needed, str(folders[0]))
    start, end = first[words_before + targets.start], first[words_before + targets.end]

    # keep a token if any span is open at it, so that spans remain contiguous when other tokens are dropped
    open_spans = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.add.at(open_spans, start.ravel(), 1)
    np.add.at(open_spans, end.ravel(), -1)
    held = np.cumsum(open_spans)[:-1] > 0
    place = np.concatenate([[0], np.cumsum(held)])
    rows, first_target = np.unique(targets.row, return_index=True)
    ends = np.cumsum(n_words)
    return Split(
        vectors=torch.from_numpy(_read_layers(folders, cached[tokens[held]])),
        first_token=np.append(place[first[(ends - n_words)[rows]]], place[-1]),
        first_target=np.append(first_target, len(targets.row)),
        start=place[start],
        size=end - start,
        targets=targets,
    )


def _tokens_of(folders: list[Path], dataset: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all tokens of a dataset's rows: place in the cache, row and word; after a check that all models agree. Tokens
    that only other datasets of the same sentences need are among them."""
    found = [
        (read_units(last_layer_file(folder))[0], read_words(folder), read_rows(folder, dataset)) for folder in folders
    ]
    for folder, columns in zip(folders, found):
        if not all(map(np.array_equal, columns, found[0])):
            raise UserError(f"{folder} and {folders[0]} do not hold the same tokens; delete both and run again")
    example, word, of_rows = found[0]
    first, end = (np.searchsorted(example, of_rows, side=side) for side in ("left", "right"))
    cached = ranges(first, end - first)
    return cached, np.repeat(np.arange(len(of_rows)), end - first), word[cached]


def _read_layers(folders: list[Path], rows: np.ndarray) -> np.ndarray:
    """(models, layers, rows, width) vectors; besides the result, only one layer is in memory at a time.

    The result may be larger than memory: batches read only their own tokens."""
    files = [list(layer_files(folder).values()) for folder in folders]
    if len(set(map(len, files))) > 1:
        raise UserError(f"models of different depths cannot be probed side by side: {', '.join(map(str, folders))}")
    about = read_about(files[0][0])
    kept = _new_array((len(files), len(files[0]), len(rows), about["width"]), np.dtype(about["dtype"]))
    for (model, layer), path in np.ndenumerate(np.array(files, dtype=object)):
        kept[model, layer] = read_vectors(path)[rows]
        if not np.isfinite(kept[model, layer]).all():
            raise UserError(f"{path} holds values that are no finite numbers; the model or the cache is broken")
    return kept


def _new_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """In memory, or in a file of the job's temporary folder, which vanishes with the array."""
    if np.prod(shape) * dtype.itemsize <= MOST_IN_MEMORY:
        return np.empty(shape, dtype=dtype)
    with TemporaryFile() as scratch:
        return np.memmap(scratch, dtype=dtype, shape=shape)


def read_splits(folders: list[list[Path]], files: list[str], dataset: str, splits: tuple[str, ...]) -> list[Split]:
    """A dataset's splits. `folders`: for each model, those of its token activations, split by split; `files`: inputs of
    a rule, the dataset's among them."""
    found = [
        read_split([of_model[at] for of_model in folders], file_of(files, f"{dataset}/{split}"))
        for at, split in enumerate(splits)
    ]
    if len({split.n_spans for split in found}) > 1:
        raise UserError(f"dataset {dataset}: targets have one span in some splits and two in others")
    return found


def side_by_side(
    folders: dict[str, list[Path]], files: list[str], dataset: str, splits: tuple[str, ...]
) -> Iterator[tuple[list[str], list[Split]]]:
    """Groups of models whose probes are trained together, and their splits: as many as memory allows, because for
    narrow models that takes hardly longer than one. The caller must release a group's splits before requesting more.
    `folders`: by model, as in `read_splits`."""
    models = list(folders)
    size = sum(path.stat().st_size for folder in folders[models[0]] for path in layer_files(folder).values())
    n = max(1, BYTES_HELD // max(1, size))
    for start in range(0, len(models), n):
        of_group = models[start : start + n]
        yield of_group, read_splits([folders[model] for model in of_group], files, dataset, splits)


def comparable_models(work: dict[str, list[str]], inputs: list[str]) -> list[tuple[str, dict[str, list[Path]]]]:
    """Datasets and models whose probes on it can be trained together, with their folders: encoders that differ in their
    seed alone have the same shape and tokenizer. `work`: caches of the items `<model>/<dataset>`; `inputs`: folders."""
    found: dict[tuple[str, str], dict[str, list[Path]]] = {}
    for item, caches in work.items():
        folders = [Path(folder_of(inputs, cache)) for cache in caches]
        found.setdefault((target_of(item), encoder_of(item).partition(".")[0]), {})[model_of(item)] = folders
    return [(dataset, of_models) for (dataset, _), of_models in found.items()]
