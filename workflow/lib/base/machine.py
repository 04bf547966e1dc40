"""Resources of jobs. Does not import torch, because it runs at every start of Snakemake."""

import shutil
from pathlib import Path


def has_gpu() -> bool:
    return Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is not None


def growing(mb: int):
    """Memory in MB, doubled with every retry, because a job's need depends on the size of the dataset."""
    return lambda wildcards, attempt: mb * 2 ** (attempt - 1)
