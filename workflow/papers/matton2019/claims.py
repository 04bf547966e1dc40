"""matton2019's claims. Thresholds say what "little", "far" or "few" is taken to mean; none was chosen after looking."""

import numpy as np
import pandas as pd

from workflow.lib.base.repetitions import with_parts
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR, Claim, above, all_of, said
from workflow.papers.matton2019.numbers import (
    component_losses,
    curve_points,
    leading_run,
    selected_accuracies,
    variance_ratios,
)

LITTLE = 2.0  # points; the paper's largest loss at five components is 1.05
NEARLY = 1.0  # points; the paper's "natural" column is at most 0.4 below all
FAR = 10.0  # points; the paper's smallest distance is 10.6
LEVEL = 0.5  # points that "at least as good" may lack
PER_DIMENSION = 30  # vectors; the paper's 32,000 for 768 dimensions are 42
TOP = 0.1  # share of the neurons within a point of the best; the paper's example is 7 %
WIDEST = 0.25  # of the range between worst and best neuron: anything wider is a gap

STATEMENTS = {
    "tuning_beats_frozen": "Fine-tuning beats a classifier on the frozen encoder.",
    "general_pca_beats_random": "General PCA components beat randomly chosen dimensions.",
    "own_pca_at_least_general": f"In-domain PCA is at least as good as general PCA, to within {LEVEL:g} points.",
    "domain_gap_is_smaller": "In-domain and general PCA are closer than general PCA and random dimensions.",
    "five_components_suffice": f"After fine-tuning, 5 components lose under {LITTLE:g} points.",
    "variance_follows_classes": "The leading variance ratios above 1 number C-1 or C.",
    "one_neuron_for_two_classes": f"After fine-tuning, 1 neuron is within {NEARLY:g} point of all for 2 classes.",
    "as_many_neurons_as_classes": f"After fine-tuning, C neurons are within {NEARLY:g} point of all for C classes.",
    "pretrained_neurons_fall_short": f"Before fine-tuning, 5 neurons stay over {FAR:g} points below all.",
    "single_neurons_are_dense": f"Single-neuron accuracies have no gap wider than {WIDEST:.0%} of their range.",
    "few_neurons_at_the_top": f"At most {TOP:.0%} of the neurons come within a point of the best.",
    "small_pca_samples_suffice": f"{PER_DIMENSION} vectors a dimension give the general PCA all but half a point.",
}
PerTask = dict[str, list[float]]


def claim(name: str, verdict: str, evidence: str) -> Claim:
    return Claim("matton2019", name, STATEMENTS[name], verdict, evidence)


def larger(name: str, values: PerTask, threshold: float, what: str, digits: int = 1) -> Claim:
    """Holds if the values of every task are above the threshold."""
    verdict = all_of([above(of_task, threshold) for of_task in values.values()])
    return claim(name, verdict, f"{what}: " + "; ".join(f"{task} {said(v, digits)}" for task, v in values.items()))


def smaller(name: str, values: PerTask, threshold: float, what: str, digits: int = 1) -> Claim:
    verdict = all_of([above([threshold - value for value in of_task]) for of_task in values.values()])
    return claim(name, verdict, f"{what}: " + "; ".join(f"{task} {said(v, digits)}" for task, v in values.items()))


def by_task(values: pd.Series) -> PerTask:
    return {task: of_task.tolist() for task, of_task in values.groupby(level="task", sort=False)}


def tuning_beats_frozen(greedy: pd.DataFrame, metrics: pd.DataFrame) -> Claim:
    frozen = selected_accuracies(greedy).query("state == 'pretrained' and neurons == 'all'")
    frozen = frozen.set_index(["encoder", "task"])["accuracy"]
    gains: PerTask = {}
    for row in metrics.itertuples():
        gains.setdefault(row.task, []).append(100 * row.test_accuracy - frozen[(row.encoder, row.task)])
    return larger("tuning_beats_frozen", gains, 0, "points gained")


def pca_orders(accuracy: pd.DataFrame) -> list[Claim]:
    """Averages over all retained numbers of dimensions below the encoder's full width."""
    points = curve_points(accuracy)
    points = points[points["dimensions"] < points.groupby("encoder")["dimensions"].transform("max")]
    wide = points.pivot_table(index=["task", "encoder"], columns="series", values="accuracy")
    over_random, over_general = wide["general"] - wide["random"], wide["in_domain"] - wide["general"]
    closer = over_random - over_general.abs()
    return [
        larger("general_pca_beats_random", by_task(over_random), 0, "mean points over the curve"),
        larger("own_pca_at_least_general", by_task(over_general), -LEVEL, "mean points over the curve"),
        larger("domain_gap_is_smaller", by_task(closer), 0, "difference of the gaps in points"),
    ]


def few_components_suffice(accuracy: pd.DataFrame) -> Claim:
    losses = by_task(component_losses(accuracy, (5,)).set_index("task")["loss"])
    return smaller("five_components_suffice", losses, LITTLE, "points lost", 2)


def variance_follows_classes(variance: pd.DataFrame, n_classes: dict[str, int]) -> Claim:
    """Strict: C-1 or C leading ratios above 1, in every repetition of every task."""
    evidence, verdicts = [], []
    for task, of_task in variance_ratios(variance).groupby("task", sort=False):
        repetitions = of_task.sort_values("component").groupby(["encoder", "seed"], sort=False)["ratio"]
        runs = [leading_run(ratios.tolist()) for _, ratios in repetitions]
        right = [n_classes[task] - 1 <= run <= n_classes[task] for run in runs]
        mixed = len(runs) < 2 or (any(right) and not all(right))
        verdicts.append(UNCLEAR if mixed else HOLDS if all(right) else FAILS)
        loose = sum(abs(run - n_classes[task]) <= 2 for run in runs)
        evidence.append(f"{task} (C={n_classes[task]}) {runs}, within 2 of C: {loose} of {len(runs)}")
    return claim("variance_follows_classes", all_of(verdicts), "leading ratios above 1: " + "; ".join(evidence))


def neurons_suffice(greedy: pd.DataFrame) -> list[Claim]:
    keys = ["state", "task", "n_classes", "encoder", "seed"]
    wide = selected_accuracies(greedy).pivot_table(index=keys, columns="neurons", values="accuracy", sort=False)
    # a step that no search took has no column
    missing = wide.reindex(columns=["1", "5", "natural"]).rsub(wide["all"], axis=0)
    tuned, frozen = missing.xs("finetuned"), missing.xs("pretrained")
    of_two = tuned[tuned.index.get_level_values("n_classes") == 2]
    what = "points below all"
    return [
        smaller("one_neuron_for_two_classes", by_task(of_two["1"]), NEARLY, what),
        smaller("as_many_neurons_as_classes", by_task(tuned["natural"]), NEARLY, what),
        larger("pretrained_neurons_fall_short", by_task(frozen["5"]), FAR, what),
    ]


def dense_with_few_at_the_top(alone: pd.DataFrame) -> list[Claim]:
    gaps: PerTask = {}
    shares: PerTask = {}
    tuned = with_parts(alone).query("state == 'finetuned'")
    for (task, _, _), run in tuned.groupby(["task", "encoder", "seed"], sort=False):
        values = np.sort(run["accuracy"].to_numpy())
        gaps.setdefault(task, []).append(float(np.diff(values).max() / (values[-1] - values[0])))
        shares.setdefault(task, []).append(float(np.mean(values > values[-1] - 0.01)))
    return [
        smaller("single_neurons_are_dense", gaps, WIDEST, "widest gap as a share of the range", 2),
        smaller("few_neurons_at_the_top", shares, TOP, "share of neurons", 2),
    ]


def small_samples_suffice(samples: pd.DataFrame, width: int) -> Claim:
    name = "small_pca_samples_suffice"
    frame = with_parts(samples).query("state == 'pretrained'")
    *smaller_sizes, largest = sorted(frame["sample_size"].unique())
    enough = next((size for size in smaller_sizes if size >= PER_DIMENSION * width), None)
    if enough is None:
        return claim(name, UNCLEAR, f"the largest sample, {largest}, leaves nothing to compare at {width} dimensions")
    mean = frame.groupby(["task", "encoder", "sample_size"], sort=False)["accuracy"].mean() * 100
    losses = mean.xs(largest, level="sample_size") - mean.xs(enough, level="sample_size")
    return smaller(name, by_task(losses), 0.5, f"points lost with {enough} of {largest}", 2)


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
