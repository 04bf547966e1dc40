"""Section 3.1.2: what the fine-tuned model loses with the first 5 or 25 general components instead of all."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import name_of
from workflow.papers.matton2019.numbers import component_losses, published_of


def arrange(accuracy: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
    """With the paper's column, if its numbers are given."""
    losses = spread(component_losses(accuracy), ["task", "components"], "loss")
    table = pd.DataFrame(
        {
            "dataset": losses["task"].map(name_of),
            "components": losses["components"],
            "points lost": losses["mean"],
            "points lost_sd": losses["sd"],
        }
    )
    if published is None:
        return table
    paper = published.query("artifact == 'section3.1.2'").set_index(["series", "x"])["value"]
    keys = [(task, f"loss_pp_at_{count}_components") for task, count in zip(losses["task"], losses["components"])]
    return table.assign(**{"paper: points lost": [paper.get(key, float("nan")) for key in keys]})


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    published = published_of(snakemake.input.published, snakemake.params.settings["compared"])
    table = arrange(read_tables(snakemake.input.accuracy), published)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md, digits=3)
