"""Figure 6: how well does each neuron do alone? Test accuracies of single-neuron classifiers after fine-tuning."""

from string import ascii_lowercase

import numpy as np
import pandas as pd

from workflow.lib.base.repetitions import with_parts
from workflow.lib.plotting.drawn import record
from workflow.lib.plotting.figures import (
    COLUMN,
    color_of,
    name_of,
    new_figure,
    numbers_of_tasks,
    save_figure,
    upright,
    use_look,
)
from workflow.papers.matton2019.numbers import chances

N_BINS = 50  # the paper does not say


def draw(alone: pd.DataFrame, chance: dict[str, float]):
    """All repetitions together, as shares of neurons, so that encoders of any width and number compare."""
    alone = with_parts(alone).query("state == 'finetuned'")
    tasks = list(dict.fromkeys(alone["task"]))
    numbers = numbers_of_tasks(tasks)
    figure, all_axes = new_figure(height=2.1, width=2.1 * COLUMN, ncols=len(tasks), squeeze=False)
    for number, (axes, task) in enumerate(zip(all_axes[0], tasks)):
        values = 100 * alone.loc[alone["task"] == task, "accuracy"].to_numpy()
        shares = np.full(len(values), 100 / len(values))
        counts, bins, _ = axes.hist(
            values, bins=N_BINS, weights=shares, color=color_of(numbers[task]), edgecolor="white", linewidth=0.3
        )
        record(axes, name_of(task), (bins[:-1] + bins[1:]) / 2, counts, color=numbers[task])
        upright(axes, chance[task], "chance", color="0.5")
        axes.set(xlabel="test accuracy of one neuron (%)", title=f"({ascii_lowercase[number % 26]}) {name_of(task)}")
    all_axes[0][0].set_ylabel("neurons (%)")
    return figure


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    chance = chances(snakemake.params.settings["tasks"], snakemake.input.data)
    save_figure(draw(read_tables(snakemake.input.alone), chance), snakemake.output)
