"""Tables 2, 3, 4 and 7: probe accuracy, clusters and train-test similarity before and after fine-tuning."""

import pandas as pd

from workflow.lib.plotting.figures import name_of
from workflow.papers.zhou2022.numbers import cells, published_cell

STATES = {"pretrained": "original", "finetuned": "tuned"}


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
                    "sizes": " / ".join(dict.fromkeys(here["sizes"])), "grid": " / ".join(
                        str(n) for n in dict.fromkeys(here["configurations"])),
                    "labels": int(here["n_labels"].iloc[0]), "clusters": mean_of(here["n_clusters"]),
                    "linear": "yes" if here["linear"].all() else "no",
                    "similarity": here["similarity"].mean() if here["linear"].all() else float("nan"),
                    "similarity, missing labels as 0": here["similarity_zero"].mean()
                    if here["linear"].all() else float("nan"),
                    "± over": "probe seeds" if len(here) == 1 else f"{len(here)} tuning seeds",
                })  # fmt: skip
    return pd.DataFrame(rows)


def mean_of(counts: pd.Series) -> str:
    """A count stays one where all tuning runs agree."""
    return str(counts.iloc[0]) if counts.nunique() == 1 else f"{counts.mean():.1f}"


def spread_of(here: pd.DataFrame) -> float:
    """Over the probe's seeds, as in the paper, where there is one tuning run; else over tuning runs."""
    return float(here["accuracy_sd"].iloc[0]) if len(here) == 1 else float(here["accuracy"].std())


def side_by_side(rows: pd.DataFrame, columns: list[str], key: str) -> pd.DataFrame:
    """A row per task or encoder, original and tuned beside each other."""
    wide = {"original": {}, "tuned": {}}
    for state in wide:
        wide[state] = rows[rows["state"] == state].set_index(key)[columns]
    out = pd.DataFrame({key: wide["original"].index})
    for column in columns:
        for state, of_state in wide.items():
            base = column.removesuffix("_sd")
            out[f"{state}: {base}{'_sd' if column.endswith('_sd') else ''}"] = of_state[column].to_numpy()
    return out


def with_paper(rows: pd.DataFrame, published: pd.DataFrame, published_as: dict[str, str]) -> pd.DataFrame:
    """The published cell beside ours, for encoders that are the paper's."""
    if not published_as:
        return rows
    paper = published[published["artifact"] == "table7"].set_index(["series", "x"])["value"]
    sizes = [published_as.get(encoder, "") for encoder in rows["encoder"]]
    series = list(map(published_cell, sizes, rows["task"], rows["state"]))
    for column, x in (("accuracy", "accuracy"), ("clusters", "clusters"), ("similarity", "train_test_similarity")):
        rows[f"paper: {column}"] = [paper.get((name, x), float("nan")) for name in series]
    return rows


def table(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    if name == "table2":
        return side_by_side(rows, ["accuracy (%)", "accuracy (%)_sd", "similarity"], "task")
    if name == "table3":
        return side_by_side(rows, ["clusters", "linear", "accuracy (%)", "accuracy (%)_sd"], "task")
    if name == "table4":
        # the task with one question under two labels, which nothing can separate
        task = "trec50" if "trec50" in set(rows["task"]) else rows["task"].iloc[-1]
        rows = rows[rows["task"] == task]
        columns = [name for name in ("clusters", "labels", "paper: clusters") if name in rows]
        out = side_by_side(rows, columns, "encoder")
        out.insert(0, "task", task)
        return out.rename(columns={"original: labels": "labels"}).drop(columns="tuned: labels")
    return rows


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    tables = {name: read_tables(snakemake.input[name]) for name in ("clusters", "similarity", "accuracy")}
    settings = snakemake.params.settings
    rows = summary(cells(**tables, missing=settings["missing_labels"]), settings["encoders"], settings["tasks"])
    rows = with_paper(rows, pd.read_csv(snakemake.input.published), settings["published_as"])
    shown = table(snakemake.wildcards.id, rows)
    for column in ("task", "encoder"):
        if column in shown:
            shown[column] = shown[column].map(name_of)
    write_text_tables(shown, snakemake.output.csv, snakemake.output.md)
