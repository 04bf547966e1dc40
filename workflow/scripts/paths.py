"""Hull distances and centroids of labels at every saved step of fine-tuning, layer by layer."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import layer_files
from workflow.lib.activations.labelled_vectors import LabelledVectors
from workflow.lib.methods.directprobe.hulls import Gap
from workflow.lib.methods.directprobe.label_hulls import centroids, label_hull_distances


def distance_rows(gaps: dict[tuple[str, str], Gap]) -> Iterator[dict]:
    for (a, b), gap in gaps.items():
        yield {"label_a": a, "label_b": b, "distance": gap.distance}


def centroid_rows(points: np.ndarray, labels: np.ndarray) -> Iterator[dict]:
    counts = dict(zip(*np.unique(labels.astype(str), return_counts=True)))
    for label, centre in centroids(points, labels).items():
        yield {"label": label, "n_points": int(counts[label]), "centroid": centre.astype(np.float32)}


def follow_layer(layer: int, steps: list[Path], data: str, head: str) -> tuple[list[dict], list[dict]]:
    """Rows of both tables for one layer, step by step."""
    gaps, distances, places = None, [], []
    for folder in steps:
        units, about = LabelledVectors(folder, data, head), {"step": int(folder.name), "layer": layer}
        points = units.layer(layer)
        # at the previous step, nearly the same points of the hulls were closest
        gaps = label_hull_distances(points, units.labels, gaps)
        distances += [about | row for row in distance_rows(gaps)]
        places += [about | row for row in centroid_rows(points, units.labels)]
    return distances, places


def in_order(of_layers: Iterable[list[dict]]) -> list[dict]:
    """All rows by step, and by layer within a step."""
    return sorted((row for rows in of_layers for row in rows), key=lambda row: (row["step"], row["layer"]))


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.processes import in_processes
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    wildcards, data = snakemake.wildcards, snakemake.input.data[0]
    steps = sorted(path for path in Path(snakemake.input.activations[0]).iterdir() if path.name.isdigit())
    follow = partial(follow_layer, steps=steps, data=data, head=snakemake.params.rows["head"])
    distances, places = zip(*in_processes(follow, layer_files(steps[0]), snakemake.threads))
    log.info("%d steps, %d layers", len(steps), len(distances))
    constants = {"model": f"{wildcards.encoder}/{wildcards.adapted}", "task": wildcards.task}
    write_table(in_order(distances), snakemake.output.distances, **constants)
    write_table(in_order(places), snakemake.output.centroids, **constants)
