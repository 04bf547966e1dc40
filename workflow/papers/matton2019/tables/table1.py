"""Table 1: the datasets, as they were used."""

import pandas as pd

from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.plotting.figures import name_of


def sizes(places: dict[str, dict[str, str]]) -> pd.DataFrame:
    rows = []
    for task, files in places.items():
        train, test = (read_dataset(files[split])[1] for split in ("train", "test"))
        rows.append((name_of(task), train["rows"], test["rows"], len(train["labels"]), train["source"]))
    return pd.DataFrame(rows, columns=["dataset", "training rows", "test rows", "classes", "source"])


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_text_tables

    to_rule_log(snakemake.log[0])
    files = list(snakemake.input.data)
    places = {
        task: {"train": files[2 * at], "test": files[2 * at + 1]}
        for at, task in enumerate(snakemake.params.settings["tasks"])
    }
    write_text_tables(sizes(places), snakemake.output.csv, snakemake.output.md)
