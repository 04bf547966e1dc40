"""Description length of each edge task under each model: how much effort it takes to read the labels off."""

import pandas as pd

from workflow.papers.merchant2020.edge_names import edge_name
from workflow.papers.merchant2020.numbers import series_name, total_lengths


def length_table(codelength: pd.DataFrame, tasks: list[str]) -> pd.DataFrame:
    """A row per edge task: kilobits under Base, and what each tuned model needs more or less, in per cent."""
    rows = []
    for task, here in total_lengths(codelength).groupby("task", sort=False):
        base = here[here["series"] == "base"]
        row = {
            "task": edge_name(task), "Base (kbit)": base["bits"].mean() / 1000,
            "Base (kbit)_sd": base["bits"].std() / 1000, "Base compression": base["compression"].mean(),
        }  # fmt: skip
        for series in tasks:
            change = 100 * here[here["series"] == series]["change"]
            name = f"Δ {series_name(series)} (%)"
            row |= {name: change.mean(), f"{name}_sd": change.std()}
        rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["task"])


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    table = length_table(read_tables(snakemake.input.codelength), snakemake.params.settings["tasks"])
    write_text_tables(table, snakemake.output.csv, snakemake.output.md)
