"""Figures 5 and 7 to 10: where each label's centroid went during tuning, a panel per layer."""

import numpy as np
import pandas as pd

from workflow.lib.plotting.drawn import record
from workflow.lib.plotting.figures import COLUMN, color_of, name_of, new_figure, save_figure, use_look
from workflow.papers.zhou2022.numbers import movements, two_axes

NAMED = 5  # arrows that carry their label's name: all would hide each other

LEGEND = {"fontsize": 5.5, "handlelength": 0.9, "labelspacing": 0.2, "columnspacing": 0.8, "borderaxespad": 3}


def draw_layer(axes, moved: pd.DataFrame, layer: int) -> None:
    """Arrows from the origin, on the two axes that hold most of this layer's movements: as long as these, up to the
    share that the title states."""
    vectors = moved.to_numpy()
    arrows, share = two_axes(vectors)
    length = np.linalg.norm(arrows, axis=1)
    order = np.argsort(-length)
    for place, at in enumerate(order):
        color = color_of(place) if place < NAMED else "0.65"
        axes.annotate("", arrows[at], (0, 0), arrowprops={"arrowstyle": "->", "color": color, "lw": 0.9})
        record(axes, moved.index[at], arrows[at, :1], arrows[at, 1:])
        if place < NAMED:
            axes.plot([], [], color=color, label=moved.index[at])
    reach = 1.08 * max(float(np.abs(arrows).max()), 1e-9)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    mean_length = np.linalg.norm(vectors, axis=1).mean()
    axes.set_title(f"layer {layer}: mean length {mean_length:.2g}\n2 axes: {100 * share:.0f} %", fontsize=7)
    # below the panel: inside it there is always an arrow in the way of a long name
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, **LEGEND)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    centroids = read_tables(snakemake.input.centroids)
    by_layer = movements(centroids)
    # every second layer is counted down from the last, so that this is among them
    wanted = list(by_layer) if snakemake.params.settings["layers"] == "all" else list(by_layer)[::-2][::-1]
    columns = min(len(wanted), 3 if len(wanted) in (3, 5, 6) else 4)
    rows = -(-len(wanted) // columns)
    height = (2 * COLUMN / columns + 0.35) * rows + 0.3
    figure, panels = new_figure(width=2 * COLUMN, height=height, ncols=columns, nrows=rows, squeeze=False)
    for axes, layer in zip(panels.flat, wanted):
        draw_layer(axes, by_layer[layer], layer)
    for axes in panels.flat[len(wanted) :]:
        axes.set_axis_off()
    figure.supxlabel("first axis", fontsize=7)
    figure.supylabel("second axis", fontsize=7)
    figure.suptitle(f"{name_of(centroids['task'].iloc[0])}: movement of centroids, longest {NAMED} named", fontsize=8)
    save_figure(figure, snakemake.output)
