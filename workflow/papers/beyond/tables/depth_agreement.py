"""How far the methods agree on where fine-tuning acts: rank correlation over layers, mean over a task's models."""

from workflow.lib.base.repetitions import spread, with_parts
from workflow.lib.plotting.figures import name_of
from workflow.papers.beyond.changes import changes
from workflow.papers.beyond.numbers import METHODS, agreement

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import tables_of, write_text_tables

    to_rule_log(snakemake.log[0])
    tables = tables_of(snakemake.input)
    found = with_parts(agreement(changes(**tables))).rename(columns={"tuned_on": "task"})
    table = spread(found, ["task", "one", "other", "layers"], "correlation")
    table = table.rename(columns={"mean": "rank correlation", "sd": "rank correlation_sd", "n": "models"})
    table["task"] = table["task"].map(name_of)
    for column in ("one", "other"):
        table[column] = table[column].map(METHODS)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md)
