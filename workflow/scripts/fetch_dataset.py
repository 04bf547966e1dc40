"""Fetches a split of a real dataset, from the mirror or by download, and writes it in its normalised kind."""

from pathlib import Path

from workflow.lib.data.adapters import adapt
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.data.sources import locate_with_origin


def fetch(
    path: str | Path,
    *,
    entry: dict,
    dataset: str,
    split: str,
    rows: int | None,
    seed: int,
    mirror: str | None,
    licensed: str | None = None,
) -> dict:
    """Write the split to `path`; returns the file's metadata."""
    files, origin = locate_with_origin(entry, split, mirror, dataset=dataset, licensed=licensed)
    table = adapt(files, entry, dataset=dataset, split=split, seed=seed, rows=rows)
    return write_dataset(
        path, table, dataset=dataset, split=split, kind=entry["kind"], labels=entry["labels"], source=origin
    )


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log

    log = to_rule_log(snakemake.log[0])
    info = fetch(snakemake.output[0], **snakemake.params.settings)
    log.info("%(rows)d rows of %(dataset)s, split %(split)s, from %(source)s", info)
