"""Cached vectors of a task's labelled units (texts, words or pairs of words), layer by layer."""

from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import layer_files, read_units, read_vectors
from workflow.lib.base.errors import UserError
from workflow.lib.base.names import file_of, folder_of, place_of
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.labelled_units import labelled_units


class LabelledVectors:
    """`folder`: the activations of one dataset; `data`: its file; `head`: the task's head, which defines the units."""

    def __init__(self, folder: str | Path, data: str | Path, head: str):
        self.files, self.folder = layer_files(folder), folder
        table, self.info = read_dataset(data)
        self.units = labelled_units(table, self.info, head)
        example, _ = read_units(self.files[self.last])
        if self.units.example[-1] > example[-1]:
            raise UserError(f"{folder} has fewer examples than {data}; delete it and run again")
        self._first = np.searchsorted(example, np.arange(example[-1] + 2))

    @property
    def labels(self) -> np.ndarray:
        """Each unit's label name."""
        return self.units.label

    @property
    def last(self) -> int:
        """The number of the last layer."""
        return max(self.files)

    def layer(self, layer: int) -> np.ndarray:
        """(units, width) float32; a pair's vectors are concatenated, the dependent's first."""
        vectors = read_vectors(self.files[layer]).astype(np.float32, copy=False)
        rows = self._first[self.units.example]
        if not len(self.units.words):
            return vectors[rows]
        return np.concatenate([vectors[rows + words] for words in self.units.words], axis=1)


def labelled_vectors(folders: list[str], files: list[str], model: str, rows: dict, split: str) -> LabelledVectors:
    """Vectors of a task's `train` or `test` rows (see tasks.labelled_rows), found among the inputs of a rule."""
    folder = folder_of(folders, f"{model}/{rows['unit']}/{rows[split]}")
    return LabelledVectors(folder, file_of(files, place_of(rows[split])), rows["head"])
