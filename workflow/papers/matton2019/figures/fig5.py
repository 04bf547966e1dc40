"""Figure 5: activation of the best neuron, by class, after fine-tuning (first repetition, test texts)."""

import numpy as np
import pandas as pd

from workflow.lib.plotting.drawn import record
from workflow.lib.plotting.figures import color_of, name_of, new_figure, palette, save_figure, use_look

N_BINS = 25


def outline(number: int) -> dict:
    """More classes than colours: the next round is dashed."""
    style = ("-", "--", ":", "-.")[number // len(palette()) % 4]
    return {"histtype": "step", "linewidth": 1.2, "color": color_of(number), "linestyle": style}


def draw(best: pd.DataFrame, greedy: pd.DataFrame, task: str):
    model = best["model"].iloc[0]
    of_model = best[(best["model"] == model) & (best["task"] == task)]
    first = greedy[(greedy["model"] == model) & (greedy["task"] == task) & (greedy["step"] == 1)].iloc[0]
    figure, axes = new_figure()
    bins = np.linspace(of_model["activation"].min(), of_model["activation"].max(), N_BINS + 1)
    for number, (label, of_label) in enumerate(of_model.groupby("label", sort=True)):
        axes.hist(of_label["activation"], bins=bins, color=color_of(number), alpha=0.25)
        counts, *_ = axes.hist(of_label["activation"], bins=bins, **outline(number), label=label)
        record(axes, label, (bins[:-1] + bins[1:]) / 2, counts)
    title = f"{name_of(task)}: neuron {first['neuron']} alone gives {100 * first['test_accuracy']:.1f} %"
    axes.set(xlabel="activation of the neuron", ylabel="test texts", title=title)
    axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.22))
    return figure


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    figure = draw(
        read_tables(snakemake.input.best), read_tables(snakemake.input.greedy), snakemake.params.settings["task"]
    )
    save_figure(figure, snakemake.output)
