"""How far the methods agree on where fine-tuning acts: rank correlation over layers, mean over models."""

from workflow.lib.depth import METHODS, agreement
from workflow.lib.repetitions import spread

if __name__ == "__main__":
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import read_tables, write_text_tables

    to_rule_log(snakemake.log[0])
    table = spread(agreement(read_tables(snakemake.input)), ["one", "other"], "correlation")
    table = table.rename(columns={"mean": "rank correlation", "sd": "rank correlation_sd", "n": "models"})
    for column in ("one", "other"):
        table[column] = table[column].map(METHODS)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md)
