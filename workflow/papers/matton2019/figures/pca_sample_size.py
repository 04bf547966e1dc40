"""Section 3.1.1: how many vectors does the general PCA need?"""

import pandas as pd

from workflow.lib.base.repetitions import spread, with_parts
from workflow.lib.plotting.figures import (
    curve,
    guess_level,
    name_of,
    new_figure,
    numbers_of_tasks,
    save_figure,
    use_look,
)
from workflow.papers.matton2019.numbers import chances


def draw(samples: pd.DataFrame, n_components: int, chance: dict[str, float]):
    figure, axes = new_figure()
    samples = with_parts(samples).query("state == 'pretrained'").assign(accuracy=lambda frame: frame["accuracy"] * 100)
    numbers = numbers_of_tasks(list(dict.fromkeys(samples["task"])))
    for task, of_task in samples.groupby("task", sort=False):
        values = spread(of_task, ["sample_size"], "accuracy").sort_values("sample_size")
        curve(axes, values["sample_size"], values["mean"], values["sd"].fillna(0), name_of(task), numbers[task])
    for task, number in numbers.items():
        guess_level(axes, chance[task], number, name_of(task))
    axes.set_xscale("log")
    ticks = sorted(samples["sample_size"].unique())
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=30)
    axes.minorticks_off()
    axes.set(xlabel="general sentences the PCA is fitted on", ylabel=f"test accuracy (%), {n_components} components")
    axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    settings = snakemake.params.settings
    chance = chances(settings["tasks"], snakemake.input.data)
    figure = draw(read_tables(snakemake.input.samples), settings["sample_components"], chance)
    save_figure(figure, snakemake.output)
