"""The last layer's [CLS] vectors of a task's texts, with their labels: what matton2019 looks at."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import layer_files, read_vectors
from workflow.lib.data.dataset_files import read_dataset


@dataclass
class TaskVectors:
    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray
    labels: list[str]


def last_layer(activations: str | Path, name: str) -> np.ndarray:
    """(rows, width) float32 of the folder `<dataset>-<split>`."""
    return read_vectors(layer_files(Path(activations) / "cls" / name)[-1]).astype(np.float32, copy=False)


def task_vectors(activations: str | Path, train: str, test: str, data_files: list[str]) -> TaskVectors:
    """`train` and `test` are `<dataset>-<split>` names; the labels come from the datasets' own files."""
    by_name = {f"{Path(path).parent.name}-{Path(path).stem}": path for path in data_files}
    table, info = read_dataset(by_name[train])
    tested, _ = read_dataset(by_name[test])
    return TaskVectors(
        last_layer(activations, train),
        table["label"].to_numpy(),
        last_layer(activations, test),
        tested["label"].to_numpy(),
        info["labels"],
    )
