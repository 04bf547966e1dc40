"""zhou2022's claims (claims.yaml), judged by the analysis tables.

The paper has one fine-tuning run of each kind (of several, cells take the mean). What then has one value and no
interval is judged by that value, in each task or cell; where labels or the probe's seeds repeat it, by the interval.
"""

from collections.abc import Mapping
from itertools import pairwise, product

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from workflow.lib.base.claims import Claim, Claims
from workflow.lib.base.repetitions import with_parts
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR, Estimate, all_of, opposite
from workflow.lib.methods.directprobe.label_geometry import without_small_labels
from workflow.papers.zhou2022.numbers import (
    cells,
    changes_of_nearest,
    closest_labels,
    cosines,
    cross_accuracies,
    low_layer,
    mean_cosine,
    mean_gap,
    movements,
    nearest_of_tasks,
    points_by_label,
    similarity_at_end,
    two_axes,
)

CLAIMS = Claims("zhou2022")
FEWEST = 4  # cells or tasks below which a share says nothing
SHOWN = 4  # exceptions that are named
LABELS = "labels of one run"
DISTINCT = ("INTJ", "SYM")
SAME_WAY = 0.5  # mean cosine from which on movements go "the same way": less than 60 degrees apart


# --- verdicts by value


def name_of_key(key: object) -> str:
    return "/".join(map(str, key)) if isinstance(key, tuple) else str(key)


def listed(values: Mapping, digits: int = 2, sign: str = "") -> str:
    return "; ".join(f"{name_of_key(key)} {value:{sign}.{digits}f}" for key, value in values.items())


def counted(values: pd.Series, turned: int = 1) -> str:
    """`23 of 25 (not: small/pos -0.10)`: how many are above 0, and the farthest below. `turned`: -1 if a value is the
    negative of what is named."""
    below = values[values <= 0].sort_values()
    more = f" and {len(below) - SHOWN} more" if len(below) > SHOWN else ""
    exceptions = f" (not: {listed(turned * below.head(SHOWN), sign='+')}{more})" if len(below) else ""
    return f"{len(values) - len(below)} of {len(values)}{exceptions}"


def side(value: float, threshold: float) -> str:
    return UNCLEAR if value != value else HOLDS if value > threshold else FAILS


def each(name: str, values: Mapping[str, float], evidence: str, is_above: bool = True) -> Claim:
    """Holds if every value is above (or below) the threshold."""
    sides = [side(value, CLAIMS.threshold(name)) for _, value in values.items()]
    return CLAIMS.judged(name, all_of(sides if is_above else map(opposite, sides)), evidence)


def fall_in_each_cell(name: str, falls: pd.Series, what: str) -> Claim:
    """Holds if all are falls. One cell alone decides nothing."""
    verdict = UNCLEAR if len(falls) < 2 else all_of(side(fall, 0) for fall in falls)
    return CLAIMS.judged(name, verdict, f"{what} in {counted(falls, turned=-1)}")


def most(name: str, values: pd.Series, what: str, is_against: pd.Series | None = None) -> Claim:
    """Holds if a large enough share is above 0. A single exception refutes nothing.

    `is_against`: which values are exceptions, if not all that are not above 0.
    """
    is_against = values <= 0 if is_against is None else is_against.reindex(values.index)
    n_against, n = int(is_against.sum()), len(values)
    if n < FEWEST:
        verdict = UNCLEAR
    elif (n - n_against) / n > CLAIMS.threshold(name):
        verdict = HOLDS
    else:
        verdict = FAILS if n_against > 1 else UNCLEAR
    clear = "" if is_against.equals(values <= 0) else f"; {n_against} of these clear of the probe's spread"
    return CLAIMS.judged(name, verdict, f"{what} in {counted(values)}{clear}")


# --- table 7: encoders x tasks


def before_and_after(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """(encoder, task): pretrained, finetuned; means over tuning seeds."""
    wide = table.groupby(["encoder", "task", "state"], sort=False)[column].mean().unstack("state")
    return wide.reindex(columns=["pretrained", "finetuned"])


def change_in(table: pd.DataFrame, column: str) -> pd.Series:
    both = before_and_after(table, column).dropna()
    return both["finetuned"] - both["pretrained"]


def clear_losses(table: pd.DataFrame, gained: pd.Series) -> pd.Series:
    """Is a cell's loss of accuracy clear of the spread of the probe's seeds (Welch's interval)?"""
    spread = before_and_after(table, "accuracy_sd").loc[gained.index]
    n = int(table["probe_seeds"].min())
    if n < 2:
        return gained < 0
    half = stdtrit(2 * (n - 1), 0.975) * (spread.pow(2).sum(axis=1) / (n - 1)).pow(0.5)
    return gained + half < 0


def divergence_claims(table: pd.DataFrame) -> list[Claim]:
    gained, fallen = change_in(table, "accuracy"), -change_in(table, "similarity")
    is_lost, diverging = clear_losses(table, gained), fallen.index[fallen > 0]
    where = gained.reindex(diverging).dropna()
    return [
        most("tuning_improves", gained, "accuracy rises", is_lost),
        fall_in_each_cell("similarity_falls", fallen, "similarity falls"),
        most("divergence_rarely_hurts", where, "where similarity falls, accuracy rises", is_lost),
        exception_is_least_similar(gained, before_and_after(table, "similarity")["finetuned"].dropna(), is_lost),
    ]


def exception_is_least_similar(gained: pd.Series, similarity: pd.Series, is_lost: pd.Series) -> Claim:
    name = "exception_is_least_similar"
    gained = gained.reindex(similarity.index).dropna()
    if len(gained) < FEWEST:
        return CLAIMS.judged(name, UNCLEAR, f"{len(gained)} cells have a similarity after tuning")
    worst, lowest = gained.idxmin(), similarity.idxmin()
    said = (
        f"largest loss {listed({worst: gained[worst]}, sign='+')} points (similarity {similarity[worst]:.2f}), "
        f"lowest similarity {listed({lowest: similarity[lowest]})}"
    )
    if not is_lost[worst]:
        return CLAIMS.judged(name, UNCLEAR, f"of the cells with a similarity none clearly loses accuracy; {said}")
    return CLAIMS.judged(name, HOLDS if worst == lowest else FAILS, said)


def cluster_claims(table: pd.DataFrame, smallest: str) -> list[Claim]:
    above_floor = before_and_after(table.assign(above=table["n_clusters"] - table["floor"]), "above")["pretrained"]
    voting = above_floor.index[above_floor > 0]
    counts = before_and_after(table, "n_clusters").loc[voting].dropna()
    fallen = counts["pretrained"] - counts["finetuned"]
    said = [f"{name_of_key(key)} {row.pretrained:.0f} to {row.finetuned:.0f}" for key, row in counts.iterrows()]
    what = f"cells above their floor before tuning: {'; '.join(said) or 'none'}; fewer clusters"
    return [smallest_is_mostly_not_linear(above_floor, smallest), fall_in_each_cell("clusters_fall", fallen, what)]


def smallest_is_mostly_not_linear(above_floor: pd.Series, smallest: str) -> Claim:
    """`above_floor`: clusters beyond the floor before tuning, by encoder and task."""
    name, encoders = "smallest_is_mostly_not_linear", set(above_floor.index.get_level_values("encoder"))
    if len(encoders) < 2:
        return CLAIMS.judged(name, UNCLEAR, "the run has one encoder: none is the small one")
    return most(name, above_floor.xs(smallest, level="encoder"), f"{smallest}: more clusters than the floor")


# --- table 5: tuned on one task, probed for another


def cross_claims(distances: pd.DataFrame, accuracy: pd.DataFrame, cross_tasks: dict[str, list[str]]) -> list[Claim]:
    """The last task of a list is the opposing one, the others are the task itself and related ones."""
    moved, ordered, alike, gaps, growing = {}, {}, {}, {}, {}
    tuned = with_parts(distances).dropna(subset="tuned_on")
    unit_of_labels = LABELS if tuned["seed"].nunique() == 1 else "labels, means of several runs"
    for probed, others in cross_tasks.items():
        changes = {task: frame["change"].dropna() for task, frame in changes_of_nearest(distances, probed).items()}
        by_model, unit = cross_accuracies(accuracy, probed)
        growing |= {(probed, task): (task, probed, others[-1], float((changes[task] > 0).mean())) for task in others}
        if len(others) > 1:
            moved |= {f"{probed} tuned on {name}": Estimate(values.tolist(), unit_of_labels)
                      for name, values in rising_changes(changes, probed, others).items()}  # fmt: skip
            ordered |= {f"{probed}, {a} minus {b}": Estimate((by_model[a] - by_model[b]).tolist(), unit)
                        for a, b in falling_pairs(probed, others)}  # fmt: skip
        mean_change = pd.Series({task: change.mean() for task, change in changes.items()} | {"none": 0.0})
        alike[probed] = pd.DataFrame({"change": mean_change, "accuracy": by_model.mean()}).dropna()
        of_task = tuned[(tuned["task"] == probed) & (tuned["split"] == "train")]
        of_model = of_task.groupby("tuned_on", sort=False)["distance"].min()
        gaps |= of_model.add_prefix(f"{probed} tuned on ").to_dict()
    what = "mean change of the distance to the nearest label (labels are no repetitions of a fine-tuning)"
    return [
        each("cross_tasks_stay_separable", gaps, f"smallest distance: {listed(gaps)}"),
        CLAIMS.above("related_tasks_help", moved, what, 2),
        labels_of_table_5(growing),
        CLAIMS.above("cross_accuracy_order", ordered, "points", 2),
        distance_goes_with_accuracy(alike),
    ]


def labels_of_table_5(growing: dict[tuple[str, str], tuple[str, str, str, float]]) -> Claim:
    """`growing`: by probed and tuned task: the task tuned on, the task itself, the opposing one, share of labels."""
    sides = []
    for task, own, opposing, share in growing.values():
        expected = share == 1 if task == own else share == 0 if task == opposing else 0 < share < 1
        sides.append(HOLDS if expected else FAILS)
    said = {f"{probed} tuned on {task}": share for (probed, task), (*_, share) in growing.items()}
    verdict = all_of(sides) if len(sides) > 1 else UNCLEAR
    return CLAIMS.judged("labels_of_table_5", verdict, f"share of labels that move apart: {listed(said)}")


def rising_changes(changes: dict[str, pd.Series], probed: str, others: list[str]) -> dict[str, pd.Series]:
    """By label; all of them are above 0 on average where the claim holds."""
    *helping, opposing = others
    found = {task: changes[task] for task in helping}
    if probed in helping:
        found |= {f"{probed} more than {task}": changes[probed] - changes[task] for task in helping if task != probed}
    return found | {f"{opposing}, closer by": -changes[opposing]}


def falling_pairs(probed: str, others: list[str]) -> list[tuple[str, str]]:
    """What was tuned on, the better and the worse: the task itself, related tasks, nothing, the opposing task."""
    *helping, opposing = others
    ranks = [
        [task for task in helping if task == probed],
        [task for task in helping if task != probed],
        ["none"],
        [opposing],
    ]
    ranks = [rank for rank in ranks if rank]
    return [pair for better, worse in pairwise(ranks) for pair in product(better, worse)]


def distance_goes_with_accuracy(models: dict[str, pd.DataFrame]) -> Claim:
    """`models`: by the task that is probed, mean change of distance and accuracy of every model."""
    ranks = {probed: frame["change"].corr(frame["accuracy"], method="spearman") for probed, frame in models.items()}
    few = any(len(frame) < 3 for frame in models.values())
    verdicts = [HOLDS if rank > 1 - 1e-9 else FAILS if rank <= 0 else UNCLEAR for rank in ranks.values()]
    said = {f"{probed} ({len(models[probed])} models)": rank for probed, rank in ranks.items()}
    return CLAIMS.judged("distance_goes_with_accuracy", UNCLEAR if few else all_of(verdicts),
                         f"rank correlation: {listed(said)}")  # fmt: skip


# --- figures 2 to 10: labels during fine-tuning


def distance_claims(distances: pd.DataFrame, centroids: pd.DataFrame, at_least: int) -> list[Claim]:
    nearest = nearest_of_tasks(distances, centroids, at_least)
    changes = {task: steps.iloc[-1] - steps.iloc[0] for task, steps in nearest.items()}
    smallest = distances.groupby("task", sort=False)["distance"].min().to_dict()
    every = pd.concat(changes)
    # the largest fall between two saved steps as a share of the whole growth, label by label
    dips = (pd.concat({task: -steps.diff().min() for task, steps in nearest.items()}) / every)[every > 0]
    threshold = CLAIMS.threshold("growth_is_not_steady")
    n_dips, enough_steps = int((dips > threshold).sum()), all(len(steps) > 2 for steps in nearest.values())
    largest = f", farthest {name_of_key(dips.idxmax())} by {dips.max():.0%} of its growth" if n_dips else ""
    return [
        each("labels_stay_separable", smallest, f"smallest distance: {listed(smallest)}"),
        each("all_distances_grow", every, f"labels whose distance grows: {counted(every)}"),
        CLAIMS.above("labels_move_apart", {task: Estimate(of.tolist(), LABELS) for task, of in changes.items()},
                     "mean change (labels are no repetitions of a fine-tuning)", 2),
        CLAIMS.judged("growth_is_not_steady", (HOLDS if n_dips else FAILS) if enough_steps else UNCLEAR,
                      f"{n_dips} of {len(dips)} growing labels come closer on the way{largest}"),
    ]  # fmt: skip


def closest_labels_part(distances: pd.DataFrame, centroids: pd.DataFrame, at_least: int) -> Claim:
    """Of the first tracked task, as figure 3."""
    task = distances["task"].iloc[0]
    of_task = centroids[centroids["task"] == task]
    kept = without_small_labels(distances[distances["task"] == task], points_by_label(centroids, task), at_least)
    labels = list(closest_labels(kept, of_task))
    first, last = int(of_task["layer"].min()), int(of_task["layer"].max())
    at_last = of_task[of_task["layer"] == last].set_index(["step", "label"])["centroid"]
    start, end = (mean_gap(at_last[step].loc[labels]) for step in (of_task["step"].min(), of_task["step"].max()))
    moved = movements(of_task[of_task["label"].isin(labels)])
    alike = {layer: mean_cosine(moved[layer].to_numpy()) for layer in (first, last)}
    values = {"apart": end - start, "same way": alike[first] - SAME_WAY, "more than": alike[first] - alike[last]}
    evidence = (
        f"{task}, {', '.join(labels)}: mean distance of centroids in layer {last} {start:.2f} to {end:.2f}; "
        f"mean cosine of movements {alike[first]:.2f} in layer {first}, {alike[last]:.2f} in layer {last}"
    )
    return each("closest_labels_part", values, evidence)


def depth_claims(ends: pd.DataFrame) -> list[Claim]:
    """`ends`: (tasks, layers) similarity to the start after the last update."""
    top = int(ends.columns.max())
    low, upper = low_layer(top), [layer for layer in ends.columns if layer > top / 2]
    said = "; ".join(f"{task} {row[low]:.2f} to {row[top]:.2f}" for task, row in ends.iterrows())
    lowest = ends[upper].min(axis=1, skipna=False)
    return [
        each("similarity_falls_with_depth", ends[low] - ends[top], f"layer {low} to layer {top}: {said}"),
        each("similarity_stays", lowest, f"lowest of layers {upper[0]} to {top}: {listed(lowest)}"),
    ]


def movement_claims(centroids: pd.DataFrame) -> list[Claim]:
    shorter, flatter, lengths, shares = {}, {}, [], []
    for task, of_task in centroids.groupby("task", sort=False):
        by_layer = movements(of_task)
        layers = low_layer(max(by_layer)), max(by_layer)
        low, top = (by_layer[layer].to_numpy() for layer in layers)
        length = [float(np.linalg.norm(moved, axis=1).mean()) for moved in (low, top)]
        share = [two_axes(moved)[1] for moved in (low, top)]
        alike = [mean_cosine(moved) for moved in (low, top)]
        shorter[task], flatter[task] = length[0] / length[1] if length[1] else float("nan"), share[0] - share[1]
        lengths.append(f"{task} {length[0]:.2f} / {length[1]:.2f} = {shorter[task]:.2f}")
        shares.append(f"{task} {share[0]:.2f}, {share[1]:.2f} (mean cosine {alike[0]:.2f}, {alike[1]:.2f})")
    where = "layer {} and {}".format(*layers)
    return [
        each("low_layers_move_little", shorter, f"mean movement, {where}: {'; '.join(lengths)}", is_above=False),
        each("low_layers_move_in_few_directions", flatter, f"share of two axes, {where}: {'; '.join(shares)}"),
        intj_and_sym_stand_out(centroids),
    ]


def intj_and_sym_stand_out(centroids: pd.DataFrame) -> Claim:
    name, of_pos = "intj_and_sym_stand_out", centroids[centroids["task"] == "pos"]
    if not set(DISTINCT) <= set(of_pos["label"]):
        return CLAIMS.judged(name, UNCLEAR, "no POS task with INTJ and SYM is followed")
    by_layer = movements(of_pos)
    moved = by_layer[low_layer(max(by_layer))]
    alike = pd.DataFrame(cosines(moved.to_numpy()), moved.index, moved.index)
    others = [label for label in moved.index if label not in DISTINCT]
    usual = float(np.nanmean(alike.loc[others, others]))
    theirs = alike.loc[list(DISTINCT), others].mean(axis=1)
    return each(name, usual - theirs, f"mean cosine with the other labels: {listed(theirs)}; among these {usual:.2f}")


def all_claims(tables: dict[str, pd.DataFrame], settings: dict) -> list[Claim]:
    missing, at_least = settings["missing_labels"], settings["min_points"]
    table = cells(tables["clusters"], tables["distances"], tables["accuracy"], at_least, missing)
    table = table[table["task"].isin(settings["tasks"])]
    paths = tables["path_distances"], tables["path_centroids"], at_least
    crossed = settings["cross_tasks"]
    found = [
        *divergence_claims(table),
        *cluster_claims(table, settings["table3"]),
        *distance_claims(*paths),
        closest_labels_part(*paths),
        *(cross_claims(tables["cross_distances"], tables["cross_accuracy"], crossed) if crossed else []),
        *depth_claims(similarity_at_end(*paths, missing)),
        *movement_claims(tables["path_centroids"]),
    ]
    return CLAIMS.complete(found)
