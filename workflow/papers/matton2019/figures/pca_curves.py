"""Figures 1 to 3: accuracy of the pre-trained encoder against the number of retained dimensions."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import curve, level, name_of, new_figure, save_figure, use_look
from workflow.papers.matton2019.numbers import chances, curve_points

SERIES = {"in_domain": "PCA on the task's own texts", "general": "PCA on general text", "random": "random dimensions"}


def spaced(ticks: list[int], ratio: float = 1.35) -> list[int]:
    """Those whose labels do not run into each other on a logarithmic axis; the last one in any case."""
    kept: list[int] = []
    for tick in ticks[::-1]:
        if not kept or kept[-1] >= ratio * tick:
            kept.append(tick)
    return kept[::-1]


def draw(points: pd.DataFrame, task: str, chance: float):
    """Bands: encoders and, of random dimensions, draws."""
    figure, axes = new_figure()
    of_task = points[points["task"] == task]
    for number, (series, label) in enumerate(SERIES.items()):
        values = spread(of_task[of_task["series"] == series], ["dimensions"], "accuracy").sort_values("dimensions")
        curve(axes, values["dimensions"], values["mean"], values["sd"].fillna(0), label, number)
    level(axes, chance, "chance", color="0.5")
    axes.set_xscale("log", base=2)
    ticks = spaced(sorted(of_task["dimensions"].unique()))
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="retained dimensions of the [CLS] vector", ylabel="test accuracy (%)", title=name_of(task))
    axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.22))
    return figure


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    points = curve_points(read_tables(snakemake.input.accuracy))
    task = snakemake.params.settings["task"]
    save_figure(draw(points, task, chances([task], [snakemake.input.data])[task]), snakemake.output)
