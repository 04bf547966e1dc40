"""What the machine has, asked without importing torch: this runs at every start of Snakemake."""

import shutil
from pathlib import Path


def has_gpu() -> bool:
    return Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is not None
