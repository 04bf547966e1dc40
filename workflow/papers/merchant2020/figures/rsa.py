"""Figures 2 and 5: how similar each layer stays to Base, on general text and on the task's own."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import COLUMN, curve, new_figure, paper_curve, save_figure
from workflow.papers.merchant2020.numbers import SERIES, by_series, published_curve, series_name, series_number


def over_repetitions(similarity: pd.DataFrame) -> pd.DataFrame:
    """Token samples are averaged first: the spread is over encoders and fine-tuning seeds."""
    repeated = similarity.groupby(["series", "text", "encoder", "seed", "layer"], sort=False)["similarity"].mean()
    return spread(repeated.reset_index(), ["series", "text", "layer"], "similarity").sort_values("layer")


def is_general(texts: dict[str, list[str]]) -> bool:
    """Figure 2: every task on one text; figure 5: each on its own text too."""
    return all(len(of_task) == 1 for of_task in texts.values())


def panels_of(texts: dict[str, list[str]]) -> list[list[tuple[str, str, str]]]:
    """(task, text, label) of every curve, by panel: all tasks in one on general text, else a panel per task."""
    if is_general(texts):
        return [[(task, of_task[0], series_name(task)) for task, of_task in texts.items()]]
    return [[(task, text, text.split("-")[0]) for text in of_task] for task, of_task in texts.items()]


def of_paper(published: pd.DataFrame, task: str, text: str, general: bool) -> pd.Series:
    if general:
        return published_curve(published, "fig2_rsa", task)
    return published_curve(published, f"fig5_rsa_{task}_model", text.split("-")[0])


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables

    to_rule_log(snakemake.log[0])
    settings = snakemake.params.settings
    similarity = over_repetitions(by_series(read_tables(snakemake.input.similarity)))
    similarity = similarity[similarity["series"].isin(settings["texts"])]  # a table has all models of an encoder
    published = pd.read_csv(snakemake.input.published) if settings["published"] else None
    panels, general = panels_of(settings["texts"]), is_general(settings["texts"])
    names = {"wikipedia": "general text (Wikipedia)"}
    figure, all_axes = new_figure(width=COLUMN * len(panels), height=2.4, ncols=len(panels), squeeze=False, sharey=True)
    for axes, curves in zip(all_axes[0], panels):
        for number, (task, text, label) in enumerate(curves):
            # a series has one colour in all figures; texts have colours of their own
            number = series_number(task, list(settings["texts"])) if general else len(SERIES) + number
            here = similarity[(similarity["series"] == task) & (similarity["text"] == text)]
            if not general:
                label = names.get(label, f"its own text ({series_name(label)})")
            curve(axes, here["layer"], here["mean"], here["sd"], label, number)
            if published is not None:
                paper = of_paper(published, task, text, general)
                paper_curve(axes, paper.index, paper, number)
        axes.set(xlabel="layer (0 = embeddings)", title=f"{series_name(curves[0][0])} model" if not general else "")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylim(min(0.0, similarity["mean"].min() - 0.05), 1.05)
        axes.legend()
    all_axes[0][0].set_ylabel("RSA similarity to Base")
    save_figure(figure, snakemake.output.pdf, snakemake.output.png)
