"""zhou2022's numbers, taken from the analysis tables: what its tables print, its figures draw and its claims weigh."""

from itertools import combinations

import numpy as np
import pandas as pd

from workflow.lib.base.errors import UserError
from workflow.lib.base.repetitions import with_parts
from workflow.lib.methods.directprobe.label_geometry import nearest_distances, spatial_similarity, without_small_labels

CELL = ["encoder", "task", "state", "seed"]


def published_task(task: str) -> str:
    """A task's name in published.csv."""
    return task.replace("_", "-")


def published_cell(size: str, task: str, state: str) -> str:
    """A cell of table 7 there: base, ps_fxn, finetuned -> base/ps-fxn/tuned."""
    name = {"trec50": "trec-50"}.get(task, published_task(task))
    return f"{size}/{name}/{'tuned' if state in ('finetuned', 'tuned') else 'orig'}"


def own_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of encoders before tuning and of models tuned on the very task that is probed."""
    frame = with_parts(frame)
    return frame[frame["tuned_on"].isna() | (frame["tuned_on"] == frame["task"])]


def cells(
    clusters: pd.DataFrame, similarity: pd.DataFrame, accuracy: pd.DataFrame, missing: str = "shared"
) -> pd.DataFrame:
    """Table 7, one row per encoder, task, state and tuning seed. Accuracies in percent, over the probe's seeds.

    `similarity` is by the rule `missing` for labels that train or test lacks, `similarity_zero` always by that rule.
    """
    of_probe = own_cells(accuracy).groupby(CELL, sort=False)
    probed = of_probe["accuracy"].agg(accuracy=lambda v: 100 * v.mean(), accuracy_sd=lambda v: 100 * v.std(ddof=0))
    probed["sizes"] = of_probe[["first", "second"]].first().astype(str).agg(", ".join, axis=1)
    probed["configurations"] = of_probe["n_configurations"].first()
    trained = own_cells(clusters).query("split == 'train'").set_index(CELL)[["n_labels", "n_clusters", "linear"]]
    alike = own_cells(similarity).set_index(CELL)[["shared", "zero"]].add_prefix("similarity_")
    table = probed.join([trained, alike]).reset_index()
    return table.assign(similarity=table[f"similarity_{missing}"])


def changes_of_nearest(distances: pd.DataFrame, probed: str) -> dict[str, pd.DataFrame]:
    """Table 5: by the task tuned on, every label's distance to its nearest one, before and after (training points)."""
    frame = with_parts(distances).query("task == @probed and split == 'train'")
    before = nearest_distances(frame[frame["tuned_on"].isna()])
    changes = {}
    for tuned_on, of_task in frame[frame["tuned_on"].notna()].groupby("tuned_on", sort=False):
        per_seed = [nearest_distances(of_seed) for _, of_seed in of_task.groupby("seed")]
        after = pd.concat(per_seed, axis=1).mean(axis=1)
        changes[tuned_on] = pd.DataFrame({"before": before, "after": after, "change": after - before})
    return changes


def enough(distances: pd.DataFrame, at_least: int) -> pd.DataFrame:
    if distances.empty:
        raise UserError(
            f"a task of zhou2022.tracked_tasks has fewer than two labels with {at_least} or more training points: "
            "lower zhou2022.min_points or follow another task"
        )
    return distances


def nearest_by_step(distances: pd.DataFrame, points: pd.Series, at_least: int, layer: int) -> pd.DataFrame:
    """(steps, labels) distance to the nearest label, without labels of few points."""
    frame = enough(without_small_labels(distances[distances["layer"] == layer], points, at_least), at_least)
    return pd.DataFrame({step: nearest_distances(of_step) for step, of_step in frame.groupby("step")}).T


def similarity_by_step(distances: pd.DataFrame, points: pd.Series, at_least: int) -> pd.DataFrame:
    """(steps, layers) similarity of a step's label distances to those before tuning."""
    frame = enough(without_small_labels(distances, points, at_least), at_least)
    found = {}
    for layer, of_layer in frame.groupby("layer"):
        start = of_layer[of_layer["step"] == of_layer["step"].min()]
        found[layer] = {step: spatial_similarity(start, of_step) for step, of_step in of_layer.groupby("step")}
    return pd.DataFrame(found)


def points_by_label(centroids: pd.DataFrame) -> pd.Series:
    return centroids.groupby("label")["n_points"].first()


def movements(centroids: pd.DataFrame) -> dict[int, pd.DataFrame]:
    """By layer: (labels, width) how far and where each label's centroid went from the first saved step to the last."""
    found = {}
    for layer, of_layer in centroids.groupby("layer"):
        first, last = (
            of_layer[of_layer["step"] == step].set_index("label")["centroid"]
            for step in (of_layer["step"].min(), of_layer["step"].max())
        )
        found[layer] = pd.DataFrame({label: last[label] - first[label] for label in first.index}).T
    return found


def closest_labels(distances: pd.DataFrame, centroids: pd.DataFrame, n: int = 3) -> tuple[str, ...]:
    """Labels whose hulls lie closest together before tuning, last layer; centroids decide among overlapping ones."""

    def at_start(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[(frame["step"] == frame["step"].min()) & (frame["layer"] == frame["layer"].max())]

    gaps = at_start(distances).set_index(["label_a", "label_b"])["distance"].to_dict()
    centres = at_start(centroids).set_index("label")["centroid"]
    names = sorted({name for pair in gaps for name in pair})

    def closeness(chosen: tuple[str, ...]) -> tuple[float, float]:
        pairs = list(combinations(chosen, 2))
        return sum(gaps[pair] for pair in pairs), sum(np.linalg.norm(centres[a] - centres[b]) for a, b in pairs)

    return min(combinations(names, min(n, len(names))), key=closeness)
