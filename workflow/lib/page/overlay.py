"""A figure of several runs in one: the curves of each run laid over each other, layers as a share of depth.

Colours are series, as in the figures themselves; line styles are runs. Drawn from the figures' numbers
(plotting/drawn.py), with their bands, and the levels that they compare with: chance, a guess.
"""

from itertools import cycle

import pandas as pd

from workflow.lib.plotting.drawn import COLUMNS
from workflow.lib.plotting.figures import COLUMN, MARKERS, color_of, new_figure

STYLES = ("-", "--", ":", "-.")
THIN = {"linestyle": (0, (1, 3)), "linewidth": 0.9, "color": "grey"}  # of levels and uprights
MOST_COLUMNS = 2


def is_line(points: pd.DataFrame) -> bool:
    """Is a series a level or an upright, not a curve?"""
    return bool(points["x"].isna().all() or points["y"].isna().all())


def is_of_curves(numbers: pd.DataFrame) -> bool:
    """Can it be laid over another? Arrows, paths and clouds of points cannot."""
    series = [points for _, points in numbers.groupby(["panel", "series"], sort=False, dropna=False)]
    curves = [points["x"].dropna() for points in series if not is_line(points)]
    return len(curves) > 0 and all(len(x) > 1 and x.is_monotonic_increasing for x in curves)


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


def colors_of(together: pd.DataFrame) -> dict[str, int]:
    """By series the number of the colour that the figures gave it; what was drawn without one has its place's."""
    given = together.groupby("series", sort=False)["color"].first()
    return {name: at if color != color else int(color) for at, (name, color) in enumerate(given.items())}


def draw_series(axes, points: pd.DataFrame, number: int, style: str) -> None:
    """A curve with its band, if it has one."""
    color, sd = color_of(number), points["sd"].astype(float)
    marker = MARKERS[number % len(MARKERS)]
    axes.plot(points["x"], points["y"], color=color, linestyle=style, marker=marker)
    if sd.notna().any():
        axes.fill_between(points["x"], points["y"] - sd, points["y"] + sd, color=color, alpha=0.15, linewidth=0)


def draw_line(axes, points: pd.DataFrame) -> None:
    """A level or an upright; grey, if it is of no series."""
    row = points.iloc[0]
    style = THIN | ({} if row["color"] != row["color"] else {"color": color_of(int(row["color"]))})
    axes.axhline(row["y"], **style) if row["x"] != row["x"] else axes.axvline(row["x"], **style)


def overlaid(runs: dict[str, pd.DataFrame]):
    """`runs`: the numbers of one figure by run."""
    # of older runs without colours
    named = {run: by_depth(with_names(numbers.reindex(columns=COLUMNS))) for run, numbers in runs.items()}
    together = pd.concat(named.values())
    is_of_lines = together.groupby(["panel", "series"])[["x", "y"]].transform(lambda values: values.isna().all())
    lines, curves = together[is_of_lines.any(axis=1)], together[~is_of_lines.any(axis=1)]
    panels, numbers = list(dict.fromkeys(together["panel"])), colors_of(curves)
    columns = min(len(panels), MOST_COLUMNS)
    rows = -(-len(panels) // columns)
    figure, all_axes = new_figure(2.3 * rows + 0.5, COLUMN * columns, ncols=columns, nrows=rows, squeeze=False)
    for axes, panel in zip(all_axes.flat, panels):
        for of_run, style in zip(named.values(), cycle(STYLES)):
            for name, points in of_run[of_run["panel"] == panel].groupby("series", sort=False):
                if is_line(points):
                    draw_line(axes, points)
                else:
                    draw_series(axes, points.dropna(subset="x"), numbers[name], style)
        first = together[together["panel"] == panel].iloc[0]
        axes.set(title=panel, xlabel=first["x_axis"], ylabel=first["y_axis"])
    for axes in all_axes.flat[len(panels) :]:
        axes.set_axis_off()
    empty = all_axes.flat[0]
    keys = [empty.plot([], [], color=color_of(n), marker=MARKERS[n % len(MARKERS)])[0] for n in numbers.values()]
    keys += [empty.plot([], [], color="grey", linestyle=style)[0] for _, style in zip(named, cycle(STYLES))]
    compared_with = list(dict.fromkeys(name.rpartition(", ")[2] for name in lines["series"]))  # "SQuAD, a guess"
    keys += [empty.plot([], [], **THIN)[0] for _ in compared_with[:1]]
    said = [*numbers, *(f"run {run}" for run in named), *([", ".join(compared_with)] if compared_with else [])]
    figure.legend(keys, said, loc="outside lower center", ncols=3)
    return figure
