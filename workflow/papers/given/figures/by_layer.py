"""One number per layer of tuned models: similarity to the encoder, distance of weights, structural probes."""

import pandas as pd

from workflow.lib.base.repetitions import spread, with_parts
from workflow.lib.plotting.figures import COLUMN, curve, new_figure, save_figure, use_look

# what is shown: the column, its name on the axis
SHOWN = {
    "rsa": ("similarity", "RSA similarity to the encoder"),
    "weights": ("distance", "weight distance"),
    "structural": ("value", "score"),
}


def with_panels(tables: pd.DataFrame, shows: str) -> pd.DataFrame:
    """Adds `series` (the tuned model, or its encoder before tuning) and `panel`."""
    parts = with_parts(tables)
    series = parts["tuned_on"].fillna(parts["encoder"] + ", before")
    panel = {
        "rsa": lambda: "",
        "weights": lambda: parts["projection"] + ", " + parts["norm"],
        "structural": lambda: parts["probe"] + ": " + parts["measure"].str.replace("_", " "),
    }[shows]()
    return parts.assign(series=series, panel=panel)


def draw(tables: pd.DataFrame, shows: str):
    column, label = SHOWN[shows]
    tables = with_panels(tables, shows)
    panels, series = list(dict.fromkeys(tables["panel"])), list(dict.fromkeys(tables["series"]))
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure, all_axes = new_figure(2.3 * rows, COLUMN * columns, ncols=columns, nrows=rows, squeeze=False)
    for axes, panel in zip(all_axes.flat, panels):
        for number, name in enumerate(series):
            here = tables[(tables["panel"] == panel) & (tables["series"] == name)]
            by_layer = spread(here, ["layer"], column).sort_values("layer")
            curve(axes, by_layer["layer"], by_layer["mean"], by_layer["sd"].fillna(0), name, number)
        axes.set(title=panel, xlabel="layer", ylabel=label)
        axes.xaxis.get_major_locator().set_params(integer=True)
    for axes in all_axes.flat[len(panels) :]:
        axes.set_axis_off()
    all_axes[0][0].legend()
    return figure


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    save_figure(draw(read_tables(snakemake.input.tables), snakemake.params.settings["shows"]), snakemake.output)
