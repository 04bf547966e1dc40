"""Resources of jobs. Does not import torch, because it runs at every start of Snakemake."""

from workflow.lib.base.gpus import gpus_here

ACCELERATOR = "TUNESCOPE_ACCELERATOR"  # carries the config's `accelerator` to every job


def has_gpu(accelerator: str) -> bool:
    """Whether `gpu: auto` means 1. An Apple GPU is used only where the config asks for it."""
    return accelerator == "mps" or bool(gpus_here())


def growing(amount: int):
    """Memory in MB or minutes, doubled with every retry, because a job's need depends on the size of the dataset."""
    return lambda wildcards, attempt: amount * 2 ** (attempt - 1)
