"""Description length by portion: how many bits a label still costs after so many examples, before and after tuning."""

import numpy as np
import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import COLUMN, curve, level, new_figure, save_figure, use_look
from workflow.papers.merchant2020.edge_names import edge_name
from workflow.papers.merchant2020.numbers import learning_curves, series_name, series_number

N_COLUMNS = 4


def draw(axes, curves: pd.DataFrame) -> None:
    """One edge task: a curve per series, and what a code without a probe takes."""
    series = sorted(curves["series"].unique(), key=lambda name: series_number(name, list(curves["series"].unique())))
    for name in series:
        here = spread(curves[curves["series"] == name], ["examples"], "bits").sort_values("examples")
        number = series_number(name, series)
        curve(axes, here["examples"], here["mean"], here["sd"], series_name(name), number)
    level(axes, curves["uniform"].iloc[0], "uniform code", color="grey")
    axes.set(xscale="log", title=edge_name(curves["task"].iloc[0]))
    axes.set_ylim(bottom=0)
    sizes = np.sort(curves["examples"].unique())
    ticks = np.unique(sizes[[0, len(sizes) // 2, -1]])  # those of a logarithmic axis would overlap
    axes.set_xticks(ticks, labels=[f"{n:,.0f}" for n in ticks])
    axes.set_xticks([], minor=True)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    curves = learning_curves(read_tables(snakemake.input.codelength))
    tasks = list(curves["task"].unique())
    n_rows = max(1, -(-(len(tasks) + 1) // N_COLUMNS))  # one panel is left for the legend
    figure, panels = new_figure(1.7 * n_rows, 2 * COLUMN, nrows=n_rows, ncols=N_COLUMNS, squeeze=False)
    for axes, task in zip(panels.flat, tasks):
        draw(axes, curves[curves["task"] == task])
    for axes in panels.flat[len(tasks) :]:
        axes.axis("off")
    if tasks:
        panels.flat[len(tasks)].legend(*panels.flat[0].get_legend_handles_labels(), loc="center")
    figure.supxlabel("examples that the probe was trained on", fontsize=8)
    figure.supylabel("bits per label", fontsize=8)
    save_figure(figure, snakemake.output)
