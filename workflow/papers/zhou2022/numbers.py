"""zhou2022's numbers, taken from the analysis tables: what its tables print, its figures draw and its claims weigh."""

from itertools import combinations

import numpy as np
import pandas as pd

from workflow.lib.base.errors import UserError
from workflow.lib.base.repetitions import with_parts
from workflow.lib.methods.directprobe.label_geometry import (
    nearest_distances,
    of_enough_points,
    points_of_labels,
    spatial_similarity,
    without_small_labels,
)

CELL = ["encoder", "task", "state", "seed"]
RULES = ("shared", "zero")  # what becomes of labels that one of two geometries lacks: `missing_labels` in the config


# --- table 7: encoders x tasks


def own_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of encoders before tuning and of models tuned on the very task that is probed."""
    frame = with_parts(frame)
    return frame[frame["tuned_on"].isna() | (frame["tuned_on"] == frame["task"])]


def train_test_similarities(distances: pd.DataFrame, at_least: int) -> pd.DataFrame:
    """(cells, rules) likeness of training and test geometry. Labels with few points in a set count as missing there."""
    found = {}
    for key, cell in own_cells(distances).groupby(CELL, sort=False):
        sets = [cell[cell["split"] == split] for split in ("train", "test")]
        found[key] = {
            rule: spatial_similarity(*(of_enough_points(s, points_of_labels(s), at_least, rule) for s in sets), rule)
            for rule in RULES
        }
    frame = pd.DataFrame.from_dict(found, orient="index", columns=RULES).add_prefix("similarity_")
    frame.index = pd.MultiIndex.from_tuples(found, names=CELL)
    return frame


def cells(
    clusters: pd.DataFrame, distances: pd.DataFrame, accuracy: pd.DataFrame, at_least: int, missing: str
) -> pd.DataFrame:
    """Table 7, one row per encoder, task, state and tuning seed. Accuracies in percent, over the probe's seeds.

    `similarity` is by the rule `missing`; by any rule there is one only where both sets are linearly separable.
    """
    of_probe = own_cells(accuracy).groupby(CELL, sort=False)
    probed = of_probe["accuracy"].agg(accuracy=lambda v: 100 * v.mean(), accuracy_sd=lambda v: 100 * v.std(ddof=0))
    probed["probe_seeds"] = of_probe["accuracy"].count()
    probed["sizes"] = of_probe[["first", "second"]].first().astype(str).agg(", ".join, axis=1)
    probed[["configurations", "grid_stopping"]] = of_probe[["n_configurations", "grid_stopping"]].first()
    clusters = own_cells(clusters)
    trained = clusters.query("split == 'train'").set_index(CELL)[["n_labels", "floor", "n_clusters", "linear"]]
    separable = clusters.groupby(CELL, sort=False)["linear"].all()
    alike = train_test_similarities(distances, at_least)
    alike = alike.where(separable.reindex(alike.index, fill_value=False))
    table = probed.join([trained, alike]).reset_index()
    return table.assign(similarity=table[f"similarity_{missing}"])


# --- table 5: tuned on one task, probed for another


def changes_of_nearest(distances: pd.DataFrame, probed: str) -> dict[str, pd.DataFrame]:
    """By the task tuned on, every label's distance to its nearest one, before and after (training points)."""
    frame = with_parts(distances).query("task == @probed and split == 'train'")
    before = nearest_distances(frame[frame["tuned_on"].isna()])
    changes = {}
    for tuned_on, of_task in frame[frame["tuned_on"].notna()].groupby("tuned_on", sort=False):
        per_seed = [nearest_distances(of_seed) for _, of_seed in of_task.groupby("seed")]
        after = pd.concat(per_seed, axis=1).mean(axis=1)
        changes[tuned_on] = pd.DataFrame({"before": before, "after": after, "change": after - before})
    return changes


def cross_accuracies(accuracy: pd.DataFrame, probed: str) -> tuple[pd.DataFrame, str]:
    """(repetitions, tasks tuned on; "none" for no tuning) probe accuracy in percent, and what a repetition is: a tuning
    seed if there are several, else a seed of the probe."""
    frame = with_parts(accuracy).query("task == @probed")
    frame = frame.assign(tuned_on=frame["tuned_on"].fillna("none"), accuracy=100 * frame["accuracy"])
    n_seeds = frame.loc[frame["tuned_on"] != "none", "seed"].nunique()
    by, unit = ("seed", "runs") if n_seeds > 1 else ("probe_seed", "probe seeds")
    table = frame.pivot_table(index=by, columns="tuned_on", values="accuracy", sort=False)
    if unit == "runs":  # the encoder itself has no tuning seed: it is the same for all
        table["none"] = table["none"].mean()
    return table, unit


# --- figures 2 to 10: labels during fine-tuning


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


def nearest_of_tasks(distances: pd.DataFrame, centroids: pd.DataFrame, at_least: int) -> dict[str, pd.DataFrame]:
    """By task, in the last layer."""
    return {
        task: nearest_by_step(of_task, points_by_label(centroids, task), at_least, int(of_task["layer"].max()))
        for task, of_task in distances.groupby("task", sort=False)
    }


def similarity_by_step(distances: pd.DataFrame, points: pd.Series, at_least: int, missing: str) -> pd.DataFrame:
    """(steps, layers) similarity of a step's label distances to those before tuning."""
    enough(without_small_labels(distances, points, at_least), at_least)
    frame, found = of_enough_points(distances, points, at_least, missing), {}
    for layer, of_layer in frame.groupby("layer"):
        start = of_layer[of_layer["step"] == of_layer["step"].min()]
        found[layer] = {step: spatial_similarity(start, of_step, missing) for step, of_step in of_layer.groupby("step")}
    return pd.DataFrame(found)


def similarity_at_end(distances: pd.DataFrame, centroids: pd.DataFrame, at_least: int, missing: str) -> pd.DataFrame:
    """(tasks, layers) after the last update."""
    found = {
        task: similarity_by_step(of_task, points_by_label(centroids, task), at_least, missing).iloc[-1]
        for task, of_task in distances.groupby("task", sort=False)
    }
    return pd.DataFrame(found).T


def points_by_label(centroids: pd.DataFrame, task: str) -> pd.Series:
    return centroids[centroids["task"] == task].groupby("label")["n_points"].first()


def low_layer(n_layers: int) -> int:
    """The paper draws every second of twelve layers: its lowest is 2."""
    return max(1, round(n_layers / 6))


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


def two_axes(vectors: np.ndarray) -> tuple[np.ndarray, float]:
    """(vectors, 2) coordinates on the two axes that hold most of the vectors' squared length, and the share they hold.

    Not centred: a direction that all vectors share is what is looked for. It points to the right.
    """
    _, sizes, axes = np.linalg.svd(np.asarray(vectors, dtype=float), full_matrices=False)
    arrows = vectors @ axes[:2].T
    arrows = np.pad(arrows * np.where(arrows.sum(axis=0) < 0, -1, 1), ((0, 0), (0, 2 - arrows.shape[1])))
    total = float(np.square(sizes).sum())
    return arrows, float(np.square(sizes[:2]).sum()) / total if total else float("nan")


def cosines(vectors: np.ndarray) -> np.ndarray:
    """(n, n) between vectors; NaN on the diagonal, and for a vector of length 0."""
    with np.errstate(invalid="ignore"):
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = units @ units.T
    np.fill_diagonal(found, np.nan)
    return found


def mean_cosine(vectors: np.ndarray) -> float:
    """Over all pairs: 1 if all go the same way, 0 if they go anywhere."""
    found = cosines(vectors)
    return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")


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


def mean_gap(centres: pd.Series) -> float:
    """Mean distance between centroids (by label)."""
    return float(np.mean([np.linalg.norm(a - b) for a, b in combinations(centres, 2)]))
