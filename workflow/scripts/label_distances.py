"""Distances between the convex hulls of a task's labels in every layer of a model, on training rows."""

from collections.abc import Iterator

from workflow.lib.activations.labelled_vectors import LabelledVectors
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances


def distance_rows(units: LabelledVectors) -> Iterator[dict]:
    for layer in units.files:
        for (a, b), gap in label_hull_distances(units.layer(layer), units.labels).items():
            yield {"layer": layer, "label_a": a, "label_b": b, "distance": gap.distance}


if __name__ == "__main__":
    from workflow.lib.activations.labelled_vectors import labelled_vectors
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    inputs, wildcards = snakemake.input, snakemake.wildcards
    model = f"{wildcards.encoder}/{wildcards.adapted}"
    units = labelled_vectors(inputs.activations, inputs.data, model, snakemake.params.rows, "train")
    write_table(list(distance_rows(units)), snakemake.output[0], model=model, task=wildcards.task)
    log.info("%d layers, %d points", len(units.files), len(units.labels))
