"""`python -m workflow.lib.methods.directprobe points.npz`: X (n x d), y (n integers), optionally X_test and y_test."""

import argparse
import json
import sys
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from workflow.lib.base.errors import UserError
from workflow.lib.methods.directprobe.clustering import checked, probe
from workflow.lib.methods.directprobe.measures import cluster_distances, label_distances, predict


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        report = probe_file(options.points, options.strict_spheres, options.distances)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(report) if options.json else summary(report))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workflow.lib.methods.directprobe", description=__doc__)
    parser.add_argument("points", type=Path, help="an .npz file with X and y, optionally X_test and y_test")
    parser.add_argument("--json", action="store_true", help="print everything as JSON instead of a summary")
    parser.add_argument("--no-distances", dest="distances", action="store_false", help="leave the distances out")
    parser.add_argument(
        "--no-strict-spheres",
        dest="strict_spheres",
        action="store_false",
        help="let a point that carries two labels count as an overlap wherever it lies",
    )
    return parser.parse_args(arguments)


def probe_file(path: Path, strict_spheres: bool, with_distances: bool) -> dict:
    arrays = read(path)
    x, y = checked(arrays["X"], arrays["y"])
    test = checked(arrays["X_test"], arrays["y_test"]) if "X_test" in arrays else None
    if test is not None and test[0].shape[1] != x.shape[1]:
        raise UserError(f"{path}: X has {x.shape[1]} dimensions and X_test {test[0].shape[1]}")
    clusters = probe(x, y, strict_spheres)
    report = {
        "n_clusters": clusters.n_clusters,
        "linear": clusters.is_linear,
        "clusters": clusters.of_point.tolist(),
    }
    if with_distances:
        report["distances"] = cluster_distances(x, clusters)
        report["label_distances"] = label_distances(report["distances"], clusters)
    if test is not None:
        report["test_accuracy"] = float(np.mean(predict(x, clusters, test[0]) == test[1]))
    return report


def read(path: Path) -> dict[str, np.ndarray]:
    try:
        file = np.load(path, allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise UserError(f"{path} holds a single array; give an .npz file with X and y")
        with file:
            arrays = {name: file[name] for name in ("X", "y", "X_test", "y_test") if name in file}
    except FileNotFoundError as error:
        raise UserError(f"{path} cannot be read: there is no such file") from error
    except (OSError, ValueError, EOFError, BadZipFile) as error:  # NumPy assumes that a non-archive is a pickle
        raise UserError(f"{path} cannot be read: it must be an .npz file of plain numeric arrays") from error
    missing = [name for name in ("X", "y") if name not in arrays]
    if ("X_test" in arrays) != ("y_test" in arrays):
        missing.append("y_test" if "X_test" in arrays else "X_test")
    if missing:
        raise UserError(f"{path} lacks {' and '.join(missing)}")
    return arrays


def summary(report: dict) -> str:
    separable = "every label is one cluster" if report["linear"] else "the labels do not separate"
    lines = [f"{report['n_clusters']} clusters of {len(report['clusters'])} points: {separable}"]
    if report.get("label_distances"):
        low, high, distance = min(report["label_distances"], key=lambda row: row[2])
        lines.append(f"closest labels: {low} and {high}, {distance:.4g} apart")
    if "test_accuracy" in report:
        lines.append(f"accuracy on the test points: {report['test_accuracy']:.4f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
