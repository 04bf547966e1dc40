"""The numbers of a figure, written down where they are drawn: one row per point.

Columns: panel (its title, or what its y axis is), series (as in the legend), x, y, sd (half the height of the band),
x_axis, y_axis (the labels), color (its number in the palette, if it has one). A level has no x, an upright no y.
"""

import numpy as np
import pandas as pd

COLUMNS = ["panel", "series", "x", "y", "sd", "x_axis", "y_axis", "color"]
DRAWN = "tunescope_drawn"  # attribute of a figure: [(axes, series, x, y, sd, color)]


def record(axes, series: str, x, y, sd=None, color: int | None = None) -> None:
    """Remember the points of a series; their panel is named when the figure is finished."""
    points = (axes, series, np.asarray(x), np.asarray(y, dtype=float), sd, color)
    vars(axes.figure).setdefault(DRAWN, []).append(points)


def numbers_of(figure) -> pd.DataFrame:
    """Everything that was recorded of a figure, in the order of drawing."""
    across, up = _label(figure, "x"), _label(figure, "y")
    parts = []
    for axes, series, x, y, sd, color in vars(figure).get(DRAWN, []):
        x_axis, y_axis = axes.get_xlabel() or across, axes.get_ylabel() or up
        panel = " ".join(axes.get_title().split()) or (y_axis if len(figure.axes) > 1 else "")
        named = {"panel": panel, "series": series, "x_axis": x_axis, "y_axis": y_axis, "color": color}
        parts.append(pd.DataFrame({"x": x, "y": y, "sd": sd} | named))
    return pd.concat(parts, ignore_index=True)[COLUMNS] if parts else pd.DataFrame(columns=COLUMNS)


def _label(figure, axis: str) -> str:
    """Of all panels together: the figure's own, or the first panel's that has one."""
    own = getattr(figure, f"get_sup{axis}label")()
    return own or next((label for axes in figure.axes if (label := getattr(axes, f"get_{axis}label")())), "")
