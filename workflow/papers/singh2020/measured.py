"""singh2020's measured numbers, named like the published ones, and its claims."""

import pandas as pd

from workflow.lib.base.measured import summarised
from workflow.papers.singh2020 import claims
from workflow.papers.singh2020.numbers import of_sizes, reinit_curves

# ours are the validation rows: the labels of GLUE's test rows are not public
SPLITS = {"train": "training rows", "test": "test rows"}


TOLERANCES = {}  # the paper states the sizes in thousands


def of_sizes_table(sizes: pd.DataFrame, tasks: list[str]) -> list[tuple]:
    """Table 1, whose rows are in the order of the tasks."""
    return [
        ("table1", task, split, float(row[column]))
        for task, (_, row) in zip(tasks, sizes.iterrows())
        for split, column in SPLITS.items()
    ]


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import tables_of, write_table

    to_rule_log(snakemake.log[0])
    tables = tables_of(snakemake.input)
    settings, sizes = snakemake.params.settings, pd.read_csv(snakemake.input.sizes)
    test_rows = dict(zip(settings["tasks"], sizes["test rows"]))
    sweeps, distances = (of_sizes(tables[name], settings["fractions"]) for name in ("sweeps", "distances"))
    found = claims.reinitialisation(reinit_curves(sweeps, settings["initialiser"]), test_rows)
    found += claims.probing(tables["probes"], sweeps, test_rows) + claims.distances(distances)
    write_table(summarised(of_sizes_table(sizes, settings["tasks"]), TOLERANCES), snakemake.output.measured)
    write_table([vars(claim) for claim in found], snakemake.output.claims)
