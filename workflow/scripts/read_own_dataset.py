"""Reads a split of a dataset in the user's own files, and writes it in its normalised kind."""

from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.data.own_files import split_of

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log

    log = to_rule_log(snakemake.log[0])
    job = snakemake.params
    table, labels = split_of(job.entry, job.dataset, job.split, job.rows, job.seed)
    named = {"dataset": job.dataset, "split": job.split, "kind": "text", "labels": labels, "source": "the user's files"}
    info = write_dataset(snakemake.output[0], table, **named)
    log.info("%d rows of %s, split %s; labels %s", info["rows"], job.dataset, job.split, ", ".join(labels) or "none")
