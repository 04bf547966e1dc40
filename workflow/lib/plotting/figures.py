"""Common style of all figures: column width, a colour-blind-safe palette, and reproducible files.

What `curve` and its like draw they also write down (`drawn.py`), so that every figure has a table of its numbers.
"""

import logging
from itertools import count
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axis import Axis, Tick
from matplotlib.text import Text

from workflow.lib.base.files import whole_file
from workflow.lib.plotting.drawn import numbers_of, record

COLUMN = 3.35  # inches, a column of a two-column paper
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
NAMES = {
    "imdb": "IMDB", "ag_news": "AG-news", "dbpedia": "DBpedia", "pos": "POS", "dep": "DEP", "ps_role": "PS-role",
    "ps_fxn": "PS-fxn", "trec50": "TREC-50", "sst2": "SST-2", "qnli": "QNLI", "cola": "CoLA", "mnli": "MNLI",
    "squad": "SQuAD", "parse": "Dep",
}  # fmt: skip
# A task has one colour in all figures, whatever stands beside it. Tasks of one row share figures.
COLORS = {task: number for row in (("imdb", "ag_news", "dbpedia"), ("sst2", "qnli", "cola"),
          ("pos", "dep", "ps_fxn", "ps_role", "trec50")) for number, task in enumerate(row)}  # fmt: skip
LEVEL = {"linestyle": ":", "linewidth": 0.9}
FILES = {  # metadata without dates and versions: the same data give the same bytes
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "tiff": {"dpi": 600},
    "png": {"metadata": {"Software": None}, "dpi": 220},
    "svg": {"metadata": {"Date": None, "Creator": None}, "transparent": True},
}

plt.rcParams.update(
    {
        "font.size": 8,
        "axes.labelsize": 8,
        "axes.titlesize": 8,
        "legend.fontsize": 7,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.linewidth": 0.4,
        "grid.alpha": 0.5,
        "lines.linewidth": 1.2,
        "lines.markersize": 3.5,
        "legend.frameon": False,
        "axes.prop_cycle": plt.cycler(color=PALETTE),
        "pdf.fonttype": 42,  # TrueType: text stays selectable
        "svg.fonttype": "none",  # text stays text: searched, read aloud, small
        "svg.hashsalt": "tunescope",
    }
)


def use_look(palette: list[str], style: dict) -> None:
    """The config's look: colours of series, and any of Matplotlib's settings (font.family, lines.linewidth, …)."""
    plt.rcParams.update({"axes.prop_cycle": plt.cycler(color=palette), **style})


def name_of(task: str) -> str:
    return NAMES.get(task, task)


def new_figure(height: float = 2.4, width: float = COLUMN, **options):
    return plt.subplots(figsize=(width, height), layout="constrained", **options)


def palette() -> list[str]:
    return plt.rcParams["axes.prop_cycle"].by_key()["color"]


def color_of(number: int) -> str:
    return palette()[number % len(palette())]


def numbers_of_tasks(tasks: list[str]) -> dict[str, int]:
    """For `color_of`: each task's own; if it has none or an earlier one has it, the next that is free."""
    numbers: dict[str, int] = {}
    for task in sorted(tasks, key=lambda task: task not in COLORS):
        numbers[task] = next(n for n in count(COLORS.get(task, 0)) if n not in numbers.values())
    return numbers


def curve(axes, x, mean, spread, label: str, number: int, series: str | None = None, **options) -> None:
    """Draw a line with markers and, if there is a spread, a band of one standard deviation.

    `series`: its name among the numbers, where the label says more than that.
    """
    mean, spread = np.asarray(mean, dtype=float), np.asarray(spread, dtype=float)
    color = color_of(number)
    axes.plot(x, mean, label=label, color=color, marker=MARKERS[number % len(MARKERS)], **options)
    has_spread = np.nanmax(spread, initial=0.0) > 0
    if has_spread:
        axes.fill_between(x, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)
    record(axes, series or label, x, mean, spread if has_spread else None, number)


def level(axes, value: float, label: str, series: str | None = None, number: int | None = None, **options) -> None:
    """Draw a horizontal line that numbers are compared with: chance, a guess. `series`: its name among the numbers."""
    color = {} if number is None else {"color": color_of(number)}
    axes.axhline(value, **(LEVEL | color | options), label=label)
    record(axes, series or label, [None], [value], color=number)


def guess_level(axes, value: float, number: int, series: str) -> None:
    """What a guess scores, in the colour of its series; one grey entry in the legend stands for all of them."""
    level(axes, value, "_", f"{series}, a guess", number)
    if "a guess" not in axes.get_legend_handles_labels()[1]:
        axes.plot([], [], ":", color="grey", linewidth=0.9, label="a guess")


def upright(axes, value: float, label: str, **options) -> None:
    """The same as `level` where scores are the x axis."""
    axes.axvline(value, **(LEVEL | options), label=label)
    record(axes, label, [value], [None])


def paper_curve(axes, x, values, number: int, series: str, style: str = "--", **options) -> None:
    """Draw the published numbers of a series; one grey legend entry represents all of them."""
    axes.plot(x, values, style, color=color_of(number), linewidth=0.8, **options)
    if "paper" not in axes.get_legend_handles_labels()[1]:
        axes.plot([], [], style, color="grey", linewidth=0.8, label="paper", **options)
    record(axes, f"{series}, paper", x, values, color=number)


def paper_marks(axes, x, values, number: int, series: str) -> None:
    """The same at single points: crosses."""
    paper_curve(axes, x, values, number, series, style="x", markersize=6, zorder=3)


def legend_above(axes, room: float = 0.09) -> None:
    """Draw the legend above the curves; `room`: extra share of the axes' height per line."""
    low, high = axes.get_ylim()
    lines = len(axes.get_legend_handles_labels()[1])
    axes.set_ylim(low, high + (high - low) * room * (lines + 0.5))
    axes.legend(loc="upper right")


def names_as_they_are(figure) -> None:
    """A dollar in the name of a label is a dollar; formulas are Matplotlib's own, on logarithmic axes."""
    own = {text for tick in figure.findobj(Tick) for text in (tick.label1, tick.label2)}
    own |= {axis.offsetText for axis in figure.findobj(Axis)}
    for text in set(figure.findobj(Text)) - own:
        text.set_parse_math(False)


def save_figure(figure, files) -> None:
    """Save the picture in every format that the rule wants, and its numbers as CSV."""
    numbers = numbers_of(figure)
    names_as_they_are(figure)
    for path in map(Path, files):
        with whole_file(path) as beside:
            if path.suffix == ".csv":
                numbers.to_csv(beside, index=False)
            else:
                figure.savefig(beside, format=path.suffix[1:], **FILES.get(path.suffix[1:], {}))
    series = numbers.groupby(["panel", "series"], sort=False).ngroups
    logging.getLogger("figure").info("%d panels, %d series, %d points", len(figure.axes), series, len(numbers))
    plt.close(figure)
