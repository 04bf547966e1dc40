"""The one place that chooses the device of a job: what Snakemake gave it (`resources.gpu`), or the CPU.

A job that was given a GPU and finds none stops, because on the CPU it would take days. A job that was given none never
takes one. What kind of GPU it is, `accelerator` in the config says (the environment carries it to every job).
"""

import logging
import os
import socket
import warnings

import torch

from workflow.lib.base.errors import UserError
from workflow.lib.base.gpus import ACCELERATOR, VISIBLE, take_gpu

PRETEND = "pretend"  # to try a cluster's profile where there are no GPUs, or only a torch for CPUs
_chosen = "cpu"
log = logging.getLogger("gpus")


def device() -> str:
    """What `choose_device` chose: cpu, cuda (also ROCm's) or mps."""
    return _chosen


def with_float64(name: str) -> str:
    """The device for what needs double precision, which Apple's GPUs have not."""
    return "cpu" if name == "mps" else name


def choose_device(n_gpus: int) -> str:
    """`n_gpus`: snakemake.resources.gpu. To be called before anything uses a GPU."""
    global _chosen
    kind = os.environ.get(ACCELERATOR, "cuda")
    if not n_gpus:
        os.environ[VISIBLE] = ""  # also for libraries that take any GPU they find
        _chosen = "cpu"
    elif kind == PRETEND:
        log.info("GPU %s, in pretence: computing on the CPU", os.environ.get(VISIBLE, "of nobody's choice"))
        _chosen = "cpu"
    elif kind == "mps":
        _stop_if(mps_problem())
        _chosen = "mps"
    else:
        take_gpu()
        _stop_if(cuda_problem())
        _chosen = "cuda"
    return _chosen


def _stop_if(problem: str | None) -> None:
    if problem:
        raise UserError(
            f"this job was given a GPU on {socket.gethostname()}, but {problem}; or run without: --config gpu=0"
        )


def mps_problem() -> str | None:
    if torch.backends.mps.is_available():
        return None
    return "torch finds no Apple GPU (accelerator: mps needs Apple silicon with macOS 14 or later)"


def cuda_problem() -> str | None:
    """Why torch cannot compute on its GPU, and what to do; None if it can."""
    if not (torch.version.cuda or torch.version.hip):
        return f"torch {torch.__version__} is a build for CPUs: install the CUDA (or ROCm) build of the same version"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        n_found = torch.cuda.device_count()
        usable = n_found and torch.cuda.is_available()
    if not usable:
        reasons = " ".join(str(one.message) for one in said)
        if "driver" in reasons and "too old" in reasons:
            return f"its driver is too old for CUDA {torch.version.cuda}: update it, or install torch for an older CUDA"
        return f"torch finds no device ({reasons.strip() or f'{VISIBLE}={os.environ.get(VISIBLE)!r}'})"
    if torch.version.hip:
        return None
    name, capability = torch.cuda.get_device_name(0), torch.cuda.get_device_capability(0)
    built_for = torch.cuda.get_arch_list()
    if built_for and not _runs_on(capability, built_for):
        return (
            f"{name} (sm_{capability[0]}{capability[1]}) is none that torch {torch.__version__} was built for"
            f" ({', '.join(built_for)}): install its build for an older CUDA"
        )
    return None


def _runs_on(capability: tuple[int, int], built_for: list[str]) -> bool:
    """Machine code runs on the same generation from its version on, PTX (compute_..) on every later GPU."""
    for arch in built_for:
        kind, _, digits = arch.partition("_")
        digits = digits.rstrip("af")
        built = int(digits[:-1]), int(digits[-1])
        if (kind == "sm" and built[0] == capability[0] and built[1] <= capability[1]) or (
            kind == "compute" and built <= capability
        ):
            return True
    return False
