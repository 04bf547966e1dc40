"""Generates a split of a dataset of the embedded corpus."""

from workflow.lib.corpus.tasks import DATASETS, generate
from workflow.lib.data.dataset_files import write_dataset


def labels_of(name: str, rows: list[dict]) -> list[str]:
    """The labels of a dataset: a fixed list, or for span datasets the labels that occur."""
    if DATASETS[name].kind != "spans":
        return list(DATASETS[name].labels)
    return sorted({label for row in rows for target in row["targets"] for label in target["labels"]})


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log

    log = to_rule_log(snakemake.log[0])
    name, split = snakemake.wildcards.dataset, snakemake.wildcards.split
    made = generate(name, split, snakemake.params.rows, snakemake.params.seed, snakemake.params.language)
    info = write_dataset(
        snakemake.output[0],
        made,
        dataset=name,
        split=split,
        kind=DATASETS[name].kind,
        labels=labels_of(name, made),
        source="embedded corpus",
    )
    log.info("%(rows)d rows of %(dataset)s, split %(split)s", info)
