"""Figures 2 and 6: how far labels are from their nearest one while the model is tuned, last layer, training points."""

import numpy as np
import pandas as pd

from workflow.lib.plotting.figures import COLUMN, curve, name_of, new_figure, save_figure
from workflow.papers.zhou2022.numbers import nearest_by_step, points_by_label

SHOWN = 3  # labels of the largest and of the smallest increase


def extremes(nearest: pd.DataFrame) -> list[str]:
    """Labels by falling increase from the first to the last step: the first and the last few."""
    order = (nearest.iloc[-1] - nearest.iloc[0]).sort_values(ascending=False, kind="stable").index.tolist()
    return order if len(order) <= 2 * SHOWN else order[:SHOWN] + order[-SHOWN:]


def draw_task(axes, task: str, nearest: pd.DataFrame) -> None:
    for number, label in enumerate(extremes(nearest)):
        grows_most = number < SHOWN
        curve(axes, nearest.index, nearest[label], np.zeros(len(nearest)), label, number,
              linestyle="-" if grows_most else "--")  # fmt: skip
    axes.set(title=name_of(task), xlabel="updates", ylim=(0, None))
    axes.legend(ncols=2, fontsize=6, handlelength=1.6, columnspacing=0.8, title="grow most — grow least",
                title_fontsize=6, loc="upper left")  # fmt: skip
    axes.set_ylim(0, 1.45 * max(float(nearest[extremes(nearest)].max().max()), 1e-9))


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    distances, centroids = read_tables(snakemake.input.distances), read_tables(snakemake.input.centroids)
    tasks = list(dict.fromkeys(distances["task"]))
    rows = -(-len(tasks) // 2)
    figure, panels = new_figure(width=2 * COLUMN, height=2.3 * rows, ncols=2, nrows=rows, squeeze=False)
    for axes, task in zip(panels.flat, tasks):
        of_task, points = distances[distances["task"] == task], points_by_label(centroids[centroids["task"] == task])
        last = int(of_task["layer"].max())
        draw_task(axes, task, nearest_by_step(of_task, points, snakemake.params.settings["min_points"], last))
    for row in panels:
        row[0].set_ylabel("distance to nearest label")
    save_figure(figure, snakemake.output.pdf, snakemake.output.png)
