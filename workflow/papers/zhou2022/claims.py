"""zhou2022's claims. Thresholds say what "nearly always" or "few" is taken to mean; none was chosen after looking."""

import numpy as np
import pandas as pd

from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR, Claim, above, all_of, said
from workflow.lib.methods.pca.principal_axes import principal_axes
from workflow.papers.zhou2022.numbers import (
    cells,
    changes_of_nearest,
    movements,
    nearest_by_step,
    points_by_label,
    similarity_by_step,
)

NEARLY = 0.9  # share of the cells or labels; the paper has 24 of 25
FEWEST = 4  # cells or labels below which a share says nothing
STAYS = 0.5  # similarity to the start at the end, last layer; the paper's lowest is 0.52

STATEMENTS = {
    "tuning_improves": "Fine-tuning nearly always improves the probe's accuracy.",
    "similarity_falls": "The similarity of training and test geometry falls.",
    "clusters_fall": "Where labels did not separate, the clusters fall towards the number of labels.",
    "distances_grow": "Labels' distances to their nearest ones grow.",
    "related_tasks_help": "Tuning on a related task moves labels apart, on an opposing one together.",
    "similarity_falls_with_depth": "Similarity to the start falls with depth.",
    "similarity_stays": f"Similarity to the start stays above {STAYS:g} even at the top.",
    "low_layers_move_little": "Low layers move less than high ones.",
    "low_layers_move_in_few_directions": "Low layers move in fewer directions than high ones.",
}


def claim(name: str, verdict: str, evidence: str) -> Claim:
    return Claim("zhou2022", name, STATEMENTS[name], verdict, evidence)


def nearly_all(name: str, changes: pd.Series, what: str) -> Claim:
    """Holds if nearly all changes are above zero; the exceptions are named (all of them, or the largest few)."""
    changes = changes.dropna()
    rising, n = int((changes > 0).sum()), len(changes)
    verdict = UNCLEAR if n < FEWEST else HOLDS if rising >= NEARLY * n else FAILS
    against = changes[changes <= 0].sort_values().head(4)
    exceptions = ", ".join(f"{'/'.join(map(str, np.atleast_1d(key)))} {value:+.2f}" for key, value in against.items())
    return claim(name, verdict, f"{what} in {rising} of {n}" + (f"; not: {exceptions}" if exceptions else ""))


def before_and_after(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """(encoder, task): pretrained, finetuned; means over tuning seeds, where there are both."""
    return table.groupby(["encoder", "task", "state"])[column].mean().unstack("state").dropna()


def change_in(table: pd.DataFrame, column: str) -> pd.Series:
    both = before_and_after(table, column)
    return both["finetuned"] - both["pretrained"]


def clusters_fall(table: pd.DataFrame) -> Claim:
    excess = before_and_after(table.assign(excess=table["n_clusters"] - table["n_labels"]), "excess")
    unseparated = excess[excess["pretrained"] > 0]
    fell = unseparated["pretrained"] - unseparated["finetuned"]
    said_of = "; ".join(
        f"{'/'.join(key)} {row.pretrained:+.0f} to {row.finetuned:+.0f}" for key, row in unseparated.iterrows()
    )
    if unseparated.empty:
        return claim("clusters_fall", UNCLEAR, "all labels separate before tuning already")
    verdict = HOLDS if (fell > 0).all() else FAILS
    return claim("clusters_fall", verdict, f"clusters beyond one per label: {said_of}")


def distances_grow(distances: pd.DataFrame, centroids: pd.DataFrame, at_least: int) -> Claim:
    changes = {}
    for task, of_task in distances.groupby("task", sort=False):
        points = points_by_label(centroids[centroids["task"] == task])
        nearest = nearest_by_step(of_task, points, at_least, int(of_task["layer"].max()))
        changes |= {(task, label): change for label, change in (nearest.iloc[-1] - nearest.iloc[0]).items()}
    return nearly_all("distances_grow", pd.Series(changes), "last layer, more distance at the end")


def related_tasks_help(distances: pd.DataFrame, cross_tasks: dict[str, list[str]]) -> Claim:
    """The last task of a list is taken as the opposing one, the others as related; one alone says nothing."""
    verdicts, evidence = [], []
    for probed, others in cross_tasks.items():
        changes = {
            task: frame["change"].dropna().tolist() for task, frame in changes_of_nearest(distances, probed).items()
        }
        verdicts += [above(changes[task]) for task in others[:-1]] or [UNCLEAR]
        verdicts.append(above([-change for change in changes[others[-1]]]) if len(others) > 1 else UNCLEAR)
        evidence.append(f"{probed} probed, mean change over labels: "
                        + "; ".join(f"tuned on {task} {said(changes[task], 2)}" for task in others))  # fmt: skip
    return claim("related_tasks_help", all_of(verdicts), ". ".join(evidence))


def at_the_end(distances: pd.DataFrame, centroids: pd.DataFrame, at_least: int) -> pd.DataFrame:
    """(tasks, layers) similarity to the start after the last update."""
    found = {}
    for task, of_task in distances.groupby("task", sort=False):
        points = points_by_label(centroids[centroids["task"] == task])
        found[task] = similarity_by_step(of_task, points, at_least).iloc[-1]
    return pd.DataFrame(found).T


def depth_claims(ends: pd.DataFrame) -> list[Claim]:
    top, bottom = ends.columns.max(), ends.columns.min()
    fall = (ends[bottom] - ends[top]).dropna()
    evidence = "; ".join(f"{task} {row[bottom]:.2f} to {row[top]:.2f}" for task, row in ends.iterrows())
    return [
        claim("similarity_falls_with_depth", above(fall.tolist()), f"layer {bottom} to layer {top}: {evidence}"),
        claim("similarity_stays", above((ends[top].dropna() - STAYS).tolist()), f"at layer {top}: "
              + "; ".join(f"{task} {value:.2f}" for task, value in ends[top].items())),
    ]  # fmt: skip


def movement_claims(centroids: pd.DataFrame) -> list[Claim]:
    lengths, flatness = {}, {}
    for task, of_task in centroids.groupby("task", sort=False):
        by_layer = movements(of_task)
        lengths[task] = {k: np.linalg.norm(moved.to_numpy(), axis=1).mean() for k, moved in by_layer.items()}
        flatness[task] = {k: principal_axes(moved.to_numpy()).explained[:2].sum() for k, moved in by_layer.items()}
    low, high = min(lengths[task]), max(lengths[task])
    longer = {task: of_task[high] - of_task[low] for task, of_task in lengths.items()}
    flatter = {task: of_task[low] - of_task[high] for task, of_task in flatness.items()}
    return [
        claim("low_layers_move_little", above(list(longer.values())), f"mean movement, layer {low} and {high}: "
              + "; ".join(f"{task} {of[low]:.2f}, {of[high]:.2f}" for task, of in lengths.items())),
        claim("low_layers_move_in_few_directions", above(list(flatter.values())),
              f"share of two axes, layer {low} and {high}: "
              + "; ".join(f"{task} {of[low]:.2f}, {of[high]:.2f}" for task, of in flatness.items())),
    ]  # fmt: skip


def all_claims(tables: dict[str, pd.DataFrame], settings: dict) -> list[Claim]:
    table = cells(tables["clusters"], tables["similarity"], tables["accuracy"], settings["missing_labels"])
    table = table[table["task"].isin(settings["tasks"])]
    paths = tables["path_distances"], tables["path_centroids"], settings["min_points"]
    return [
        nearly_all("tuning_improves", change_in(table, "accuracy"), "accuracy rises"),
        nearly_all("similarity_falls", -change_in(table, "similarity"), "similarity falls"),
        clusters_fall(table),
        distances_grow(*paths),
        *([related_tasks_help(tables["cross_distances"], settings["cross_tasks"])] if settings["cross_tasks"] else []),
        *depth_claims(at_the_end(*paths)),
        *movement_claims(tables["path_centroids"]),
    ]
