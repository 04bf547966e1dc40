"""Figure 4: how alike the labels' distances stay to those before tuning, by layer."""

import numpy as np
import pandas as pd

from workflow.lib.plotting.figures import COLUMN, curve, name_of, new_figure, paper_marks, save_figure, use_look
from workflow.papers.zhou2022.numbers import points_by_label, similarity_by_step
from workflow.papers.zhou2022.published import published_task


def shown_layers(layers: list[int]) -> list[int]:
    """Every second one of a deep encoder, as in the paper, down from the last."""
    return layers[::-2][::-1] if len(layers) > 6 else layers


def draw_task(axes, task: str, similarity: pd.DataFrame, paper: pd.Series | None) -> None:
    """`paper`: the published similarity at the end by layer, drawn where the encoder has such a layer."""
    for number, layer in enumerate(shown_layers(list(similarity.columns))):
        curve(axes, similarity.index, similarity[layer], np.zeros(len(similarity)), f"layer {layer}", number)
        if paper is not None and str(layer) in paper:
            paper_marks(axes, similarity.index[-1:], [paper[str(layer)]], number, f"layer {layer}")
    axes.set(title=name_of(task), xlabel="updates")


def draw(similarities: dict[str, pd.DataFrame], papers: dict[str, pd.Series]):
    """A panel for each task. `papers`: the published similarities of the tasks that compare."""
    rows, lowest = -(-len(similarities) // 2), min(float(one.min().min()) for one in similarities.values())
    figure, panels = new_figure(width=2 * COLUMN, height=2.1 * rows, ncols=2, nrows=rows, squeeze=False, sharey=True)
    for axes, (task, similarity) in zip(panels.flat, similarities.items()):
        draw_task(axes, task, similarity, papers.get(task))
    for axes in panels.flat[len(similarities) :]:
        axes.set_axis_off()
    for row in panels:
        row[0].set_ylabel("similarity to before tuning")
    panels[0][0].set_ylim(min(0.0, lowest - 0.05), 1.1)  # the panels share it
    panels[0][0].legend(ncols=2)
    return figure


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    settings = snakemake.params.settings
    distances, centroids = read_tables(snakemake.input.distances), read_tables(snakemake.input.centroids)
    published = pd.read_csv(snakemake.input.published, dtype={"x": str}).query("artifact == 'fig4_similarity_at_end'")
    similarities = {
        task: similarity_by_step(
            of_task, points_by_label(centroids, task), settings["min_points"], settings["missing_labels"]
        )
        for task, of_task in distances.groupby("task", sort=False)
    }
    papers = {
        task: published[published["series"] == published_task(task)].set_index("x")["value"]
        for task in settings["published"]
    }
    save_figure(draw(similarities, papers), snakemake.output)
