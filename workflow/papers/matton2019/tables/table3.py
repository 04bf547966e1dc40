"""Table 3: softmax classifiers on all, one, five and as many neurons as classes, before and after fine-tuning."""

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.plotting.figures import name_of
from workflow.papers.matton2019.numbers import published_of, selected_accuracies

COLUMNS = (("pretrained", ("all", "1", "5", "natural")), ("finetuned", ("all", "1", "5", "natural")))


def arrange(greedy: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
    """A row for each dataset and, if its numbers are given, the paper's (which has no "natural" column before)."""
    scores = selected_accuracies(greedy)
    paper = {} if published is None else published.query("artifact == 'table3'").set_index(["series", "x"])["value"]
    summary = spread(scores, ["task", "state", "neurons"], "accuracy").set_index(["task", "state", "neurons"])
    rows = []
    for task, n_classes in scores.groupby("task", sort=False)["n_classes"].first().items():
        row = {"dataset": name_of(task), "classes": n_classes, "random guess": 100 / n_classes}
        for state, names in COLUMNS:
            for name in names:
                row[f"{state} {name}"] = summary.loc[(task, state, name), "mean"]
                row[f"{state} {name}_sd"] = summary.loc[(task, state, name), "sd"]
        rows.append(row)
        stated = {f"{state} {name}": paper.get((task, f"{state}_{name}")) for state, names in COLUMNS for name in names}
        if any(value is not None for value in stated.values()):
            rows.append({"dataset": f"{name_of(task)}, paper", "classes": round(100 / paper[task, "random"]),
                         "random guess": paper[task, "random"]} | stated)  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    published = published_of(snakemake.input.published, snakemake.params.settings["compared"])
    table = arrange(read_tables(snakemake.input.greedy), published)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md, digits=1)
