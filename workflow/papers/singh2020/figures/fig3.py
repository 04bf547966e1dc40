"""Figure 3: how far fine-tuning moves each block's output projection, by size of the training set."""

from workflow.lib.plotting.figures import COLUMN, name_of, new_figure, save_figure, use_look
from workflow.papers.singh2020.numbers import of_sizes
from workflow.papers.singh2020.panels import distance_panel

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    tasks = snakemake.params.settings["tasks"]
    distances = of_sizes(read_tables(snakemake.input.distances), snakemake.params.settings["fractions"])
    figure, panels = new_figure(width=COLUMN * len(tasks), height=2.4, ncols=len(tasks), squeeze=False)
    for letter, axes, task in zip("abcdef", panels[0], tasks):
        distance_panel(axes, distances, task)
        axes.set_title(f"({letter}) {name_of(task)}")
    save_figure(figure, snakemake.output)
