"""DirectProbe on the last layer: clusters of a task's training and test points, distances between labels."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from workflow.lib.methods.directprobe.clustering import probe
from workflow.lib.methods.directprobe.label_geometry import spatial_similarity
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances


def clusters_row(points: np.ndarray, labels: np.ndarray, strict: bool) -> dict:
    """One cluster per label means that the labels are linearly separable, pair by pair."""
    names, numbers = np.unique(labels.astype(str), return_inverse=True)
    clusters = probe(points, numbers, strict_spheres=strict)
    return {"n_points": len(labels), "n_labels": len(names), "n_clusters": clusters.n_clusters,
            "linear": clusters.is_linear}  # fmt: skip


def distance_rows(points: np.ndarray, labels: np.ndarray) -> Iterator[dict]:
    """Between whole labels; 0 where they overlap."""
    for (a, b), gap in label_hull_distances(points, labels).items():
        yield {"label_a": a, "label_b": b, "distance": gap.distance}


def similarity_row(distances: pd.DataFrame, is_linear: bool) -> dict:
    """Train against test, by both rules for labels that one of them lacks; undefined unless both are separable."""
    train, test = (distances[distances["split"] == split] for split in ("train", "test"))
    return {rule: spatial_similarity(train, test, rule) if is_linear else float("nan") for rule in ("shared", "zero")}


if __name__ == "__main__":
    from workflow.lib.activations.cache import cache_of
    from workflow.lib.activations.labelled_vectors import points_of_task
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    inputs, strict = snakemake.input, snakemake.params.settings["strict_spheres"]
    cache = cache_of(snakemake.input.activations, snakemake.wildcards.model)
    clusters, distances, similarity = [], [], []
    for task, place in snakemake.params.tasks.items():
        of_task = []
        for split in ("train", "test"):
            units = points_of_task(cache, inputs.data, place, split)
            points = units.layer(units.n_layers)
            about = {"task": task, "split": split, "layer": units.n_layers}
            clusters.append(about | clusters_row(points, units.labels, strict))
            of_task += [about | row for row in distance_rows(points, units.labels)]
            log.info("%(task)s %(split)s: %(n_clusters)d clusters of %(n_points)d points", clusters[-1])
        is_linear = clusters[-1]["linear"] and clusters[-2]["linear"]
        similarity.append({"task": task, "layer": about["layer"]} | similarity_row(pd.DataFrame(of_task), is_linear))
        distances += of_task
    model = snakemake.wildcards.model
    write_table(clusters, snakemake.output.clusters, model=model)
    write_table(distances, snakemake.output.distances, model=model)
    write_table(similarity, snakemake.output.similarity, model=model)
