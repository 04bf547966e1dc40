"""Figure 1: DirectProbe in the plane. Left, two labels that one line separates; right, two that none does."""

import numpy as np
from matplotlib.patches import Polygon
from scipy.spatial import ConvexHull

from workflow.lib.methods.directprobe.clustering import Clusters, probe
from workflow.lib.plotting.drawn import record
from workflow.lib.plotting.figures import COLUMN, MARKERS, color_of, new_figure, save_figure, use_look


def two_scenes(seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Planted points: two clouds of two labels, and four clouds in which the labels lie crosswise."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 24)
    apart = rng.normal(size=(48, 2)) * 0.45 + np.where(y[:, None] == 0, [-1.2, 0.4], [1.2, -0.4])
    centres = np.array([[-1.3, 1.1], [1.3, -1.1], [1.2, 1.2], [-1.2, -1.2]])
    crosswise = rng.normal(size=(48, 2)) * 0.4 + centres[np.repeat(np.arange(4), 12)]
    return [(apart, y), (crosswise, y)]


def draw_scene(axes, points: np.ndarray, y: np.ndarray, clusters: Clusters) -> None:
    """Coloured: hulls of clusters. Grey: where every boundary between the labels must pass."""
    axes.add_patch(Polygon(outline(points), color="0.85", linewidth=0, zorder=0))
    for cluster, label in enumerate(clusters.labels):
        members = points[clusters.of_point == cluster]
        hull = outline(members)
        axes.add_patch(Polygon(hull, facecolor="white", edgecolor="none", zorder=1))
        axes.add_patch(Polygon(hull, facecolor=color_of(label), alpha=0.25, edgecolor=color_of(label), zorder=1))
    for label in np.unique(y):
        x, up = points[y == label].T
        axes.plot(x, up, MARKERS[label], color=color_of(label), label=f"label {label + 1}", zorder=2)
        record(axes, f"label {label + 1}", x, up)
    axes.set(xticks=[], yticks=[], aspect="equal", title=f"{len(np.unique(y))} labels, {clusters.n_clusters} clusters")
    axes.grid(False)
    axes.spines[:].set_visible(False)


def outline(points: np.ndarray) -> np.ndarray:
    return points[ConvexHull(points).vertices] if len(points) > 2 else points


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    figure, panels = new_figure(width=1.6 * COLUMN, height=2.4, ncols=2)
    for axes, (points, y) in zip(panels, two_scenes(snakemake.params.settings["seed"])):
        draw_scene(axes, points, y, probe(points, y))
    panels[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    save_figure(figure, snakemake.output)
