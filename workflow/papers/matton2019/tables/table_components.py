"""Section 3.1.2: what the fine-tuned model loses with the first 5 or 25 general components instead of all."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import name_of
from workflow.papers.matton2019.numbers import component_losses


def arrange(accuracy: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    losses = spread(component_losses(accuracy), ["task", "components"], "loss")
    paper = published.query("artifact == 'section3.1.2'").set_index(["series", "x"])["value"]
    return pd.DataFrame(
        {
            "dataset": losses["task"].map(name_of),
            "components": losses["components"],
            "points lost": losses["mean"],
            "points lost_sd": losses["sd"],
            "paper: points lost": [
                paper.get((task, f"loss_pp_at_{count}_components"), float("nan"))
                for task, count in zip(losses["task"], losses["components"])
            ],
        }
    )


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    table = arrange(read_tables(snakemake.input.accuracy), pd.read_csv(snakemake.input.published))
    write_text_tables(table, snakemake.output.csv, snakemake.output.md, digits=3)
