"""Figure 1: scores with the top layers re-initialised, by size of the training set."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import COLUMN, curve, name_of, new_figure, numbers_of_tasks, save_figure, use_look
from workflow.papers.singh2020.numbers import reinit_curves, size_name
from workflow.papers.singh2020.panels import guess_line, label_scores

X_LABEL = "re-initialised layers, from the top"


def panels_of(settings: dict) -> list[list[tuple[str, float, str]]]:
    """(task, fraction, label) of every curve: a panel per task, one of tasks at about equal sizes, the last task."""
    sizes = settings["fractions"]
    found = [[(task, share, size_name(share)) for share in sizes[task]] for task in settings["tasks"]]
    found.append([(task, share, f"{name_of(task)}, {size_name(share)}") for task, share in settings["small"].items()])
    last = settings["last_task"]
    found.append([(last, share, size_name(share)) for share in sizes[last]] if last else [])
    return [curves for curves in found if curves]


def title_of(curves: list[tuple[str, float, str]], number: int) -> str:
    names = list(dict.fromkeys(name_of(task) for task, _, _ in curves))
    return f"({'abcdefgh'[number]}) {' and '.join(names)}"


def draw(axes, scores: pd.DataFrame, curves: list[tuple[str, float, str]]) -> None:
    tasks = numbers_of_tasks([task for task, _, _ in curves])
    for place, (task, share, label) in enumerate(curves):
        number = tasks[task] if len(tasks) > 1 else place  # colours tell tasks apart, or sizes of one task
        here = scores[(scores["task"] == task) & (scores["fraction"] == share)]
        by_depth = spread(here, ["layers"], "score").sort_values("layers")
        said = f"{label} ({here['n_train'].iloc[0]})"
        curve(axes, by_depth["layers"], by_depth["mean"], by_depth["sd"], said, number, series=label)
    for place, task in enumerate(tasks):
        guess_line(axes, scores, task, "_" if place else "a guess")
    label_scores(axes, curves[0][0], X_LABEL)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    settings = snakemake.params.settings
    scores = reinit_curves(read_tables(snakemake.input.sweeps), settings["initialiser"])
    panels = panels_of(settings)
    rows = -(-len(panels) // 2)
    figure, all_axes = new_figure(width=2 * COLUMN, height=2.3 * rows, ncols=2, nrows=rows, squeeze=False)
    for number, (axes, curves) in enumerate(zip(all_axes.flat, panels)):
        draw(axes, scores, curves)
        axes.set_title(title_of(curves, number))
    for axes in all_axes.flat[len(panels) :]:
        axes.set_axis_off()
    save_figure(figure, snakemake.output)
