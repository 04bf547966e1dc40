"""matton2019's claims (claims.yaml), judged by the analysis tables."""

import numpy as np
import pandas as pd

from workflow.lib.base.chance import most_frequent
from workflow.lib.base.claims import Claim, Claims
from workflow.lib.base.repetitions import with_parts
from workflow.lib.base.resampling import resampled_means
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR, Estimate, all_of
from workflow.papers.matton2019.numbers import (
    component_losses,
    curve_points,
    leading_runs,
    points,
    selected_accuracies,
    variance_ratios,
)

CLAIMS = Claims("matton2019")
PER_DIMENSION = 30  # vectors that the general PCA is fitted on
NEAR = 0.007  # of accuracy below the best neuron; scores are multiples of 1 / test rows, so a little more
PerTask = dict[str, Estimate]


def by_task(rows: pd.Series, unit: str = "runs") -> PerTask:
    """`rows`: for each repetition a quantity in every test row; level `task` in the index."""
    return {task: Estimate.of_rows(of_task, unit) for task, of_task in rows.groupby(level="task", sort=False)}


def difference(one: pd.Series, other: pd.Series) -> pd.Series:
    """Points that one classifier is ahead, for the repetitions that both have.

    A run of fine-tuning and the encoder it started from: `other` has no seed then.
    """
    shared = [name for name in one.index.names if name in other.index.names]
    pairs = one.rename("one").reset_index().merge(other.rename("other").reset_index(), on=shared).dropna()
    pairs.index = pd.MultiIndex.from_frame(pairs[list(one.index.names)])
    return pd.Series([points(a, b) for a, b in zip(pairs["one"], pairs["other"])], pairs.index, dtype=object)


def rights(greedy: pd.DataFrame, state: str, neurons: str) -> pd.Series:
    """Which test rows were right, by task and run (of the pre-trained encoder: by task and encoder)."""
    frame = selected_accuracies(greedy).query("state == @state and neurons == @neurons")
    return frame.set_index(["task", "encoder", "seed"] if state == "finetuned" else ["task", "encoder"])["right"]


def tuned_rights(metrics: pd.DataFrame) -> pd.Series:
    right = [np.equal(truth, guess) for truth, guess in zip(metrics["row_truth"], metrics["row_guess"])]
    return pd.Series(right, pd.MultiIndex.from_frame(metrics[["task", "encoder", "seed"]]), dtype=object)


def constant_rights(metrics: pd.DataFrame, n_classes: int) -> pd.Series:
    """Rows of the most frequent classes: what a guess of one class gets right, and a perfect detector of one class
    followed by a guess of another gets right of two."""
    truths = metrics.groupby("task", sort=False)["row_truth"].first()
    return truths.map(lambda truth: most_frequent(truth, n_classes))


def pca_claims(accuracy: pd.DataFrame) -> list[Claim]:
    """Over all retained numbers of dimensions below the encoder's full width."""
    frame = curve_points(accuracy)
    width = frame.groupby("encoder")["dimensions"].transform("max")
    keys = ["task", "encoder"]
    half = frame[(frame["series"] == "general") & (frame["dimensions"] <= width / 2)]
    half = half.sort_values("dimensions").groupby(keys, sort=False)["right"].last()  # the script adds it to any grid
    everything = frame[(frame["series"] == "general") & (frame["dimensions"] == width)].set_index(keys)["right"]
    below = frame[frame["dimensions"] < width]
    # in every test row the share of the curve's classifiers that were right; draws of random dimensions are averaged
    by_point = below.groupby([*keys, "series", "dimensions"], sort=False)["right"].agg(lambda of: np.mean(list(of), 0))
    means = by_point.groupby([*keys, "series"], sort=False).agg(lambda of: np.mean(list(of), 0)).unstack("series")
    over_random, over_general = (
        difference(means[one], means[other]) for one, other in (("general", "random"), ("in_domain", "general"))
    )
    closer = {}
    for task in dict.fromkeys(means.index.get_level_values("task")):
        runs = [np.stack(pair, 1) for pair in zip(over_random[task], over_general[task])]
        values = [float(run[:, 0].mean() - abs(run[:, 1].mean())) for run in runs]
        drawn = resampled_means(runs[0])
        closer[task] = Estimate(values, "encoders", drawn[:, 0] - np.abs(drawn[:, 1]), len(runs[0]))
    return [
        CLAIMS.below("pretrained_is_redundant", by_task(difference(everything, half), "encoders"), "points lost"),
        CLAIMS.above("general_pca_beats_random", by_task(over_random, "encoders"), "mean points over the curve"),
        CLAIMS.above("in_domain_pca_is_better", by_task(over_general, "encoders"), "mean points over the curve"),
        CLAIMS.above("domain_gap_is_smaller", closer, "difference of the gaps in points"),
    ]


def component_claims(accuracy: pd.DataFrame) -> list[Claim]:
    keys = ["task", "encoder", "seed"]
    after = {count: component_losses(accuracy, (count,)).set_index(keys)["rows"] for count in (5, 25)}
    before = component_losses(accuracy, (5,), "pretrained").set_index(["task", "encoder"])["rows"]
    less = difference(before, after[5])  # of values in points: scaled below
    return [
        CLAIMS.below("five_components_suffice", by_task(after[5]), "points lost", 2),
        CLAIMS.below("twentyfive_components_suffice", by_task(after[25]), "points lost", 2),
        CLAIMS.above("tuning_compresses", by_task(less.map(lambda rows: rows / 100)), "points lost less", 2),
    ]


def variance_claims(variance: pd.DataFrame, n_classes: dict[str, int]) -> list[Claim]:
    """Strict: C-1 or C leading ratios above 1, in every run of every task."""
    ratios = variance_ratios(variance)
    first = ratios[ratios["component"] == 1].groupby("task", sort=False)["ratio"]
    evidence, verdicts = [], []
    for task, runs in leading_runs(ratios).items():
        right = [n_classes[task] - 1 <= run <= n_classes[task] for run in runs]
        mixed = len(runs) < 2 or (any(right) and not all(right))
        verdicts.append(UNCLEAR if mixed else HOLDS if all(right) else FAILS)
        loose = sum(abs(run - n_classes[task]) <= 2 for run in runs)
        evidence.append(f"{task} (C={n_classes[task]}) {runs}, within 2 of C: {loose} of {len(runs)}")
    leading = "leading ratios above 1, by run: " + "; ".join(evidence)
    return [
        CLAIMS.above("first_axis_gains", {task: Estimate(list(of)) for task, of in first}, "first ratio", 2),
        CLAIMS.judged("variance_follows_classes", all_of(verdicts), leading),
    ]


def neuron_claims(greedy: pd.DataFrame, metrics: pd.DataFrame, n_classes: dict[str, int]) -> list[Claim]:
    everything, one, natural = (rights(greedy, "finetuned", neurons) for neurons in ("all", "1", "natural"))
    one_before, five_before = (rights(greedy, "pretrained", neurons) for neurons in ("1", "5"))
    missing_one, missing_natural = difference(everything, one), difference(everything, natural)
    is_binary = missing_one.index.get_level_values("task").map(n_classes) == 2
    of_many = one[one.index.get_level_values("task").map(n_classes) > 2]
    detector = difference(of_many, constant_rights(metrics, 2))
    what = "points below all"
    return [
        CLAIMS.above("pretrained_neurons_beat_chance",
                     by_task(difference(one_before, constant_rights(metrics, 1)), "encoders"), "points above"),
        CLAIMS.above("pretrained_neurons_fall_short", by_task(difference(everything, five_before)), "points below"),
        CLAIMS.above("neurons_stand_out_after_tuning", by_task(difference(one, one_before)), "points gained"),
        CLAIMS.below("one_neuron_for_two_classes", by_task(missing_one[is_binary]), what),
        CLAIMS.above("best_neuron_is_no_detector", by_task(detector), "points above"),
        CLAIMS.below("as_many_neurons_as_classes", by_task(missing_natural), what),
    ]  # fmt: skip


def single_neuron_claims(alone: pd.DataFrame) -> list[Claim]:
    gaps, near = {}, {}
    tuned = with_parts(alone).query("state == 'finetuned'")
    for (task, _, _), run in tuned.groupby(["task", "encoder", "seed"], sort=False):
        values = np.sort(run["accuracy"].to_numpy())
        gaps.setdefault(task, []).append(float(np.diff(values).max() / (values[-1] - values[0])))
        near.setdefault(task, []).append(values >= values[-1] - NEAR - 1e-9)
    shares = {
        task: Estimate([run.mean() for run in runs]) if len(runs) > 1 else Estimate(runs[0].astype(float), "neurons")
        for task, runs in near.items()
    }
    counts = {task: Estimate([float(run.sum()) for run in runs]) for task, runs in near.items()}
    widest = {task: Estimate(values) for task, values in gaps.items()}
    return [
        CLAIMS.below("single_neurons_are_dense", widest, "widest gap as a share of the range", 2),
        CLAIMS.below("few_neurons_at_the_top", shares, "share of neurons", 2),
        CLAIMS.above("salient_neurons_are_redundant", counts, "neurons", 1),
    ]


def sample_claim(samples: pd.DataFrame, width: int) -> Claim:
    name = "small_pca_samples_suffice"
    frame = with_parts(samples).query("state == 'pretrained'")
    *smaller, largest = sorted(frame["sample_size"].unique())
    enough = next((size for size in smaller if size >= PER_DIMENSION * width), None)
    if enough is None:
        return CLAIMS.judged(
            name, UNCLEAR, f"the largest sample, {largest}, leaves nothing to compare at {width} dimensions"
        )
    right = frame.groupby(["task", "encoder", "sample_size"], sort=False)["right"].agg(lambda of: np.mean(list(of), 0))
    lost = difference(right.xs(largest, level="sample_size"), right.xs(enough, level="sample_size"))
    return CLAIMS.below(name, by_task(lost, "encoders"), f"points lost with {enough} of {largest}", 2)


def all_claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    greedy, accuracy, metrics = tables["greedy"], tables["accuracy"], tables["metrics"]
    n_classes = greedy.groupby("task")["n_classes"].first().to_dict()
    gained = difference(tuned_rights(metrics), rights(greedy, "pretrained", "all"))
    return CLAIMS.complete(
        [
            CLAIMS.above("tuning_beats_frozen", by_task(gained), "points gained"),
            *pca_claims(accuracy),
            sample_claim(tables["samples"], int(accuracy["dimensions"].max())),
            *component_claims(accuracy),
            *variance_claims(tables["variance"], n_classes),
            *neuron_claims(greedy, metrics, n_classes),
            *single_neuron_claims(tables["alone"]),
        ]
    )
