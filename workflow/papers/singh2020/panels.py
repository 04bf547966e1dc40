"""Panels that figures 2, 3 and 5 of singh2020 are made of: layer probes, and how far weights moved."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import curve, legend_above
from workflow.papers.singh2020.numbers import METRIC_NAMES, metric_of, size_name

TRAININGS = {"short": "probe, same budget as fine-tuning", "converged": "probe, converged"}


def probing_panel(axes, probes: pd.DataFrame, sweeps: pd.DataFrame, task: str) -> None:
    """Against layers removed, as in the paper; the fine-tuned model on all rows is the line above.

    Without layer 0, where [CLS] is the same vector whatever the text. The band of short probes is over encoders and
    probe seeds, that of converged ones over encoders: nothing in them is left to chance.
    """
    here, metric = probes[(probes["task"] == task) & (probes["layer"] > 0)], metric_of(task)
    n_layers = here["layer"].max()
    for number, (training, label) in enumerate(TRAININGS.items()):
        by_layer = spread(here[here["training"] == training], ["layer"], metric).sort_values("layer")
        curve(axes, n_layers - by_layer["layer"], by_layer["mean"], by_layer["sd"], label, number)
    full = sweeps[(sweeps["task"] == task) & (sweeps["recipe"] == "full")]
    best = full[full["fraction"] == full["fraction"].max()][f"test_{metric}"].mean()
    axes.axhline(best, color="black", linestyle="--", linewidth=0.8, label="fine-tuned")
    axes.set(xlabel="layers removed, from the top", ylabel=METRIC_NAMES[metric])
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend_above(axes)


def distance_panel(axes, distances: pd.DataFrame, task: str) -> None:
    here = distances[(distances["task"] == task) & (distances["recipe"] == "full")]
    first = here[["projection", "norm"]].drop_duplicates().iloc[0]
    here = here[(here["projection"] == first["projection"]) & (here["norm"] == first["norm"])]
    for number, (fraction, rows) in enumerate(here.groupby("fraction", sort=False)):
        by_layer = spread(rows, ["layer"], "distance").sort_values("layer")
        curve(axes, by_layer["layer"], by_layer["mean"], by_layer["sd"], size_name(fraction), number)
    axes.set(xlabel="layer", ylabel=f"weight distance ({first['norm'].capitalize()})")
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend_above(axes)
