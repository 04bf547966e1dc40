"""DirectProbe on the last layer: clusters of a task's training and test points, and distances between labels."""

from collections.abc import Iterator

import numpy as np

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


if __name__ == "__main__":
    from workflow.lib.activations.labelled_vectors import labelled_vectors
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    inputs, outputs, wildcards = snakemake.input, snakemake.output, snakemake.wildcards
    strict, model = snakemake.params.settings["strict_spheres"], f"{wildcards.encoder}/{wildcards.adapted}"
    clusters, distances = [], []
    for split in ("train", "test"):
        units = labelled_vectors(inputs.activations, inputs.data, model, snakemake.params.rows, split)
        points, about = units.layer(units.last), {"split": split, "layer": units.last}
        clusters.append(about | clusters_row(points, units.labels, strict))
        distances += [about | row for row in distance_rows(points, units.labels)]
        log.info("%(split)s: %(n_clusters)d clusters of %(n_points)d points", clusters[-1])
    write_table(clusters, outputs.clusters, model=model, task=wildcards.task)
    write_table(distances, outputs.distances, model=model, task=wildcards.task)
