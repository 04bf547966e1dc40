"""matton2019's claims. Thresholds say what "little", "far" or "few" is taken to mean; none was chosen after looking."""

import numpy as np
import pandas as pd

from workflow.lib.claims.verdicts import FAILS, HOLDS, UNCLEAR, Claim, above, all_of, said
from workflow.lib.matton2019 import (
    component_losses,
    curve_points,
    leading_run,
    selected_accuracies,
    variance_ratios,
    with_parts,
)

LITTLE = 2.0  # points; the paper's largest loss at five components is 1.05
NEARLY = 1.0  # points; the paper's "natural" column is at most 0.4 below all
FAR = 10.0  # points; the paper's smallest distance is 10.6
ENOUGH_PER_DIMENSION = 30  # vectors; the paper's 32,000 for 768 dimensions are 42
TOP_SHARE = 0.1  # of the neurons within a point of the best; the paper's example is 7 %
WIDEST_GAP = 0.25  # of the range between worst and best neuron: anything wider is a gap

PAPER = "matton2019"


def per_task(values: dict[str, list[float]], threshold: float) -> tuple[str, str]:
    verdict = all_of([above(of_task, threshold) for of_task in values.values()])
    return verdict, "; ".join(f"{task} {said(of_task)}" for task, of_task in values.items())


def tuning_beats_frozen(greedy: pd.DataFrame, metrics: pd.DataFrame) -> Claim:
    frozen = selected_accuracies(greedy).query("state == 'pretrained' and neurons == 'all'")
    frozen = frozen.set_index(["encoder", "task"])["accuracy"]
    gains: dict[str, list[float]] = {}
    for row in metrics.itertuples():
        gains.setdefault(row.task, []).append(100 * row.test_accuracy - frozen[(row.encoder, row.task)])
    verdict, evidence = per_task(gains, 0)
    return Claim(PAPER, "tuning_beats_frozen", "Fine-tuning beats a classifier on the frozen encoder.", verdict,
                 f"points gained: {evidence}")  # fmt: skip


def pca_orders(accuracy: pd.DataFrame) -> list[Claim]:
    """Averages over all retained numbers of dimensions below the full width."""
    points = curve_points(accuracy)
    points = points[points["dimensions"] < points["dimensions"].max()]
    wide = points.pivot_table(index=["task", "encoder"], columns="series", values="accuracy")

    def by_task(frame):
        return {task: of_task.tolist() for task, of_task in frame.groupby(level="task", sort=False)}

    general_gain = by_task(wide["general"] - wide["random"])
    own_gain = by_task(wide["in_domain"] - wide["general"])
    closer = by_task((wide["general"] - wide["random"]) - (wide["in_domain"] - wide["general"]))
    first, first_evidence = per_task(general_gain, 0)
    # "at least as good": only a clear loss speaks against it
    second = all_of([FAILS if above([-v for v in values]) == HOLDS else (HOLDS if len(values) > 1 else UNCLEAR)
                     for values in own_gain.values()])  # fmt: skip
    third, third_evidence = per_task(closer, 0)
    return [
        Claim(PAPER, "general_pca_beats_random", "General PCA components beat randomly chosen dimensions.", first,
              f"mean points over the curve: {first_evidence}"),
        Claim(PAPER, "own_pca_at_least_general", "In-domain PCA is at least as good as general PCA.", second,
              f"mean points over the curve: {per_task(own_gain, 0)[1]}"),
        Claim(PAPER, "domain_gap_is_smaller", "In-domain and general PCA are closer than general PCA and random dimensions.",
              third, f"difference of the two gaps in points: {third_evidence}"),
    ]  # fmt: skip


def few_components_suffice(accuracy: pd.DataFrame) -> Claim:
    losses = component_losses(accuracy, (5,))
    values = {task: (LITTLE - of_task["loss"]).tolist() for task, of_task in losses.groupby("task", sort=False)}
    verdict = all_of([above(of_task) for of_task in values.values()])
    evidence = "; ".join(
        f"{task} {said(of_task['loss'].tolist(), 2)}" for task, of_task in losses.groupby("task", sort=False)
    )
    return Claim(PAPER, "five_components_suffice", f"After fine-tuning, 5 components lose little (under {LITTLE:g} points).",
                 verdict, f"points lost: {evidence}")  # fmt: skip


def variance_follows_classes(variance: pd.DataFrame, n_classes: dict[str, int]) -> Claim:
    """Strict: C-1 or C leading ratios above 1, in every repetition of every task."""
    evidence, verdicts = [], []
    for task, of_task in variance_ratios(variance).groupby("task", sort=False):
        runs = [
            leading_run(run.sort_values("component")["ratio"].tolist())
            for _, run in of_task.groupby(["encoder", "seed"])
        ]
        right = [n_classes[task] - 1 <= run <= n_classes[task] for run in runs]
        verdicts.append(UNCLEAR if len(runs) < 2 or (any(right) and not all(right)) else HOLDS if all(right) else FAILS)
        loose = sum(abs(run - n_classes[task]) <= 2 for run in runs)
        evidence.append(f"{task} (C={n_classes[task]}) {runs}, within 2 of C: {loose} of {len(runs)}")
    return Claim(PAPER, "variance_follows_classes", "The leading variance ratios above 1 number C-1 or C.", all_of(verdicts),
                 "leading ratios above 1: " + "; ".join(evidence))  # fmt: skip


def neurons_suffice(greedy: pd.DataFrame) -> list[Claim]:
    scores = selected_accuracies(greedy)
    wide = scores.pivot_table(
        index=["state", "task", "n_classes", "encoder", "seed"], columns="neurons", values="accuracy"
    )
    wide = wide.reset_index()
    tuned, frozen = wide.query("state == 'finetuned'"), wide.query("state == 'pretrained'")

    def missing(frame, neurons):
        return {task: (of["all"] - of[neurons]).tolist() for task, of in frame.groupby("task", sort=False)}

    def nearly(values):
        return all_of([above([NEARLY - v for v in of_task]) for of_task in values.values()])

    one, natural = missing(tuned.query("n_classes == 2"), "1"), missing(tuned, "natural")
    five = missing(frozen, "5")
    far, far_evidence = per_task(five, FAR)
    return [
        Claim(PAPER, "one_neuron_for_two_classes", f"After fine-tuning, one neuron is within {NEARLY:g} point of all for 2 classes.",
              nearly(one), f"points below all: {per_task(one, 0)[1]}"),
        Claim(PAPER, "as_many_neurons_as_classes", f"After fine-tuning, C neurons are within {NEARLY:g} point of all for C classes.",
              nearly(natural), f"points below all: {per_task(natural, 0)[1]}"),
        Claim(PAPER, "pretrained_neurons_fall_short", f"Before fine-tuning, 5 neurons stay over {FAR:g} points below all.",
              far, f"points below all: {far_evidence}"),
    ]  # fmt: skip


def dense_with_few_at_the_top(alone: pd.DataFrame) -> list[Claim]:
    alone = with_parts(alone).query("state == 'finetuned'")
    gaps: dict[str, list[float]] = {}
    shares: dict[str, list[float]] = {}
    for (task, _, _), run in alone.groupby(["task", "encoder", "seed"], sort=False):
        values = np.sort(run["accuracy"].to_numpy())
        gaps.setdefault(task, []).append(float(np.diff(values).max() / (values[-1] - values[0])))
        shares.setdefault(task, []).append(float(np.mean(values > values[-1] - 0.01)))
    dense = all_of([above([WIDEST_GAP - gap for gap in of_task]) for of_task in gaps.values()])
    few = all_of([above([TOP_SHARE - share for share in of_task]) for of_task in shares.values()])
    return [
        Claim(PAPER, "single_neurons_are_dense", f"Single-neuron accuracies have no gap wider than {WIDEST_GAP:.0%} of their range.",
              dense, "widest gap, share of the range: " + "; ".join(f"{t} {said(v, 2)}" for t, v in gaps.items())),
        Claim(PAPER, "few_neurons_at_the_top", f"At most {TOP_SHARE:.0%} of the neurons come within a point of the best.",
              few, "share of neurons: " + "; ".join(f"{t} {said(v, 2)}" for t, v in shares.items())),
    ]  # fmt: skip


def small_samples_suffice(samples: pd.DataFrame, width: int) -> Claim:
    statement = f"About {ENOUGH_PER_DIMENSION} vectors per dimension suffice for the general PCA (within half a point of the largest sample)."
    frame = with_parts(samples).query("state == 'pretrained'")
    sizes = sorted(frame["sample_size"].unique())
    enough = next((size for size in sizes if size >= ENOUGH_PER_DIMENSION * width), None)
    if enough is None or enough == sizes[-1]:
        return Claim(PAPER, "small_pca_samples_suffice", statement, UNCLEAR,
                     f"the largest sample, {sizes[-1]}, leaves nothing to compare at {width} dimensions")  # fmt: skip
    mean = frame.groupby(["task", "encoder", "sample_size"], sort=False)["accuracy"].mean() * 100
    losses = (mean.xs(sizes[-1], level="sample_size") - mean.xs(enough, level="sample_size")).groupby(
        level="task", sort=False
    )
    values = {task: of_task.tolist() for task, of_task in losses}
    verdict = all_of([above([0.5 - v for v in of_task]) for of_task in values.values()])
    evidence = "; ".join(f"{task} {said(of_task, 2)}" for task, of_task in values.items())
    return Claim(
        PAPER, "small_pca_samples_suffice", statement, verdict, f"points lost with {enough} of {sizes[-1]}: {evidence}"
    )


def all_claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    greedy, accuracy = tables["greedy"], tables["accuracy"]
    n_classes = greedy.groupby("task")["n_classes"].first().to_dict()
    return [
        tuning_beats_frozen(greedy, tables["metrics"]),
        *pca_orders(accuracy),
        few_components_suffice(accuracy),
        variance_follows_classes(tables["variance"], n_classes),
        *neurons_suffice(greedy),
        *dense_with_few_at_the_top(tables["alone"]),
        small_samples_suffice(tables["samples"], int(accuracy["dimensions"].max())),
    ]
