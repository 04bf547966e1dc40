"""Table 1: the tasks, their sizes and their metrics."""

from pathlib import Path

import pandas as pd

from workflow.lib.plotting.figures import name_of
from workflow.papers.singh2020.numbers import METRIC_NAMES, metric_of

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_text_tables
    from workflow.lib.data.dataset_files import read_dataset

    to_rule_log(snakemake.log[0])
    files = {f"{Path(path).parent.name}-{Path(path).stem}": path for path in snakemake.input.data}
    rows = []
    for task, places in snakemake.params.settings["tasks"].items():
        (train, info), (test, _) = (read_dataset(files[places[split]]) for split in ("train", "test"))
        texts = "pair of texts" if train["text_pair"].null_count < len(train) else "text"
        rows.append({"task": name_of(task), "training rows": len(train), "test rows": len(test), "input": texts,
                     "labels": ", ".join(info["labels"]), "metric": METRIC_NAMES[metric_of(task)]})  # fmt: skip
    write_text_tables(pd.DataFrame(rows), snakemake.output.csv, snakemake.output.md)
