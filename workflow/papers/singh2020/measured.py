"""singh2020's measured numbers, named like the published ones, and its claims."""

import pandas as pd

from workflow.papers.singh2020 import claims
from workflow.papers.singh2020.numbers import of_sizes, reinit_curves

# ours are the validation rows: the labels of GLUE's test rows are not public
SPLITS = {"train": "training rows", "test": "test rows"}


def table1(sizes: pd.DataFrame, tasks: list[str]) -> pd.DataFrame:
    """Table 1, whose rows are in the order of the tasks."""
    rows = [
        ("table1", task, split, float(row[column]), float("nan"), 1)
        for task, (_, row) in zip(tasks, sizes.iterrows())
        for split, column in SPLITS.items()
    ]
    return pd.DataFrame(rows, columns=["artifact", "series", "x", "measured", "sd", "n"])


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_tables, write_table

    to_rule_log(snakemake.log[0])
    tables = {name: read_tables(files) for name, files in snakemake.input.items() if name != "sizes"}
    settings, sizes = snakemake.params.settings, pd.read_csv(snakemake.input.sizes)
    test_rows = dict(zip(settings["tasks"], sizes["test rows"]))
    sweeps, distances = (of_sizes(tables[name], settings["fractions"]) for name in ("sweeps", "distances"))
    found = claims.reinitialisation(reinit_curves(sweeps, settings["initialiser"]), test_rows)
    found += claims.probing(tables["probes"], sweeps, test_rows) + claims.distances(distances)
    write_table(table1(sizes, settings["tasks"]), snakemake.output.measured)
    write_table([vars(claim) for claim in found], snakemake.output.claims)
