"""GPUs of one machine, shared out among its jobs: Snakemake counts them, but does not say which job has which.

A job that was given a GPU takes the first free one. The system releases its lock however the process ends. Does not
import torch: CUDA reads CUDA_VISIBLE_DEVICES once, when it is first used.
"""

import fcntl
import logging
import os
import tempfile
import time
from pathlib import Path

VISIBLE = "CUDA_VISIBLE_DEVICES"  # ROCm honours it too
# a scheduler's job has devices of its own, which it may number from 0 as every other job does
JOB_IDS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")
PAUSE = 1.0  # seconds between two looks

log = logging.getLogger("gpus")
_held: list[int] = []  # locks, to be held for as long as the process lives


def gpus_here() -> list[str]:
    """Those that this process may see: a preset choice, or all of the machine's (NVIDIA's, or AMD's)."""
    preset = os.environ.get(VISIBLE)
    if preset is not None:
        return [name.strip() for name in preset.split(",") if name.strip()]
    nvidia = sorted(int(path.name[6:]) for path in Path("/dev").glob("nvidia[0-9]*") if path.name[6:].isdigit())
    nodes = Path("/sys/class/kfd/kfd/topology/nodes").glob("*/gpu_id")
    return [str(number) for number in nvidia or range(sum(node.read_text().strip() != "0" for node in nodes))]


def take_gpu() -> str | None:
    """Wait for a free GPU, and make it the only one that this process sees. None: there is none to choose from."""
    gpus = gpus_here()
    told = False
    while gpus:
        for gpu in gpus:
            if _lock(gpu):
                os.environ[VISIBLE] = gpu
                log.info("GPU %s", gpu)
                return gpu
        if not told:
            log.info("waiting for one of %d GPUs", len(gpus))
            told = True
        time.sleep(PAUSE)
    return None


def _lock(gpu: str) -> bool:
    job = next((os.environ[name] for name in JOB_IDS if os.environ.get(name)), "")
    name = "".join(sign if sign.isalnum() else "-" for sign in f"{os.getuid()} {job} {gpu}")
    path = Path(tempfile.gettempdir()) / f"tunescope-gpu-{name}.lock"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    _held.append(file)
    return True
