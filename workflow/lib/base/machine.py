"""What computes: the processor and the GPU that a process uses, in words for readers."""

import os
import platform
import sys
from pathlib import Path


def processor() -> str:
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def cores() -> str:
    n = os.cpu_count() or 1
    return f"{n} core{'s' if n > 1 else ''}"


def used_gpu() -> str | None:
    """The GPU that this process has computed on. torch is asked only if the process has imported it."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return torch.cuda.get_device_name()


def computes_on() -> str:
    return used_gpu() or f"{processor()}, {cores()}"
