"""Beyond the paper: its initialiser as described, and as its authors' later code draws, side by side."""

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import COLUMN, curve, name_of, new_figure, save_figure, use_look
from workflow.papers.singh2020.numbers import METRIC_NAMES, metric_of, reinit_curves

NAMES = {
    "reinit": "as described: normal, truncated at two sd",
    "nearzero": "as released later: near zero, LayerNorms reset",
}

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    tasks, sweeps = snakemake.params.settings["tasks"], read_tables(snakemake.input.sweeps)
    figure, panels = new_figure(width=0.85 * COLUMN * len(tasks), height=2.6, ncols=len(tasks), squeeze=False)
    for axes, task in zip(panels[0], tasks):
        for number, (drawn, label) in enumerate(NAMES.items()):
            scores = reinit_curves(sweeps[sweeps["task"] == task], drawn)
            scores = scores[scores["fraction"] == scores["fraction"].max()]
            by_depth = spread(scores, ["layers"], "score").sort_values("layers")
            curve(axes, by_depth["layers"], by_depth["mean"], by_depth["sd"], label, number)
        axes.set(
            xlabel="re-initialised layers, from the top", ylabel=METRIC_NAMES[metric_of(task)], title=name_of(task)
        )
        axes.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center")
    save_figure(figure, snakemake.output)
