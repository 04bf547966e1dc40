"""What every method says of one fine-tuned model, layer by layer."""

from pathlib import Path

import pandas as pd

from workflow.lib.activations.cache import caches_of_both
from workflow.lib.activations.labelled_vectors import points_of_task
from workflow.lib.methods.directprobe.label_geometry import spatial_similarity
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances
from workflow.lib.methods.rsa.layers import compare
from workflow.papers.beyond.numbers import marginal_costs


def geometry(points, layer: int) -> pd.DataFrame:
    gaps = label_hull_distances(points.layer(layer), points.labels)
    return pd.DataFrame([{"label_a": a, "label_b": b, "distance": gap.distance} for (a, b), gap in gaps.items()])


def of_model(sweeps: pd.DataFrame, model: str) -> pd.DataFrame:
    """The sweep of the encoder and seed that a model was made with; a table has all of a task's."""
    encoder, _, adapted = model.partition("/")
    return sweeps[(sweeps["encoder"] == encoder) & (sweeps["seed"] == int(adapted.rpartition(".s")[2]))]


def rsa_changes(base: Path, tuned: Path, settings: dict, seed: int) -> list[float]:
    """Of layers 1 to L."""
    similarity = pd.DataFrame(compare(base, tuned, **settings, seed=seed)).groupby("layer")["similarity"].mean()
    return list(1 - similarity[similarity.index > 0])


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_table

    to_rule_log(snakemake.log[0])
    inputs, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards
    caches = caches_of_both(inputs, wildcards.model)
    before, after = (points_of_task(cache, [inputs.data], params.points, "train") for cache in caches)
    layers = range(1, before.n_layers + 1)
    spatial = [1 - spatial_similarity(geometry(before, layer), geometry(after, layer)) for layer in layers]
    places = [cache / "token" / params.general for cache in caches]
    distances, sweeps = (of_model(read_tables(files), wildcards.model) for files in (inputs.distances, inputs.sweeps))
    distances = distances.query("recipe == 'full'").drop_duplicates("layer").sort_values("layer")
    scores = sweeps.set_index("recipe")["test_accuracy"].to_dict()
    found = {
        "rsa": rsa_changes(*places, params.rsa, params.seed),
        "spatial": spatial,
        "weights": list(distances["relative"]),
        **marginal_costs(scores, len(layers)),
    }
    rows = [
        {"method": method, "layer": layer, "change": change}
        for method, changes in found.items()
        for layer, change in zip(layers, changes)
    ]
    write_table(rows, snakemake.output[0], model=wildcards.model)
