"""Table 5: what tuning on one task does to the labels of another: nearest distances and probe accuracy."""

import pandas as pd

from workflow.lib.plotting.figures import name_of
from workflow.papers.zhou2022.numbers import changes_of_nearest, cross_accuracies
from workflow.papers.zhou2022.published import beside_paper, published_task

PAPER = {"increased": "labels_increased", "decreased": "labels_decreased", "average increase": "mean_increase",
         "accuracy (%)": "accuracy"}  # fmt: skip


def compare(distances: pd.DataFrame, accuracy: pd.DataFrame, cross_tasks: dict[str, list[str]]) -> pd.DataFrame:
    """± as in table 7: over the probe's seeds themselves, of several tuning seeds over these."""
    rows = []
    for probed, others in cross_tasks.items():
        scores, unit = cross_accuracies(accuracy, probed)
        changes = changes_of_nearest(distances, probed)
        for tuned_on in ("none", *others):
            row = {"probed": probed, "fine-tuned on": tuned_on}
            if tuned_on in changes:
                change = changes[tuned_on]["change"].dropna()
                row |= {"increased": str((change > 0).sum()), "decreased": str((change < 0).sum()),
                        "average increase": change.mean()}  # fmt: skip
            spread = scores[tuned_on].std(ddof=0 if unit == "probe seeds" else 1)
            rows.append(row | {"accuracy (%)": scores[tuned_on].mean(), "accuracy (%)_sd": spread})
    return pd.DataFrame(rows)


def with_paper(shown: pd.DataFrame, published: pd.DataFrame, compared: list[str]) -> pd.DataFrame:
    """The published rows, which probe PS-fxn. `compared`: tasks on the paper's data."""
    is_papers = (shown["probed"] == "ps_fxn") & shown["probed"].isin(compared)
    is_papers &= shown["fine-tuned on"].isin(["none", *compared])
    series = shown["fine-tuned on"].map(published_task).where(is_papers, "")
    return beside_paper(shown, published, "table5", series.tolist(), PAPER)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    distances, accuracy = (read_tables(snakemake.input[name]) for name in ("distances", "accuracy"))
    settings = snakemake.params.settings
    shown = compare(distances, accuracy, settings["cross_tasks"])
    shown = with_paper(shown, pd.read_csv(snakemake.input.published), settings["compared"])
    for column in ("probed", "fine-tuned on"):
        shown[column] = shown[column].map(lambda task: "–" if task == "none" else name_of(task))
    write_text_tables(shown, snakemake.output.csv, snakemake.output.md)
