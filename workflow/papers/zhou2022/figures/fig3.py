"""Figure 3: trajectories of the three closest labels' centroids during fine-tuning, first and last layer."""

import numpy as np
import pandas as pd

from workflow.lib.methods.directprobe.label_geometry import without_small_labels
from workflow.lib.methods.pca.principal_axes import principal_axes
from workflow.lib.plotting.drawn import record
from workflow.lib.plotting.figures import COLUMN, MARKERS, color_of, new_figure, save_figure, use_look
from workflow.papers.zhou2022.numbers import closest_labels, points_by_label


def draw_layer(axes, of_layer: pd.DataFrame, labels: tuple[str, ...], title: str) -> None:
    """The plane is that of all labels' centroids at all steps, so that these three need not fill it."""
    plane = principal_axes(np.stack(of_layer["centroid"].to_list()))
    for number, label in enumerate(labels):
        way = of_layer[of_layer["label"] == label].sort_values("step")
        x, y = plane.project(np.stack(way["centroid"].to_list()), 2).T
        color = color_of(number)
        axes.plot(x, y, "-", marker=MARKERS[number], color=color, markersize=2.5, label=label)
        record(axes, label, x, y)
        axes.plot(x[:1], y[:1], marker=MARKERS[number], color="white", markeredgecolor=color, markersize=6, zorder=3)
    axes.set(title=title, xlabel="component 1", ylabel="component 2")


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    centroids, distances = read_tables(snakemake.input.centroids), read_tables(snakemake.input.distances)
    points = points_by_label(centroids, centroids["task"].iloc[0])
    at_least = snakemake.params.settings["min_points"]
    labels = closest_labels(without_small_labels(distances, points, at_least), centroids)
    layers = [int(centroids["layer"].min()), int(centroids["layer"].max())]
    figure, panels = new_figure(width=2 * COLUMN, height=2.6, ncols=2)
    for axes, layer in zip(panels, layers):
        draw_layer(axes, centroids[centroids["layer"] == layer], labels, f"layer {layer}")
    # beside the panels: among trajectories its lines look like three more of them
    panels[1].legend(title="hollow: before tuning", loc="center left", bbox_to_anchor=(1.0, 0.5))
    save_figure(figure, snakemake.output)
