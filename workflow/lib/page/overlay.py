"""A figure of several runs in one: the curves of each run laid over each other, layers as a share of depth.

Colours are series, line styles are runs. Drawn from the figures' numbers (plotting/drawn.py).
"""

import pandas as pd

from workflow.lib.plotting.figures import COLUMN, MARKERS, color_of, new_figure

STYLES = ("-", "--", ":", "-.")
MOST_COLUMNS = 2


def is_of_curves(numbers: pd.DataFrame) -> bool:
    """Can it be laid over another? Arrows, paths and clouds of points cannot."""
    curves = numbers.dropna(subset="x").groupby(["panel", "series"], sort=False, dropna=False)["x"]
    return len(curves) > 0 and all(len(x) > 1 and x.is_monotonic_increasing for _, x in curves)


def with_names(numbers: pd.DataFrame) -> pd.DataFrame:
    """Panels by names that do not depend on the run: titles may have a number of it behind a colon. Without the
    papers' own curves, which every run has."""
    numbers = numbers[~numbers["series"].str.endswith(", paper")]
    numbers = numbers.assign(**{name: numbers[name].fillna("") for name in ("panel", "x_axis", "y_axis")})
    short = {title: title.partition(":")[0].strip() for title in numbers["panel"].unique()}
    is_clear = len(set(short.values())) == len(short)
    return numbers.assign(panel=numbers["panel"].map(short)) if is_clear else numbers


def by_depth(numbers: pd.DataFrame) -> pd.DataFrame:
    """Layers as a share of the encoder's: those of a shallow and of a deep one then lie over each other."""
    layers = numbers["x_axis"].fillna("").str.contains("layer")
    most = numbers.groupby(["panel", "series"])["x"].transform("max").clip(lower=1)
    x = numbers["x"].where(~layers, numbers["x"] / most)
    axis = numbers["x_axis"].where(~layers, numbers["x_axis"] + ", share of all")
    return numbers.assign(x=x, x_axis=axis)


def overlaid(runs: dict[str, pd.DataFrame]):
    """`runs`: the numbers of one figure by run."""
    named = {run: by_depth(with_names(numbers)).dropna(subset="x") for run, numbers in runs.items()}
    together = pd.concat(named.values())
    panels, series = list(dict.fromkeys(together["panel"])), list(dict.fromkeys(together["series"]))
    columns = min(len(panels), MOST_COLUMNS)
    rows = -(-len(panels) // columns)
    figure, all_axes = new_figure(2.3 * rows + 0.5, COLUMN * columns, ncols=columns, nrows=rows, squeeze=False)
    for axes, panel in zip(all_axes.flat, panels):
        for at, numbers in enumerate(named.values()):
            here = numbers[numbers["panel"] == panel]
            for name, points in here.groupby("series", sort=False):
                number = series.index(name)
                style = {"color": color_of(number), "linestyle": STYLES[at % len(STYLES)]}
                axes.plot(points["x"], points["y"], marker=MARKERS[number % len(MARKERS)], **style)
        first = together[together["panel"] == panel].iloc[0]
        axes.set(title=panel, xlabel=first["x_axis"], ylabel=first["y_axis"])
    for axes in all_axes.flat[len(panels) :]:
        axes.set_axis_off()
    empty = all_axes.flat[0]
    keys = [empty.plot([], [], color=color_of(n), marker=MARKERS[n % len(MARKERS)])[0] for n in range(len(series))]
    keys += [empty.plot([], [], color="grey", linestyle=STYLES[n % len(STYLES)])[0] for n in range(len(named))]
    figure.legend(keys, [*series, *(f"run {run}" for run in named)], loc="outside lower center", ncols=3)
    return figure
