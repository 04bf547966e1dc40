"""Tables 2, 3, 4 and 7: probe accuracy, clusters and train-test similarity before and after fine-tuning."""

import pandas as pd

from workflow.lib.plotting.figures import name_of
from workflow.papers.zhou2022.numbers import cells
from workflow.papers.zhou2022.published import beside_paper, published_cell

STATES = {"pretrained": "original", "finetuned": "tuned"}
ACCURACY = ["accuracy (%)", "accuracy (%)_sd", "accuracy (%), paper", "accuracy (%), paper_sd"]
SIMILARITY = ["similarity, shared labels", "similarity, others as 0", "similarity, paper"]
PAPER = {"accuracy (%)": "accuracy", "clusters": "clusters", "linear": "linear",
         "similarity": "train_test_similarity"}  # fmt: skip


def summary(table: pd.DataFrame, encoders: list[str], tasks: list[str]) -> pd.DataFrame:
    """One row per encoder, task and state, in the order of the config; means over tuning seeds."""
    rows = []
    for encoder in encoders:
        for task in tasks:
            for state, shown in STATES.items():
                here = table[(table["encoder"] == encoder) & (table["task"] == task) & (table["state"] == state)]
                rows.append({
                    "encoder": encoder, "task": task, "state": shown,
                    "accuracy (%)": here["accuracy"].mean(), "accuracy (%)_sd": spread_of(here),
                    "± over": "probe seeds" if len(here) == 1 else f"{len(here)} tuning seeds",
                    "sizes": " / ".join(dict.fromkeys(here["sizes"])),
                    "grid": " / ".join(str(n) for n in dict.fromkeys(here["configurations"])),
                    "grid stops by": " / ".join(dict.fromkeys(here["grid_stopping"])),
                    "labels": int(here["n_labels"].iloc[0]), "floor": int(here["floor"].iloc[0]),
                    "clusters": mean_of(here["n_clusters"]), "linear": "yes" if here["linear"].all() else "no",
                    "similarity, shared labels": here["similarity_shared"].mean(skipna=False),
                    "similarity, others as 0": here["similarity_zero"].mean(skipna=False),
                })  # fmt: skip
    return pd.DataFrame(rows)


def mean_of(counts: pd.Series) -> str:
    """A count stays one where all tuning runs agree."""
    return str(counts.iloc[0]) if counts.nunique() == 1 else f"{counts.mean():.1f}"


def spread_of(here: pd.DataFrame) -> float:
    """Over the probe's seeds, as in the paper, where there is one tuning run; else over tuning runs."""
    return float(here["accuracy_sd"].iloc[0]) if len(here) == 1 else float(here["accuracy"].std())


def with_paper(
    rows: pd.DataFrame, published: pd.DataFrame, published_as: dict[str, str], compared: list[str]
) -> pd.DataFrame:
    """The published cell beside ours, for encoders and tasks (`compared`) that are the paper's: tables 2 to 4 are parts
    of table 7."""
    cells = zip(rows["encoder"], rows["task"])
    sizes = [published_as.get(encoder, "") if task in compared else "" for encoder, task in cells]
    series = list(map(published_cell, sizes, rows["task"], rows["state"]))
    rows = beside_paper(rows.assign(similarity=float("nan")), published, "table7", series, PAPER)
    if "linear, paper" in rows:
        rows["linear, paper"] = rows["linear, paper"].replace({"1": "yes", "0": "no"})
    return rows.drop(columns="similarity")  # the paper has one, we have one by either rule


def side_by_side(rows: pd.DataFrame, columns: list[str], key: str) -> pd.DataFrame:
    """A row per task or encoder, original and tuned beside each other."""
    by_state = {state: rows[rows["state"] == state].set_index(key) for state in STATES.values()}
    out = pd.DataFrame({key: by_state["original"].index})
    for column in (column for column in columns if column in rows):
        for state, of_state in by_state.items():
            out[f"{state}: {column}"] = of_state[column].to_numpy()
    return out


def table(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    if name == "table2":
        return side_by_side(rows, ACCURACY + SIMILARITY, "task")
    if name == "table3":
        return side_by_side(rows, ["clusters", "clusters, paper", "linear", "linear, paper", *ACCURACY], "task")
    if name == "table4":
        # the task with one question under two labels, which nothing can separate
        task = "trec50" if "trec50" in set(rows["task"]) else rows["task"].iloc[-1]
        rows = rows[rows["task"] == task]
        out = side_by_side(rows, ["clusters", "clusters, paper"], "encoder")
        out.insert(0, "task", task)
        originals = rows[rows["state"] == "original"]
        return out.assign(labels=originals["labels"].to_numpy(), floor=originals["floor"].to_numpy())
    return rows


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    tables = [read_tables(snakemake.input[name]) for name in ("clusters", "distances", "accuracy")]
    settings = snakemake.params.settings
    probed = cells(*tables, settings["min_points"], settings["missing_labels"])
    rows = summary(probed, settings["encoders"], settings["tasks"])
    rows = with_paper(rows, pd.read_csv(snakemake.input.published), settings["published_as"], settings["compared"])
    shown = table(snakemake.wildcards.id, rows)
    for column in ("task", "encoder"):
        if column in shown:
            shown[column] = shown[column].map(name_of)
    write_text_tables(shown, snakemake.output.csv, snakemake.output.md)
