"""Linear probes on the [CLS] vectors of every layer: with the paper's short training, and trained to convergence."""

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.metrics import accuracy_score, matthews_corrcoef
from sklearn.pipeline import Pipeline

from workflow.lib.activations.cache import read_about
from workflow.lib.activations.labelled_vectors import LabelledVectors, labelled_vectors
from workflow.lib.data.labelled_units import label_numbers
from workflow.lib.encoders.pooler import pooler_of
from workflow.lib.methods.layer_probes.short_training import LinearHead, train_short
from workflow.lib.methods.linear import fit_softmax

Pooler = Callable[[np.ndarray], np.ndarray]

# Of vectors, in one pass. Layers do not depend on each other, so any number of passes gives the same heads.
BYTES_HELD = 4 << 30


def passes(n_layers: int, bytes_of_layer: int) -> list[range]:
    """Layers 0..n_layers - 1 in groups that fit in memory."""
    at_once = max(1, BYTES_HELD // bytes_of_layer)
    return [range(start, min(start + at_once, n_layers)) for start in range(0, n_layers, at_once)]


def trained_heads(
    layers: list[np.ndarray], y: np.ndarray, n_classes: int, settings: dict, seed: int
) -> Iterator[tuple[dict, list[LinearHead | Pipeline]]]:
    """Heads of all layers for each kind of training and seed; the converged ones are deterministic, with seed -1."""
    how = {name: settings[name] for name in ("learning_rate", "epochs", "batch_size")}
    for probe_seed in settings["seeds"]:
        heads = train_short(layers, y, n_classes, **how, seed=[seed, probe_seed])
        yield {"training": "short", "probe_seed": probe_seed}, heads
    yield {"training": "converged", "probe_seed": -1}, [fit_softmax(layer, y) for layer in layers]


def probe_layers(
    train: LabelledVectors, test: LabelledVectors, settings: dict, seed: int, pooler: Pooler | None = None
) -> list[dict]:
    """One row per layer and training. Labels are matched by name: either split may lack some of the other's."""
    read = pooler or (lambda vectors: vectors)
    names = sorted({*train.labels, *test.labels})
    y_train, y_test = label_numbers(train.units, names), label_numbers(test.units, names)
    bytes_of_layer = 4 * len(y_train) * read_about(train.files[train.last])["width"]
    rows = []
    for group in passes(train.last + 1, bytes_of_layer):
        seen, unseen = ([read(units.layer(at)) for at in group] for units in (train, test))
        for about, heads in trained_heads(seen, y_train, len(names), settings, seed):
            for layer, head, vectors in zip(group, heads, unseen, strict=True):
                guess = head.predict(vectors)
                scores = {"accuracy": accuracy_score(y_test, guess), "matthews": matthews_corrcoef(y_test, guess)}
                about_rows = {"n_train": len(y_train), "pooled": pooler is not None}
                rows.append({"layer": layer, **about, **scores, **about_rows})
    return rows


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import folder_of, model_folder, model_of, target_of
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    inputs, params = snakemake.input, snakemake.params
    for (item, rows), output in zip(params.work.items(), snakemake.output):
        train, test = (
            labelled_vectors(inputs.activations, inputs.data, model_of(item), rows, split)
            for split in ("train", "test")
        )
        folder = model_folder(model_of(item)).removeprefix("<results>/")
        pooler = pooler_of(folder_of(inputs.models, folder)) if params.settings["pooler"] else None
        found = probe_layers(train, test, params.settings, params.seed, pooler)
        write_table(found, output, model=model_of(item), task=target_of(item))
        for training in ("short", "converged"):
            best = max((row for row in found if row["training"] == training), key=lambda row: row["accuracy"])
            log.info("%s, %s: best %.4f, layer %d", item, training, best["accuracy"], best["layer"])
