"""The published numbers (published.csv): how they are named there, and how they stand beside ours in tables."""

import re

import pandas as pd


def published_task(task: str) -> str:
    """A task's name in published.csv."""
    return task.replace("_", "-")


def published_cell(size: str, task: str, state: str) -> str:
    """A cell of table 7 there: base, ps_fxn, finetuned -> base/ps-fxn/tuned."""
    name = {"trec50": "trec-50"}.get(task, published_task(task))
    return f"{size}/{name}/{'tuned' if state in ('finetuned', 'tuned') else 'orig'}"


def published_label(task: str, label: str) -> str:
    """A label of figure 6 there: ps_role, p.SocialRel -> ps-role/social-rel."""
    name = re.sub("(?<=[a-z])(?=[A-Z])", "-", label.removeprefix("p.")).lower()
    return f"{published_task(task)}/{name}"


def beside_paper(
    rows: pd.DataFrame, published: pd.DataFrame, artifact: str, series: list[str], columns: dict[str, str]
) -> pd.DataFrame:
    """Adds `<column>, paper` for each of `columns` (ours: x in published.csv), with its spread where one is published.

    `series`: the name of every row there; without any that is published, nothing is added.
    """
    paper = published[published["artifact"] == artifact].set_index(["series", "x"])
    if not set(series) & set(paper.index.get_level_values("series")):
        return rows
    for column, x in columns.items():
        stated, spread = ([paper[what].get((name, x), float("nan")) for name in series] for what in ("value", "error"))
        is_count = not pd.api.types.is_float_dtype(rows[column])
        rows[f"{column}, paper"] = list(map(as_count, stated)) if is_count else stated
        if any(value == value for value in spread):
            rows[f"{column}, paper_sd"] = spread
    return rows


def as_count(value: float) -> str:
    return "–" if value != value else f"{value:.0f}"
