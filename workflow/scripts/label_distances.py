"""Distances between the convex hulls of a task's labels in every layer of a model, on training rows."""

from functools import partial

from workflow.lib.activations.labelled_vectors import LabelledVectors
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances


def distance_rows(layer: int, units: LabelledVectors) -> list[dict]:
    gaps = label_hull_distances(units.layer(layer), units.labels)
    return [{"layer": layer, "label_a": a, "label_b": b, "distance": gap.distance} for (a, b), gap in gaps.items()]


if __name__ == "__main__":
    from workflow.lib.activations.labelled_vectors import labelled_vectors
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.processes import in_processes
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    inputs, wildcards = snakemake.input, snakemake.wildcards
    model = f"{wildcards.encoder}/{wildcards.adapted}"
    units = labelled_vectors(inputs.activations, inputs.data, model, snakemake.params.rows, "train")
    of_layers = in_processes(partial(distance_rows, units=units), units.files, snakemake.threads)
    rows = [row for of_layer in of_layers for row in of_layer]
    write_table(rows, snakemake.output[0], model=model, task=wildcards.task)
    log.info("%d layers, %d points", len(units.files), len(units.labels))
