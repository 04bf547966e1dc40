"""Figure 5: CoLA's probing, beside re-initialisation, and weight distance."""

from workflow.lib.plotting.figures import COLUMN, name_of, new_figure, save_figure, use_look
from workflow.papers.singh2020.panels import distance_panel, probing_panel

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import tables_of

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    settings = snakemake.params.settings
    (task,) = settings["tasks"]
    tables = tables_of(snakemake.input)
    figure, (left, right) = new_figure(width=2 * COLUMN, height=2.4, ncols=2)
    probing_panel(left, tables["probes"], tables["sweeps"], task, settings["initialiser"])
    distance_panel(right, tables["distances"], task)
    left.set_title(f"(a) {name_of(task)}: probing and re-initialisation")
    right.set_title(f"(b) {name_of(task)}: weight distance")
    save_figure(figure, snakemake.output)
