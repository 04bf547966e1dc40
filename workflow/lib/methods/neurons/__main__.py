"""`python -m workflow.lib.methods.neurons vectors.npz`: which few dimensions tell the labels?

X (n x d), y (n labels), X_test, y_test; greedy search by cross-validation on X, accuracies on X_test.
"""

import sys
from pathlib import Path

import numpy as np

from workflow.lib.activations.text_vectors import TaskVectors
from workflow.lib.base.errors import UserError
from workflow.lib.methods.arrays import labels, points, read_arrays, run_command
from workflow.lib.methods.neurons.scored import search_and_test


def task_of(path: Path) -> TaskVectors:
    arrays = read_arrays(path, ("X", "y"), ("_test",))
    if "X_test" not in arrays:
        raise UserError(f"{path} lacks X_test and y_test: accuracies are of rows that the search has not seen")
    arrays |= {name: labels(arrays, name, path) for name in ("y", "y_test")}
    vectors = points(arrays, path), points(arrays, path, "_test")
    for ending in ("", "_test"):
        if len(arrays[f"X{ending}"]) != len(arrays[f"y{ending}"]):
            raise UserError(f"{path}: X{ending} and y{ending} differ in length")
    names, train = np.unique(arrays["y"], return_inverse=True)
    if len(names) < 2:
        raise UserError(f"{path}: y has a single label")
    if unknown := sorted(set(arrays["y_test"].tolist()) - set(names.tolist())):
        raise UserError(f"{path}: y_test has the label {unknown[0]!r}, which y has not")
    if vectors[0].shape[1] != vectors[1].shape[1]:
        raise UserError(f"{path}: X has {vectors[0].shape[1]} dimensions and X_test {vectors[1].shape[1]}")
    return TaskVectors(vectors[0], train, vectors[1], np.searchsorted(names, arrays["y_test"]), list(map(str, names)))


def report(options) -> dict:
    task = task_of(options.vectors)
    settings = {"neurons": options.neurons, "folds": options.folds, "rows": options.rows, "regularisation": options.c}
    found = search_and_test(task, settings, options.seed, "cpu")
    steps = [{key: value for key, value in row.items() if key != "right"} for row in found]
    lines = [f"all {task.train.shape[1]} dimensions: {found[0]['test_accuracy']:.4f}"]
    lines += [f"{row['step']} with neuron {row['neuron']}: {row['test_accuracy']:.4f}" for row in found[1:]]
    steps[0]["cv_accuracy"] = None  # all dimensions are not searched for
    return {"labels": task.labels, "steps": steps, "lines": lines}


def add_options(parser) -> None:
    parser.add_argument("vectors", type=Path, help="an .npz or .parquet file with X, y, X_test, y_test")
    parser.add_argument("--neurons", type=int, default=5, help="neurons to add; at least as many as there are labels")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--rows", type=int, help="size of the sample that the search uses (all)")
    parser.add_argument("--c", type=float, default=1.0, help="C of the softmax classifiers")
    parser.add_argument("--seed", type=int, default=0, help="of folds and sample")


def main(arguments: list[str] | None = None) -> int:
    return run_command("neurons", __doc__, report, add_options, arguments)


if __name__ == "__main__":
    sys.exit(main())
