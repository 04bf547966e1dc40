"""Where does fine-tuning act? What every method says of the same models, as one table."""

from collections.abc import Iterator

import pandas as pd

from workflow.lib.base.names import encoder_of, pretrained, recipe_of
from workflow.lib.methods.directprobe.label_geometry import spatial_similarity
from workflow.papers.beyond.numbers import marginal_costs


def of_model(sweeps: pd.DataFrame, model: str) -> pd.DataFrame:
    """The sweep of the encoder, task and seed that a model was made with."""
    task, _, _, seed = recipe_of(model)
    here = (sweeps["encoder"] == encoder_of(model)) & (sweeps["task"] == task) & (sweeps["seed"] == int(seed))
    return sweeps[here]


def rsa_changes(similarity: pd.DataFrame, model: str) -> dict[int, float]:
    """1 - similarity to the encoder, samples of tokens averaged; without the embeddings."""
    by_layer = similarity[similarity["model"] == model].groupby("layer")["similarity"].mean()
    return {layer: 1 - value for layer, value in by_layer.items() if layer > 0}


def geometry_changes(labels: pd.DataFrame, model: str) -> dict[int, float]:
    """1 - similarity of the distances between labels before and after."""
    task = recipe_of(model)[0]
    before, after = (
        labels[(labels["model"] == of) & (labels["task"] == task)] for of in (pretrained(encoder_of(model)), model)
    )
    return {
        layer: 1 - spatial_similarity(before[before["layer"] == layer], of_layer)
        for layer, of_layer in after.groupby("layer")
    }


def weight_changes(distances: pd.DataFrame) -> dict[int, float]:
    """Relative distance from the pre-trained weights."""
    full = distances[distances["recipe"] == "full"].drop_duplicates("layer")
    return dict(zip(full["layer"], full["relative"]))


def changes(rsa: pd.DataFrame, labels: pd.DataFrame, sweeps: pd.DataFrame, distances: pd.DataFrame) -> pd.DataFrame:
    """model, method, layer (1..L), change."""

    def rows() -> Iterator[dict]:
        for model in dict.fromkeys(rsa["model"]):
            scores = of_model(sweeps, model).set_index("recipe")["test_accuracy"].to_dict()
            similarity = rsa_changes(rsa, model)
            found = {
                "rsa": similarity,
                "spatial": geometry_changes(labels, model),
                "weights": weight_changes(of_model(distances, model)),
            }
            costs = marginal_costs(scores, len(similarity)).items()
            found |= {method: dict(enumerate(values, start=1)) for method, values in costs}
            for method, by_layer in found.items():
                for layer, change in by_layer.items():
                    yield {"model": model, "method": method, "layer": layer, "change": change}

    return pd.DataFrame(list(rows()))
