"""Edge probes of tuned models: F1 of the encoder, and what tuning changed."""

import pandas as pd

from workflow.lib.base.repetitions import with_parts
from workflow.lib.base.tables import read_tables, write_text_tables


def changes(scores: pd.DataFrame) -> pd.DataFrame:
    """A row per tuned model, edge task and input of the probe; points of micro-F1."""
    parts = with_parts(scores[scores["input"].isin(["mix", "top"])])
    keys = ["encoder", "task", "input"]
    before = parts[parts["state"] == "pretrained"].set_index(keys)["f1"] * 100
    after = parts[parts["state"] == "finetuned"]
    base = before.reindex(pd.MultiIndex.from_frame(after[keys])).to_numpy()
    columns = {"model": after["tuned_on"], "edge task": after["task"], "probe": after["input"], "before": base}
    return pd.DataFrame(columns | {"Δ after": after["f1"] * 100 - base}).reset_index(drop=True)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log

    to_rule_log(snakemake.log[0])
    table = changes(read_tables(snakemake.input.scores))
    write_text_tables(table, snakemake.output.csv, snakemake.output.md)
