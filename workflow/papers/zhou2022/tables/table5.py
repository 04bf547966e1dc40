"""Table 5: what tuning on one task does to the labels of another: nearest distances and probe accuracy."""

import pandas as pd

from workflow.lib.base.repetitions import with_parts
from workflow.lib.plotting.figures import name_of
from workflow.papers.zhou2022.numbers import changes_of_nearest


def compare(distances: pd.DataFrame, accuracy: pd.DataFrame, cross_tasks: dict[str, list[str]]) -> pd.DataFrame:
    rows, accuracy = [], with_parts(accuracy)
    for probed, others in cross_tasks.items():
        of_task = accuracy[accuracy["task"] == probed]
        before = of_task[of_task["tuned_on"].isna()]["accuracy"]
        rows.append({"probed": name_of(probed), "fine-tuned on": "–", "accuracy (%)": 100 * before.mean()})
        changes = changes_of_nearest(distances, probed)
        for tuned_on in others:
            change = changes[tuned_on]["change"].dropna()
            here = of_task[of_task["tuned_on"] == tuned_on].groupby("seed")["accuracy"].mean()
            rows.append({
                "probed": name_of(probed), "fine-tuned on": name_of(tuned_on),
                "increased": str((change > 0).sum()), "decreased": str((change < 0).sum()),
                "average increase": change.mean(),
                "accuracy (%)": 100 * here.mean(), "accuracy (%)_sd": 100 * here.std(),
            })  # fmt: skip
    return pd.DataFrame(rows)


def with_paper(shown: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The published rows, which probe PS-fxn."""
    paper = published.query("artifact == 'table5'").set_index(["series", "x"])["value"]
    tuned_on = shown["fine-tuned on"].map(lambda name: {"–": "none"}.get(name, name.lower()))
    names = tuned_on.where(shown["probed"] == name_of("ps_fxn"), "")
    for column, x in (("average increase", "mean_increase"), ("accuracy (%)", "accuracy")):
        shown[f"paper: {column}"] = [paper.get((name, x), float("nan")) for name in names]
    return shown


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    distances, accuracy = (read_tables(snakemake.input[name]) for name in ("distances", "accuracy"))
    shown = compare(distances, accuracy, snakemake.params.settings["cross_tasks"])
    settings = snakemake.params.settings
    if settings["published_as"].get(settings["tracked_encoder"]) == "base":
        shown = with_paper(shown, pd.read_csv(snakemake.input.published))
    write_text_tables(shown, snakemake.output.csv, snakemake.output.md)
