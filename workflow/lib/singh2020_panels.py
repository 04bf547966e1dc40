"""Panels that figures 2, 3 and 5 of singh2020 are made of: layer probes, and how far weights moved."""

import pandas as pd

from workflow.lib.figures import curve, legend_above
from workflow.lib.repetitions import spread
from workflow.lib.singh2020 import METRIC_NAMES, metric_of, size_name

TRAININGS = {"short": "probe, trained as in the paper", "converged": "probe, converged"}


def probing_panel(axes, probes: pd.DataFrame, sweeps: pd.DataFrame, task: str) -> None:
    """Against layers removed, as in the paper; the fine-tuned model on all rows is the line above."""
    here, metric = probes[probes["task"] == task], metric_of(task)
    n_layers = here["layer"].max()
    for number, (training, label) in enumerate(TRAININGS.items()):
        runs = here[here["training"] == training].groupby(["model", "layer"])[metric].mean().reset_index()
        by_layer = spread(runs, ["layer"], metric).sort_values("layer")
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
