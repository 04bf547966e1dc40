"""Figure 4: variance ratios of the first principal components, fine-tuned over pre-trained."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import (
    color_of,
    curve,
    name_of,
    new_figure,
    numbers_of_tasks,
    paper_marks,
    save_figure,
    use_look,
)
from workflow.papers.matton2019.numbers import leading_runs, middle, published_of, variance_ratios


def draw(ratios: pd.DataFrame, published: pd.DataFrame | None = None):
    """With `published`: the paper's ratios that its text states, as crosses, and its numbers of ratios above 1."""
    figure, axes = new_figure()
    runs = leading_runs(ratios)
    numbers = numbers_of_tasks(list(runs))
    for task, of_task in ratios.groupby("task", sort=False):
        number = numbers[task]
        values = spread(of_task, ["component"], "ratio").sort_values("component")
        last = middle(runs[task])
        label = f"{name_of(task)}: first {last:g} above 1"
        if published is not None:
            paper = published[published["series"] == task].set_index("x")["value"]
            label += (
                f" (paper: {paper['last_leading_ratio_above_1']:g})" if "last_leading_ratio_above_1" in paper else ""
            )
            stated = {int(x): value for x, value in paper.items() if x.isdigit()}
            paper_marks(axes, list(stated), list(stated.values()), number, name_of(task))
        curve(axes, values["component"], values["mean"], values["sd"].fillna(0), label, number, series=name_of(task))
        if last:
            # lines of different tasks may fall on one index: shift them a little apart
            axes.axvline(last + 0.12 * (number - 1), color=color_of(number), linestyle="--", linewidth=0.9)
    axes.axhline(1, color="0.4", linewidth=0.8)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xticks(range(1, int(ratios["component"].max()) + 1, 2 if ratios["component"].max() > 12 else 1))
    axes.set(xlabel="principal component (general text)", ylabel="variance ratio (tuned / pre-trained)")
    axes.legend()
    return figure


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    ratios = variance_ratios(read_tables(snakemake.input.variance))
    stated = published_of(snakemake.input.published, snakemake.params.settings["published"])
    save_figure(draw(ratios, None if stated is None else stated.query("artifact == 'fig4'")), snakemake.output)
