"""Description length of each edge task under each model: how much there is to read, and how easily it is read."""

import pandas as pd

from workflow.papers.merchant2020.numbers import by_series, edge_name, series_name


def length_table(codelength: pd.DataFrame, tasks: list[str]) -> pd.DataFrame:
    """A row per edge task: kilobits under Base, and what each tuned model needs more or less, in per cent."""
    if "part" not in codelength:  # no task with one label per target
        return pd.DataFrame(columns=["task"])
    frame = by_series(codelength)
    frame = frame[frame["part"] == "total"]
    rows = []
    for task, here in frame.groupby("task", sort=False):
        base = here[here["series"] == "base"].set_index("encoder")
        row = {
            "task": edge_name(task), "Base (kbit)": base["bits"].mean() / 1000,
            "Base (kbit)_sd": base["bits"].std() / 1000, "Base compression": base["compression"].mean(),
        }  # fmt: skip
        for series in tasks:
            tuned = here[here["series"] == series]
            change = 100 * (tuned["bits"].to_numpy() / base.loc[tuned["encoder"], "bits"].to_numpy() - 1)
            name = f"Δ {series_name(series)} (%)"
            row |= {name: change.mean(), f"{name}_sd": pd.Series(change).std()}
        rows.append(row)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    table = length_table(read_tables(snakemake.input.codelength), snakemake.params.settings["tasks"])
    write_text_tables(table, snakemake.output.csv, snakemake.output.md)
