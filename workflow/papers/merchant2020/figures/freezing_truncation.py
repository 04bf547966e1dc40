"""Figures 3 and 4: how the tasks fare with the lower layers frozen, and with the upper ones cut off."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import curve, guess_level, new_figure, paper_curve, save_figure, use_look
from workflow.papers.merchant2020.chance import read_chances
from workflow.papers.merchant2020.numbers import (
    METRIC_NAMES,
    depth_curves,
    metric_of,
    published_curve,
    series_name,
    series_number,
)

X_LABELS = {
    "freeze": "frozen layers, from the bottom (0 = none)",
    "truncate": "layers kept",
}
ARTIFACTS = {"freeze": "fig3_freezing", "truncate": "fig4_truncation"}


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    settings = snakemake.params.settings
    sweep = settings["sweep"]
    metrics, sweeps = read_tables(snakemake.input.metrics), read_tables(snakemake.input.sweeps)
    scores = depth_curves(metrics, sweeps, sweep, settings["layers"], settings["heads"])
    chance = read_chances(settings["guessable"], snakemake.input.guessable)
    published = pd.read_csv(snakemake.input.published) if settings["published"] else None
    figure, axes = new_figure(height=2.8)
    numbers = {task: series_number(task, list(scores["task"].unique())) for task in scores["task"].unique()}
    for task, here in scores.groupby("task", sort=False):
        by_depth = spread(here, ["depth"], "score").sort_values("depth")
        metric = metric_of(settings["heads"][task])
        label = f"{series_name(task)} ({METRIC_NAMES[metric]})"
        curve(axes, by_depth["depth"], by_depth["mean"], by_depth["sd"], label, numbers[task])
    for task, value in chance.items():
        guess_level(axes, value, numbers[task], series_name(task))
    if published is not None:
        for task, number in numbers.items():
            paper = published_curve(published, ARTIFACTS[sweep], task)
            paper_curve(axes, paper.index, paper, number, series_name(task))
    axes.set(xlabel=X_LABELS[sweep], ylabel="score on the evaluation rows", ylim=(0, 1.02))
    axes.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside upper center", ncols=3)  # curves and guesses fill the axes from top to bottom
    save_figure(figure, snakemake.output)
