"""Table 6: sizes of the tasks, in labelled points."""

from pathlib import Path

import pandas as pd

from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.labelled_units import labelled_units
from workflow.lib.plotting.figures import name_of


def sizes(files: dict[str, str], tasks: dict[str, dict]) -> pd.DataFrame:
    """`files`: dataset files by `<dataset>-<split>`."""
    rows = []
    for task, place in tasks.items():
        train, test = (labelled_units(*read_dataset(files[place[split]]), place["head"]) for split in ("train", "test"))
        unseen = set(test.label) - set(train.label)
        rows.append({"task": name_of(task), "train points": len(train), "test points": len(test),
                     "labels": len(set(train.label)), "labels in test": len(set(test.label)),
                     "of these not in train": len(unseen)})  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_text_tables

    to_rule_log(snakemake.log[0])
    files = {f"{Path(path).parent.name}-{Path(path).stem}": path for path in snakemake.input.data}
    table = sizes(files, snakemake.params.settings["tasks"])
    write_text_tables(table, snakemake.output.csv, snakemake.output.md)
