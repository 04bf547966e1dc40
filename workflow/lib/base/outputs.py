"""Outputs of rules."""

from snakemake.io import directory, temp


def folder(path: str, is_temporary: bool):
    """A folder; a temporary one is deleted once all jobs that read it are done."""
    return temp(directory(path)) if is_temporary else directory(path)
