"""A task's labelled units as points: the vectors that a layer gives to texts, words or pairs of words."""

from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import layer_files, read_units, read_vectors
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.labelled_units import labelled_units


class Points:
    """`folder`: the activations of one dataset; `data`: its file; `head`: what the task labels in it."""

    def __init__(self, folder: str | Path, data: str | Path, head: str):
        self.files, self.folder = layer_files(folder), folder
        self.units = labelled_units(*read_dataset(data), head)
        example, _ = read_units(self.files[0])
        if self.units.example[-1] > example[-1]:
            raise UserError(f"{folder} has fewer examples than {data}; delete it and run again")
        self._first = np.searchsorted(example, np.arange(example[-1] + 2))

    @property
    def labels(self) -> np.ndarray:
        """A name per point."""
        return self.units.label

    @property
    def n_layers(self) -> int:
        """Without layer 0, the embeddings."""
        return len(self.files) - 1

    def layer(self, layer: int) -> np.ndarray:
        """(points, width) float32; of a pair both vectors, the dependent's first."""
        vectors = read_vectors(self.files[layer]).astype(np.float32, copy=False)
        rows = self._first[self.units.example]
        if not len(self.units.words):
            return vectors[rows]
        return np.concatenate([vectors[rows + words] for words in self.units.words], axis=1)


def points_of_task(activations: str | Path, data: list[str], place: dict, split: str) -> Points:
    """The points of a task's split, from a model's activations and the dataset files that a rule has as input."""
    name = place[split]
    file = next(path for path in data if f"{Path(path).parent.name}-{Path(path).stem}" == name)
    return Points(Path(activations) / place["unit"] / name, file, place["head"])
