"""DirectProbe on the last layer: clusters of a task's training and test points, and distances between labels."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from workflow.lib.activations.labelled_vectors import LabelledVectors
from workflow.lib.methods.directprobe.clustering import probe
from workflow.lib.methods.directprobe.conflicts import cluster_floor
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances


def clusters_row(points: np.ndarray, labels: np.ndarray, strict: bool) -> dict:
    """A row of the table of clusters. One cluster per label means that the labels are pairwise linearly separable."""
    names, numbers = np.unique(labels.astype(str), return_inverse=True)
    clusters = probe(points, numbers, strict_spheres=strict)
    return {"n_points": len(labels), "n_labels": len(names), "floor": cluster_floor(points, numbers),
            "n_clusters": clusters.n_clusters, "linear": clusters.is_linear}  # fmt: skip


def distance_rows(points: np.ndarray, labels: np.ndarray) -> Iterator[dict]:
    """Rows with the distances between whole labels; 0 if they overlap."""
    counts = dict(zip(*np.unique(labels.astype(str), return_counts=True)))
    for (a, b), gap in label_hull_distances(points, labels).items():
        yield {"label_a": a, "label_b": b, "points_a": int(counts[a]), "points_b": int(counts[b]),
               "distance": gap.distance}  # fmt: skip


def of_split(split: tuple[str, LabelledVectors], strict: bool) -> tuple[dict, list[dict]]:
    """A row of the table of clusters, and rows of distances, for one split."""
    name, units = split
    points, about = units.layer(units.last), {"split": name, "layer": units.last}
    distances = [about | row for row in distance_rows(points, units.labels)]
    return about | clusters_row(points, units.labels, strict), distances


if __name__ == "__main__":
    from workflow.lib.activations.labelled_vectors import labelled_vectors
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.processes import in_processes
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    inputs, outputs, wildcards = snakemake.input, snakemake.output, snakemake.wildcards
    strict, model = snakemake.params.settings["strict_spheres"], f"{wildcards.encoder}/{wildcards.adapted}"
    splits = {split: labelled_vectors(inputs.activations, inputs.data, model, snakemake.params.rows, split)
              for split in ("train", "test")}  # fmt: skip
    found = in_processes(partial(of_split, strict=strict), splits.items(), snakemake.threads)
    clusters, distances = [row for row, _ in found], [row for _, rows in found for row in rows]
    for row in clusters:
        log.info("%(split)s: %(n_clusters)d clusters of %(n_points)d points", row)
    write_table(clusters, outputs.clusters, model=model, task=wildcards.task)
    write_table(distances, outputs.distances, model=model, task=wildcards.task)
