"""Does pre-training matter in the demo? The same fine-tuning on a trained and on an untrained encoder."""

import pandas as pd


def compare(metrics: pd.DataFrame, trained: list[str], untrained: list[str]) -> pd.DataFrame:
    starts = dict.fromkeys(trained, "trained") | dict.fromkeys(untrained, "untrained")
    metrics = metrics.assign(start=metrics["encoder"].map(starts), accuracy=100 * metrics["test_accuracy"])
    summary = metrics.groupby(["task", "start"], sort=False)["accuracy"].agg(["mean", "std"]).unstack("start")
    rows = [
        {
            "task": task,
            "pre-trained (%)": row[("mean", "trained")],
            "pre-trained (%)_sd": row[("std", "trained")],
            "untrained (%)": row[("mean", "untrained")],
            "untrained (%)_sd": row[("std", "untrained")],
            "points gained": row[("mean", "trained")] - row[("mean", "untrained")],
        }
        for task, row in summary.iterrows()
    ]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    table = compare(read_tables(snakemake.input.metrics), **snakemake.params.settings)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md, digits=1)
