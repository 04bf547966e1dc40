"""The last layer's [CLS] vectors of a task's texts, with their labels."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import last_layer_file, read_vectors
from workflow.lib.activations.labelled_vectors import labelled_vectors


@dataclass
class TaskVectors:
    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray
    labels: list[str]


def last_layer(folder: str | Path) -> np.ndarray:
    """(rows, width) float32 vectors of the last stored layer."""
    return read_vectors(last_layer_file(folder)).astype(np.float32, copy=False)


def task_vectors(folders: list[str], files: list[str], model: str, rows: dict) -> TaskVectors:
    """Vectors and labels of a task's texts. `rows`: see tasks.labelled_rows; `folders`, `files`: inputs of a rule."""
    train, test = (labelled_vectors(folders, files, model, rows, split) for split in ("train", "test"))
    names = train.info["labels"]
    number = {name: at for at, name in enumerate(names)}
    y_train, y_test = (np.array([number[name] for name in part.labels], dtype=np.int64) for part in (train, test))
    return TaskVectors(train.layer(train.last), y_train, test.layer(test.last), y_test, names)
