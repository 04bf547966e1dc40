"""Where labels stand at every saved step of fine-tuning, layer by layer: hull distances and centroids."""

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
    from workflow.lib.activations.cache import cache_of
    from workflow.lib.activations.labelled_vectors import Points
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    cache = cache_of(snakemake.input.activations, snakemake.wildcards.model)
    steps = sorted((cache / "steps").iterdir())
    distances, places = [], []
    gaps: dict[int, dict] = {}
    for folder in steps:
        units = Points(folder, snakemake.input.data, snakemake.params.head)
        for layer in range(1, units.n_layers + 1):
            points, about = units.layer(layer), {"step": int(folder.name), "layer": layer}
            # the hulls of the step before touch each other at nearly the same points
            gaps[layer] = label_hull_distances(points, units.labels, gaps.get(layer))
            distances += [about | row for row in distance_rows(gaps[layer])]
            places += [about | row for row in centroid_rows(points, units.labels)]
        log.info("step %s", folder.name)
    constants = {"model": snakemake.wildcards.model, "task": snakemake.params.task}
    write_table(distances, snakemake.output.distances, **constants)
    write_table(places, snakemake.output.centroids, **constants)
