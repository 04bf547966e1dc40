"""What jobs ask of machines. Without importing torch: this runs at every start of Snakemake."""

import shutil
from pathlib import Path


def has_gpu() -> bool:
    return Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is not None


def growing(mb: int):
    """Memory in MB, twice as much with every retry: what a job needs depends on the dataset's rows."""
    return lambda wildcards, attempt: mb * 2 ** (attempt - 1)
