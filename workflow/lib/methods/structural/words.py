"""Vectors of a treebank's words in a model's layers, with their trees; groups of layers that fit in memory."""

from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import layer_files, read_about, read_units, read_vectors
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.methods.structural.gold_trees import trees_of

# Size of the training vectors in memory, as float32: a third of a laptop's 8 GB. All layers of the demo and of many
# treebanks fit; of BERT-base on all of English EWT (700 MB per layer), four at a time. At least one layer is held.
BYTES_HELD = 3 << 30


class TreebankWords:
    """`folder`: activations of the words; `data`: the treebank's file."""

    def __init__(self, folder: str | Path, data: str | Path):
        table, info = read_dataset(data)
        if info["kind"] != "treebank":
            raise UserError(f"structural probes need a treebank; dataset {info['dataset']} is of kind '{info['kind']}'")
        self.trees = trees_of(table["head"].to_pylist(), table["upos"].to_pylist())
        self.files = layer_files(folder)
        example, _ = read_units(next(iter(self.files.values())))
        if not np.array_equal(np.bincount(example, minlength=len(self.trees)), self.trees.length):
            raise UserError(f"{folder} and {data} do not have the same words; delete the folder and run again")

    @property
    def bytes_per_layer(self) -> int:
        width = read_about(next(iter(self.files.values())))["width"]
        return 4 * width * int(self.trees.length.sum())

    def layer(self, layer: int) -> np.ndarray:
        """(words, width) float32 vectors of a layer."""
        vectors = read_vectors(self.files[layer]).astype(np.float32, copy=False)
        if not np.isfinite(vectors).all():
            raise UserError(f"{self.files[layer]} holds numbers that are not finite; the model may have diverged")
        return vectors


def layer_groups(n_layers: int, bytes_per_layer: int, bytes_held: int = BYTES_HELD) -> list[list[int]]:
    """Groups of layers to train together: as few as memory allows, of nearly equal size."""
    at_once = min(n_layers, max(1, bytes_held // bytes_per_layer))
    return [part.tolist() for part in np.array_split(np.arange(n_layers), -(-n_layers // at_once))]
