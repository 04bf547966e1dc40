"""Common style of all figures: column width, a colour-blind-safe palette, and reproducible files."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from workflow.lib.base.files import whole_file

COLUMN = 3.35  # inches, a column of a two-column paper
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
NAMES = {
    "imdb": "IMDB", "ag_news": "AG-news", "dbpedia": "DBpedia", "pos": "POS", "dep": "DEP", "ps_role": "PS-role",
    "ps_fxn": "PS-fxn", "trec50": "TREC-50", "sst2": "SST-2", "qnli": "QNLI", "cola": "CoLA", "mnli": "MNLI",
}  # fmt: skip

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
        "pdf.fonttype": 42,  # TrueType: text stays selectable
        "svg.hashsalt": "tunescope",
    }
)


def name_of(task: str) -> str:
    return NAMES.get(task, task)


def new_figure(height: float = 2.4, width: float = COLUMN, **options):
    return plt.subplots(figsize=(width, height), layout="constrained", **options)


def color_of(number: int) -> str:
    return PALETTE[number % len(PALETTE)]


def curve(axes, x, mean, spread, label: str, number: int, **options) -> None:
    """Draw a line with markers and, if there is a spread, a band of one standard deviation."""
    mean, spread = np.asarray(mean, dtype=float), np.asarray(spread, dtype=float)
    color = color_of(number)
    axes.plot(x, mean, label=label, color=color, marker=MARKERS[number % len(MARKERS)], **options)
    if np.nanmax(spread, initial=0.0) > 0:
        axes.fill_between(x, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)


def paper_curve(axes, x, values, number: int) -> None:
    """Draw the published curve of the same series; one grey legend entry represents all of them."""
    axes.plot(x, values, "--", color=color_of(number), linewidth=0.8)
    if "paper" not in axes.get_legend_handles_labels()[1]:
        axes.plot([], [], "--", color="grey", linewidth=0.8, label="paper")


def legend_above(axes, room: float = 0.09) -> None:
    """Draw the legend above the curves; `room`: extra share of the axes' height per line."""
    low, high = axes.get_ylim()
    lines = len(axes.get_legend_handles_labels()[1])
    axes.set_ylim(low, high + (high - low) * room * (lines + 0.5))
    axes.legend(loc="upper right")


def save_figure(figure, pdf: str | Path, png: str | Path) -> None:
    """Save without dates or versions in the files, so that the same data give the same bytes."""
    with whole_file(pdf) as beside:
        figure.savefig(beside, format="pdf", metadata={"CreationDate": None, "Producer": None, "Creator": None})
    with whole_file(png) as beside:
        figure.savefig(beside, format="png", dpi=220, metadata={"Software": None})
    plt.close(figure)
