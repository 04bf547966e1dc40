"""Labels in the vectors before and after tuning: clusters, separability, classifiers on all dimensions and on one."""

import pandas as pd

from workflow.lib.base.repetitions import with_parts
from workflow.lib.base.tables import read_tables, write_text_tables


def of_models(clusters: pd.DataFrame, greedy: pd.DataFrame | None) -> pd.DataFrame:
    """A row per task and model; accuracies in per cent, of tasks that label texts."""
    table = with_parts(clusters[clusters["split"] == "train"])
    table = table.assign(shown=table["tuned_on"].fillna(table["encoder"] + ", before"))
    columns = {"task": "task", "shown": "model", "n_labels": "labels", "n_clusters": "clusters", "linear": "separable"}
    found = table[["model", *columns]].rename(columns={"model": "name"}).rename(columns=columns)
    for label, step in (("all dimensions (%)", 0), ("best neuron (%)", 1)):
        accuracy = {} if greedy is None else _accuracies(greedy, step)
        found[label] = [accuracy.get(key, float("nan")) for key in zip(found["name"], found["task"])]
    return found.drop(columns="name").sort_values("task", kind="stable", ignore_index=True)


def _accuracies(greedy: pd.DataFrame, step: int) -> dict[tuple[str, str], float]:
    rows = greedy[greedy["step"] == step]
    return {(row.model, row.task): 100 * row.test_accuracy for row in rows.itertuples()}


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log

    to_rule_log(snakemake.log[0])
    greedy = read_tables(snakemake.input.greedy) if len(snakemake.input.greedy) else None
    table = of_models(read_tables(snakemake.input.clusters), greedy)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md)
