"""Figures 2 and 5: how similar each layer stays to Base, on general text and on the task's own."""

from itertools import chain

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.drawn import record
from workflow.lib.plotting.figures import COLUMN, color_of, curve, new_figure, paper_curve, save_figure, use_look
from workflow.papers.merchant2020.numbers import SERIES, by_series, published_curve, series_name, series_number

KINDS = {
    "general": "general text",
    "own": "own text, scored rows",
    "training": "own text, training rows",
    "single": "own text, premise or question alone",
}
VARIANTS = {"training": ":", "single": "-."}  # thin lines in the colour of the own text


def over_repetitions(similarity: pd.DataFrame) -> pd.DataFrame:
    """Token samples are averaged first: the spread is over encoders and fine-tuning seeds."""
    repeated = similarity.groupby(["series", "text", "encoder", "seed", "layer"], sort=False)["similarity"].mean()
    return spread(repeated.reset_index(), ["series", "text", "layer"], "similarity").sort_values("layer")


def is_general(texts: dict[str, dict[str, str]]) -> bool:
    """Figure 2: every task on one text; figure 5: each on its own text too."""
    return all(list(of_task) == ["general"] for of_task in texts.values())


def panels_of(texts: dict[str, dict[str, str]]) -> list[list[tuple[str, str, str]]]:
    """(task, kind, text) of every curve, by panel: all tasks in one on general text, else a panel per task."""
    panels = [[(task, kind, of_task[kind]) for kind in KINDS if kind in of_task] for task, of_task in texts.items()]
    return [list(chain.from_iterable(panels))] if is_general(texts) else panels


def of_paper(published: pd.DataFrame, task: str, kind: str, general: bool) -> pd.Series:
    if general:
        return published_curve(published, "fig2_rsa", task)
    return published_curve(published, f"fig5_rsa_{task}_model", {"general": "wikipedia", "own": task}.get(kind, kind))


def number_of(task: str, kind: str, general: bool, tasks: list[str]) -> int:
    """A series has one colour in all figures; texts have colours of their own."""
    return series_number(task, tasks) if general else len(SERIES) + (kind != "general")


def draw(axes, curves: list[tuple[str, str, str]], similarity: pd.DataFrame, general: bool, tasks: list[str]) -> None:
    """The measured curves of a panel; `general`: of figure 2, where tasks are told apart and not texts."""
    for task, kind, text in curves:
        number = number_of(task, kind, general, tasks)
        label = series_name(task) if general else KINDS[kind]
        here = similarity[(similarity["series"] == task) & (similarity["text"] == text)]
        if kind in VARIANTS:
            style = {"linestyle": VARIANTS[kind], "color": color_of(number), "linewidth": 0.9}
            axes.plot(here["layer"], here["mean"], label=label, **style)
            record(axes, label, here["layer"], here["mean"], color=number)
        else:
            curve(axes, here["layer"], here["mean"], here["sd"], label, number)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    settings = snakemake.params.settings
    similarity = over_repetitions(by_series(read_tables(snakemake.input.similarity)))
    published = pd.read_csv(snakemake.input.published) if settings["published"] else None
    panels, general, tasks = panels_of(settings["texts"]), is_general(settings["texts"]), list(settings["texts"])
    figure, all_axes = new_figure(width=COLUMN * len(panels), height=2.4, ncols=len(panels), squeeze=False, sharey=True)
    for axes, curves in zip(all_axes[0], panels):
        draw(axes, curves, similarity, general, tasks)
        for task, kind, _ in curves if published is not None else ():
            paper = of_paper(published, task, kind, general)
            name = series_name(task) if general else KINDS[kind]
            paper_curve(axes, paper.index, paper, number_of(task, kind, general, tasks), name)
        axes.set(xlabel="layer (0 = embeddings)", title=f"{series_name(curves[0][0])} model" if not general else "")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylim(min(0.0, similarity["mean"].min() - 0.05), 1.05)
        axes.legend()
    all_axes[0][0].set_ylabel("RSA similarity to Base")
    save_figure(figure, snakemake.output)
