"""Panels that singh2020's figures are made of: scores by layers lost, layer probes, and how far weights moved."""

import pandas as pd

from workflow.lib.base.chance import most_frequent
from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import curve, legend_above, level, name_of
from workflow.papers.singh2020.numbers import METRIC_NAMES, first_measure, metric_of, reinit_curves, size_name

REINITIALISED = "re-initialised, then fine-tuned"
TRAININGS = {
    "short": "removed, rest frozen: short probe",
    "converged": "removed, rest frozen: converged probe",
}


def label_scores(axes, task: str, x_label: str) -> None:
    """Axes of scores by numbers of layers. No ticks in the legend's room, where there is no score: none is above 1."""
    axes.set(xlabel=x_label, ylabel=METRIC_NAMES[metric_of(task)])
    axes.xaxis.get_major_locator().set_params(integer=True)
    low, high = axes.get_ylim()
    legend_above(axes, room=0.11)
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= high])


def guess_line(axes, scores: pd.DataFrame, task: str, label: str = "a guess") -> None:
    """What a model at chance scores: the share of the most frequent class, or no correlation."""
    if "row_truth" not in scores:
        return
    truth = scores.loc[scores["task"] == task, "row_truth"].iloc[0]
    value = most_frequent(truth).mean() if metric_of(task) == "accuracy" else 0.0
    level(axes, value, label, series=f"{name_of(task)}, a guess", color="0.5")


def probing_panel(axes, probes: pd.DataFrame, sweeps: pd.DataFrame, task: str, initialiser: str) -> None:
    """Probes of what is left of the frozen encoder beside re-initialisation with all rows, by number of layers lost.

    Without layer 0, where [CLS] is the same vector whatever the text. The band of short probes is over encoders and
    probe seeds, that of converged ones over encoders: nothing in them is left to chance.
    """
    metric, scores = metric_of(task), reinit_curves(sweeps[sweeps["task"] == task], initialiser)
    whole = scores[scores["fraction"] == scores["fraction"].max()]
    by_depth = spread(whole, ["layers"], "score").sort_values("layers")
    curve(axes, by_depth["layers"], by_depth["mean"], by_depth["sd"], REINITIALISED, 0)
    here = probes[(probes["task"] == task) & (probes["layer"] > 0)]
    here = here.assign(lost=here["layer"].max() - here["layer"])
    for number, (training, label) in enumerate(TRAININGS.items(), start=1):
        by_depth = spread(here[here["training"] == training], ["lost"], metric).sort_values("lost")
        curve(axes, by_depth["lost"], by_depth["mean"], by_depth["sd"], label, number)
    guess_line(axes, scores, task)
    label_scores(axes, task, "pre-trained layers lost, from the top")


def distance_panel(axes, distances: pd.DataFrame, task: str) -> None:
    here = first_measure(distances[distances["task"] == task])
    for number, (fraction, rows) in enumerate(here.groupby("fraction", sort=False)):
        by_layer = spread(rows, ["layer"], "distance").sort_values("layer")
        curve(axes, by_layer["layer"], by_layer["mean"], by_layer["sd"], size_name(fraction), number)
    axes.set(xlabel="layer", ylabel=f"weight distance ({here['norm'].iloc[0].capitalize()})")
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend_above(axes)
