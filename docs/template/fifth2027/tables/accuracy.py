"""Table 1."""

from workflow.lib.base.tables import read_tables, write_text_tables

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log

    to_rule_log(snakemake.log[0])
    metrics = read_tables(snakemake.input.metrics)[["task", "test_accuracy"]]
    write_text_tables(metrics, snakemake.output.csv, snakemake.output.md)
