"""Figure 2: classifiers on frozen layers, the upper ones removed one by one, beside re-initialisation."""

from workflow.lib.plotting.figures import COLUMN, name_of, new_figure, save_figure, use_look
from workflow.papers.singh2020.panels import probing_panel

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    settings = snakemake.params.settings
    tasks = settings["tasks"]
    probes, sweeps = read_tables(snakemake.input.probes), read_tables(snakemake.input.sweeps)
    figure, panels = new_figure(width=COLUMN * len(tasks), height=2.4, ncols=len(tasks), squeeze=False)
    for letter, axes, task in zip("abcdef", panels[0], tasks):
        probing_panel(axes, probes, sweeps, task, settings["initialiser"])
        axes.set_title(f"({letter}) {name_of(task)}")
    save_figure(figure, snakemake.output)
