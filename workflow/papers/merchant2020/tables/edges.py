"""Tables 1 and "top": what edge probes read off each model, as differences from Base."""

import pandas as pd

from workflow.papers.merchant2020.edge_names import edge_name, published_edge
from workflow.papers.merchant2020.numbers import (
    BASELINES,
    edge_deltas,
    edge_scores,
    published_series,
    series_name,
)


def edge_table(
    table: pd.DataFrame, deltas: pd.DataFrame, tasks: list[str], edge_tasks: list[str], paper: dict[str, dict]
) -> pd.DataFrame:
    """A row per edge task: Base in points of micro-F1, then differences from it; `_sd` over runs.

    `paper`: published rows by edge task, which stand below the measured ones.
    """
    rows = []
    for task in edge_tasks:
        base = table[(table["task"] == task) & (table["series"] == "base")]["f1"]
        row = {"task": edge_name(task), "Base": base.mean(), "Base_sd": base.std()}
        for series in (*BASELINES, *tasks):
            values = deltas[(deltas["task"] == task) & (deltas["series"] == series)]["delta"]
            row |= {f"Δ {series_name(series)}": values.mean(), f"Δ {series_name(series)}_sd": values.std()}
        rows += [row, {"task": f"{edge_name(task)}, paper"} | paper[task]] if task in paper else [row]
    return pd.DataFrame(rows)


def published_rows(published: pd.DataFrame, tasks: list[str], edge_tasks: list[str]) -> dict[str, dict]:
    """Table 1 as published, for these edge tasks."""
    values = published.query("artifact == 'table1'").set_index(["series", "x"])["value"]
    columns = {"Base": "base"} | {
        f"Δ {series_name(of)}": f"{published_series(of)}_delta" for of in (*BASELINES, *tasks)
    }
    return {task: {name: values.get((published_edge(task), x)) for name, x in columns.items()} for task in edge_tasks}


def variants(table: pd.DataFrame, edge_tasks: list[str]) -> pd.DataFrame:
    """The other ways to count: coreference's positive class alone, relations without "Other" (the paper is silent)."""
    rows = []
    for task, column, name in (
        ("ep_coreference", "f1_positive_only", "Coreference, coreferent pairs only"),
        ("ep_relations", "f1_no_other", "Relations, without Other"),
    ):
        if task in edge_tasks:
            counted = table[table["task"] == task].assign(task=name)
            rows.append(counted.assign(f1=100 * counted[column]))
    return pd.concat(rows) if rows else table.iloc[:0]


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    settings = snakemake.params.settings
    table = edge_scores(read_tables(snakemake.input.scores), settings["input"], set(settings["randomised"]))
    others = variants(table, settings["edge_tasks"])
    table = pd.concat([table, others], ignore_index=True)
    shown = [*settings["edge_tasks"], *dict.fromkeys(others["task"])]
    paper = published_rows(pd.read_csv(snakemake.input.published), settings["tasks"], settings["compared"])
    result = edge_table(table, edge_deltas(table), settings["tasks"], shown, paper)
    write_text_tables(result, snakemake.output.csv, snakemake.output.md)
