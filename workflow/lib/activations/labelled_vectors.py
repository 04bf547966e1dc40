"""Cached vectors of a task's labelled units (texts, words or pairs of words), layer by layer."""

from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import layer_files, read_units, read_vectors
from workflow.lib.base.errors import UserError
from workflow.lib.base.names import file_of, folder_of, place_of
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.labelled_units import labelled_units


def _places(example: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """One number for each unit of each example, in the order of the cache."""
    return example.astype(np.int64) << 32 | unit.astype(np.int64)


class LabelledVectors:
    """`folder`: the activations of one dataset; `data`: its file; `head`: the task's head, which defines the units."""

    def __init__(self, folder: str | Path, data: str | Path, head: str):
        self.files, self.folder = layer_files(folder), folder
        table, self.info = read_dataset(data)
        self.units = labelled_units(table, self.info, head)
        cached = _places(*read_units(self.files[self.last]))
        wanted = self.units.words if len(self.units.words) else np.zeros((1, len(self.units)), np.int64)
        self._rows = [np.searchsorted(cached, _places(self.units.example, of_units)) for of_units in wanted]
        for rows, of_units in zip(self._rows, wanted):
            found = np.append(cached, -1)[rows]
            if not np.array_equal(found, _places(self.units.example, of_units)):
                raise UserError(f"{folder} lacks units that {data} labels; delete it and run again")

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
        found = [vectors[rows] for rows in self._rows]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=1)


def labelled_vectors(folders: list[str], files: list[str], model: str, rows: dict, split: str) -> LabelledVectors:
    """Vectors of a task's `train` or `test` rows (see tasks.labelled_rows), found among the inputs of a rule."""
    folder = folder_of(folders, f"{model}/{rows['unit']}/{rows[split]}")
    return LabelledVectors(folder, file_of(files, place_of(rows[split])), rows["head"])
