"""GPUs of one machine, shared out among its jobs: Snakemake counts them, but does not say which job has which.

A job that was given a GPU takes the first free one. The system releases its lock however the process ends. Does not
import torch: it runs at every start of Snakemake, and CUDA reads CUDA_VISIBLE_DEVICES once, when it is first used.
"""

import fcntl
import importlib.util
import logging
import os
import re
import shutil
import socket
import tempfile
import time
from functools import cache
from pathlib import Path

from workflow.lib.base.errors import UserError

ACCELERATOR = "TUNESCOPE_ACCELERATOR"  # carries the config's `accelerator` to every job
VISIBLE = "CUDA_VISIBLE_DEVICES"
VISIBLE_TO_ROCM = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", VISIBLE)  # in the order in which torch asks
JOB_IDS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")
A_DEVICE = re.compile(r"\d+|(GPU|MIG)-\S+")
PAUSE = 1.0  # seconds between two looks

log = logging.getLogger("gpus")
_held: dict[str, int] = {}  # locks by GPU, held for as long as the process lives


@cache
def torch_is_built_for() -> set[str]:
    """cuda, hip, or nothing: read from torch's own record, because importing it takes seconds."""
    found = importlib.util.find_spec("torch")
    record = Path(found.origin).with_name("version.py") if found and found.origin else None
    text = record.read_text() if record and record.is_file() else ""
    return {kind for kind in ("cuda", "hip") if re.search(rf"^{kind}\b[^=\n]*=\s*['\"]", text, re.MULTILINE)}


def has_gpu(accelerator: str) -> bool:
    """Whether `gpu: auto` means 1: a GPU that this torch was built for. Apple's only where the config asks for it."""
    return accelerator == "mps" or bool(gpus_here())


def gpus_here() -> list[str]:
    """Those that this process may see, as torch numbers them: a preset choice, or all of the machine's."""
    built_for = torch_is_built_for()
    for variable in VISIBLE_TO_ROCM if "hip" in built_for else (VISIBLE,):
        if variable in os.environ:
            return _listed(os.environ[variable]) if built_for else []
    if "hip" in built_for:
        return [str(number) for number in range(_n_of_amd())]
    return [str(number) for number in range(_n_of_nvidia())] if "cuda" in built_for else []


def _listed(preset: str) -> list[str]:
    """As CUDA reads it: up to the first entry that is no device, such as -1 or NoDevFiles."""
    found = []
    for name in map(str.strip, preset.split(",")):
        if not A_DEVICE.fullmatch(name):
            break
        found.append(name)
    return found


def _n_of_nvidia() -> int:
    # a container may show only /dev/nvidia2, which is number 0 there
    n_files = sum(path.name[6:].isdigit() for path in Path("/dev").glob("nvidia*"))
    return n_files or int(Path("/dev/dxg").exists() and shutil.which("nvidia-smi") is not None)  # Windows' Linux


def _n_of_amd() -> int:
    n_found = 0
    for node in Path("/sys/class/kfd/kfd/topology/nodes").glob("*/gpu_id"):
        try:
            n_found += node.read_text().strip() not in ("", "0")
        except OSError:  # a node that a container may not see
            continue
    return n_found


def take_gpu() -> str | None:
    """Wait for a free GPU, and make it the only one that this process sees. None: there is none to choose from."""
    if _held:
        return next(iter(_held))
    is_preset, gpus, told = VISIBLE in os.environ, gpus_here(), False
    while gpus:
        for gpu in gpus:
            if _lock(gpu, is_preset):
                for variable in VISIBLE_TO_ROCM if "hip" in torch_is_built_for() else (VISIBLE,):
                    if variable == VISIBLE or variable in os.environ:
                        os.environ[variable] = gpu
                log.info("GPU %s", gpu)
                return gpu
        if not told:
            log.info("waiting for one of %d GPUs", len(gpus))
            told = True
        time.sleep(PAUSE)
    return None


def _lock(gpu: str, is_preset: bool) -> bool:
    """Devices that a scheduler has chosen are its job's own, and may have the numbers of another job's."""
    job = next((os.environ[name] for name in JOB_IDS if os.environ.get(name)), "") if is_preset else ""
    name = re.sub(r"\W", "-", f"{socket.gethostname()} {os.getuid()} {job} {gpu}")
    path = Path(tempfile.gettempdir()) / f"tunescope-gpu-{name}.lock"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    except OSError as error:
        raise UserError(f"no lock for GPU {gpu} on {path} ({error.strerror}): set TMPDIR to a local folder") from error
    _held[gpu] = file
    return True
