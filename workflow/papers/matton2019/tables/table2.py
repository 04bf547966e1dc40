"""Table 2: test accuracy of a classifier on the frozen encoder, and of the encoder fine-tuned end to end."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import name_of
from workflow.papers.matton2019.numbers import published_of, selected_accuracies


def compare(greedy: pd.DataFrame, metrics: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
    """With the paper's columns, if its numbers are given."""
    frozen = spread(
        selected_accuracies(greedy).query("state == 'pretrained' and neurons == 'all'"), ["task"], "accuracy"
    )
    tuned = spread(metrics.assign(accuracy=100 * metrics["test_accuracy"]), ["task"], "accuracy")
    both = frozen.merge(tuned, on="task", suffixes=("_frozen", "_tuned"))
    table = pd.DataFrame(
        {
            "dataset": both["task"].map(name_of),
            "pretrained (%)": both["mean_frozen"],
            "pretrained (%)_sd": both["sd_frozen"],
            "finetuned (%)": both["mean_tuned"],
            "finetuned (%)_sd": both["sd_tuned"],
            "repetitions": both["n_tuned"],
        }
    )
    if published is None:
        return table
    paper = published.query("artifact == 'table2'").pivot(index="series", columns="x", values="value")
    names = {"pretrained": "pretrained", "finetuned": "finetuned", "state of the art": "sota"}
    return table.assign(**{f"paper: {name}": both["task"].map(paper[x]) for name, x in names.items()})


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    published = published_of(snakemake.input.published, snakemake.params.settings["compared"])
    table = compare(read_tables(snakemake.input.greedy), read_tables(snakemake.input.metrics), published)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md)
