"""Figure 1."""

from workflow.lib.plotting.figures import new_figure, save_figure

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    by_layer = read_tables(snakemake.input.similarity).groupby("layer")["similarity"].mean()
    figure, axes = new_figure()
    axes.plot(by_layer.index, by_layer)
    save_figure(figure, snakemake.output)
