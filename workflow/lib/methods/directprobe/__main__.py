"""`python -m workflow.lib.methods.directprobe points.npz`: X (n x d), y (n integers), optionally X_test and y_test."""

import sys
from pathlib import Path

import numpy as np

from workflow.lib.base.errors import UserError
from workflow.lib.methods.arrays import labels, named, numbers, read_arrays, run_command
from workflow.lib.methods.directprobe.clustering import checked, probe
from workflow.lib.methods.directprobe.measures import cluster_distances, label_distances, predict


def report(options) -> dict:
    found = probe_file(options.points, options.strict_spheres, options.distances)
    return found | {"lines": summary(found).splitlines()}


def add_options(parser) -> None:
    parser.add_argument("points", type=Path, help="an .npz or .parquet file with X and y, optionally X_test and y_test")
    parser.add_argument("--no-distances", dest="distances", action="store_false", help="leave the distances out")
    parser.add_argument(
        "--no-strict-spheres",
        dest="strict_spheres",
        action="store_false",
        help="let a point that carries two labels count as an overlap wherever it lies",
    )


def probe_file(path: Path, strict_spheres: bool, with_distances: bool) -> dict:
    arrays = read_arrays(path, ("X", "y"), ("_test",))
    arrays |= {name: numbers(x, f"{path}: {name}") for name, x in arrays.items() if name in ("X", "X_test")}
    arrays |= {name: labels(arrays, name, path) for name in ("y", "y_test") if name in arrays}
    if not np.issubdtype(arrays["y"].dtype, np.integer):  # labels by name
        names, arrays["y"] = np.unique(arrays["y"].astype(str), return_inverse=True)
        number_of = {name: number for number, name in enumerate(names.tolist())}
        if "y_test" in arrays:  # a label that y has not is no cluster's
            arrays["y_test"] = np.array([number_of.get(name, -1) for name in arrays["y_test"].astype(str).tolist()])
    with named(path):
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


def summary(report: dict) -> str:
    separable = "every label is one cluster" if report["linear"] else "the labels do not separate"
    lines = [f"{report['n_clusters']} clusters of {len(report['clusters'])} points: {separable}"]
    if report.get("label_distances"):
        low, high, distance = min(report["label_distances"], key=lambda row: row[2])
        lines.append(f"closest labels: {low} and {high}, {distance:.4g} apart")
    if "test_accuracy" in report:
        lines.append(f"accuracy on the test points: {report['test_accuracy']:.4f}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    return run_command("directprobe", __doc__, report, add_options, arguments)


if __name__ == "__main__":
    sys.exit(main())
