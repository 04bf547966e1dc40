"""Figures 2 and 6: how far labels are from their nearest one while the model is tuned, last layer, training points."""

import numpy as np
import pandas as pd

from workflow.lib.plotting.figures import COLUMN, curve, name_of, new_figure, paper_marks, save_figure, use_look
from workflow.papers.zhou2022.numbers import nearest_of_tasks
from workflow.papers.zhou2022.published import published_label

SHOWN = 3  # labels of the largest and of the smallest increase


def extremes(nearest: pd.DataFrame) -> list[str]:
    """Labels by falling increase from the first to the last step: the first and the last few."""
    order = (nearest.iloc[-1] - nearest.iloc[0]).sort_values(ascending=False, kind="stable").index.tolist()
    return order if len(order) <= 2 * SHOWN else order[:SHOWN] + order[-SHOWN:]


def draw_task(axes, task: str, nearest: pd.DataFrame, paper: pd.DataFrame) -> None:
    """`paper`: (labels, start and end) published values; those of the labels that are drawn are marked."""
    shown, highest = extremes(nearest), 1e-9
    for number, label in enumerate(shown):
        grows_most = number < SHOWN
        curve(axes, nearest.index, nearest[label], np.zeros(len(nearest)), label, number,
              linestyle="-" if grows_most else "--")  # fmt: skip
        highest = max(highest, float(nearest[label].max()))
    for number, label in enumerate(shown):
        name = published_label(task, label)
        if name in paper.index:
            ends = paper.loc[name, ["start", "end"]].to_numpy()
            paper_marks(axes, nearest.index[[0, -1]], ends, number, label)
            highest = max(highest, float(ends.max()))
    axes.set(title=name_of(task), xlabel="updates", ylim=(0, 1.75 * highest))  # room for the legend
    axes.legend(ncols=2, fontsize=6, handlelength=1.6, columnspacing=0.8, title="solid: grow most, dashed: least",
                title_fontsize=6, loc="upper left")  # fmt: skip


def published_ends(published: pd.DataFrame) -> pd.DataFrame:
    ends = published[published["artifact"] == "fig6_min_distance"]
    return ends.pivot(index="series", columns="x", values="value")


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    settings = snakemake.params.settings
    distances, centroids = read_tables(snakemake.input.distances), read_tables(snakemake.input.centroids)
    paper = published_ends(pd.read_csv(snakemake.input.published))
    nearest = nearest_of_tasks(distances, centroids, settings["min_points"])
    rows = -(-len(nearest) // 2)
    figure, panels = new_figure(width=2 * COLUMN, height=2.3 * rows, ncols=2, nrows=rows, squeeze=False)
    for axes, (task, of_task) in zip(panels.flat, nearest.items()):
        draw_task(axes, task, of_task, paper if task in settings["published"] else paper.iloc[:0])
    for axes in panels.flat[len(nearest) :]:
        axes.set_axis_off()
    for row in panels:
        row[0].set_ylabel("distance to nearest label")
    save_figure(figure, snakemake.output)
