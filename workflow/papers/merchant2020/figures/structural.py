"""Figure 1: structural probes by layer, before and after fine-tuning."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import COLUMN, curve, new_figure, paper_curve, save_figure, use_look
from workflow.papers.merchant2020.numbers import by_series, published_curve, series_name, series_number

# probe, measure, label, the published curves (root accuracy and UUAS stand only in the paper's first version)
PANELS = (
    ("depth", "spearman", "depth, Spearman", "fig1_depth_spearman"),
    ("distance", "spearman", "distance, Spearman", "fig1_distance_spearman"),
    ("depth", "root_accuracy", "root accuracy", "fig1v1_root_accuracy"),
    ("distance", "uuas", "UUAS", "fig1v1_uuas"),
)


def draw(axes, scores: pd.DataFrame, published: pd.DataFrame | None, artifact: str) -> None:
    measured = list(scores["series"].unique())
    numbers = {series: series_number(series, measured) for series in measured}
    for series in sorted(measured, key=numbers.get):
        by_layer = spread(scores[scores["series"] == series], ["layer"], "value").sort_values("layer")
        curve(axes, by_layer["layer"], by_layer["mean"], by_layer["sd"], series_name(series), numbers[series])
    for series in measured if published is not None else ():
        paper = published_curve(published, artifact, series)
        paper_curve(axes, paper.index, paper, numbers[series], series_name(series))


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    scores = by_series(read_tables(snakemake.input.scores))
    published = pd.read_csv(snakemake.input.published) if snakemake.params.settings["published"] else None
    figure, panels = new_figure(width=2 * COLUMN, height=4.2, ncols=2, nrows=2, sharex=True)
    for axes, (probe, measure, label, artifact) in zip(panels.flat, PANELS):
        here = scores[(scores["probe"] == probe) & (scores["measure"] == measure)]
        draw(axes, here, published, artifact)
        axes.set(ylabel=label)
        axes.xaxis.get_major_locator().set_params(integer=True)
    for axes in panels[-1]:
        axes.set_xlabel("layer (0 = embeddings)")
    panels[0][0].legend()
    save_figure(figure, snakemake.output)
