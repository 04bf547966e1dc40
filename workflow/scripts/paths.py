"""Hull distances and centroids of labels at every saved step of fine-tuning, layer by layer."""

from collections.abc import Iterator

import numpy as np

from workflow.lib.methods.directprobe.hulls import Gap
from workflow.lib.methods.directprobe.label_hulls import centroids, label_hull_distances


def distance_rows(gaps: dict[tuple[str, str], Gap]) -> Iterator[dict]:
    for (a, b), gap in gaps.items():
        yield {"label_a": a, "label_b": b, "distance": gap.distance}


def centroid_rows(points: np.ndarray, labels: np.ndarray) -> Iterator[dict]:
    counts = dict(zip(*np.unique(labels.astype(str), return_counts=True)))
    for label, centre in centroids(points, labels).items():
        yield {"label": label, "n_points": int(counts[label]), "centroid": centre.astype(np.float32)}


if __name__ == "__main__":
    from pathlib import Path

    from workflow.lib.activations.labelled_vectors import LabelledVectors
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    wildcards, head = snakemake.wildcards, snakemake.params.rows["head"]
    distances, places = [], []
    gaps: dict[int, dict] = {}
    steps = [path for path in Path(snakemake.input.activations[0]).iterdir() if path.name.isdigit()]
    for folder in sorted(steps):
        units = LabelledVectors(folder, snakemake.input.data[0], head)
        for layer in units.files:
            points, about = units.layer(layer), {"step": int(folder.name), "layer": layer}
            # at the previous step, nearly the same points of the hulls were closest
            gaps[layer] = label_hull_distances(points, units.labels, gaps.get(layer))
            distances += [about | row for row in distance_rows(gaps[layer])]
            places += [about | row for row in centroid_rows(points, units.labels)]
        log.info("step %s", folder.name)
    constants = {"model": f"{wildcards.encoder}/{wildcards.adapted}", "task": wildcards.task}
    write_table(distances, snakemake.output.distances, **constants)
    write_table(places, snakemake.output.centroids, **constants)
