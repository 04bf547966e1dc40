"""Section 3: how well the fine-tuned models do their tasks."""

import pandas as pd

from workflow.papers.merchant2020.numbers import METRIC_NAMES, metric_of, published_series, series_name


def model_table(
    metrics: pd.DataFrame, heads: dict[str, str], splits: dict[str, dict[str, str]], paper: pd.Series
) -> pd.DataFrame:
    """A row per task and split that it was scored on; `splits` by task and prefix of the column in `metrics`.

    `paper`: published scores by task, which are of the first split.
    """
    rows = []
    for task, of_task in splits.items():
        metric = metric_of(heads[task])
        for prefix, split in of_task.items():
            if f"{prefix}_{metric}" in metrics:
                scores = 100 * metrics[metrics["task"] == task][f"{prefix}_{metric}"]
                rows.append({"model": series_name(task), "score": METRIC_NAMES[metric], "split": split,
                             "measured": scores.mean(), "measured_sd": scores.std(),
                             "paper": paper.get(task) if prefix == "test" else None})  # fmt: skip
    return pd.DataFrame(rows)


def published_scores(published: pd.DataFrame, tasks: list[str]) -> pd.Series:
    scores = published.query("artifact == 'section3'").set_index("series")["value"]
    return pd.Series({task: scores.get(published_series(task)) for task in tasks}, dtype=float)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    settings = snakemake.params.settings
    paper = published_scores(pd.read_csv(snakemake.input.published), settings["compared"])
    table = model_table(read_tables(snakemake.input.metrics), settings["heads"], settings["splits"], paper)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md, digits=1)
