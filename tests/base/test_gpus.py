"""GPUs of one machine are shared out: pretend devices, real processes."""

import os
import select
import subprocess
import sys

import pytest

from workflow.lib.base import gpus

# on a CUDA build of torch, whatever is installed here
TAKE = """
from workflow.lib.base import gpus
gpus.torch_is_built_for = lambda: {"cuda"}
print(gpus.take_gpu(), flush=True)
input()
"""


def taking(tmp_path, **environment) -> subprocess.Popen:
    """A process that takes a GPU and holds it until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", TAKE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)} | environment,
    )


def test_parallel_jobs_take_different_gpus(tmp_path):
    jobs = [taking(tmp_path, CUDA_VISIBLE_DEVICES="0,1,GPU-8a") for _ in range(3)]
    taken = [job.stdout.readline().strip() for job in jobs]
    assert set(taken) == {"0", "1", "GPU-8a"}
    jobs[1].kill()  # however a job ends, its GPU is free again
    jobs[1].wait()
    late = taking(tmp_path, CUDA_VISIBLE_DEVICES="0,1,GPU-8a")
    assert late.stdout.readline().strip() == taken[1]
    for job in (jobs[0], jobs[2], late):
        job.communicate("\n")


def test_a_job_waits_for_a_free_gpu(tmp_path):
    first = taking(tmp_path, CUDA_VISIBLE_DEVICES="3")
    assert first.stdout.readline().strip() == "3"
    second = taking(tmp_path, CUDA_VISIBLE_DEVICES="3")
    assert not select.select([second.stdout], [], [], 1.0)[0]
    first.communicate("\n")
    assert second.stdout.readline().strip() == "3"
    second.communicate("\n")


def test_jobs_of_a_scheduler_do_not_wait_for_each_other(tmp_path):
    """Slurm numbers the devices of every job from 0."""
    jobs = [taking(tmp_path, CUDA_VISIBLE_DEVICES="0", SLURM_JOB_ID=number) for number in ("71", "72")]
    assert [job.stdout.readline().strip() for job in jobs] == ["0", "0"]
    for job in jobs:
        job.communicate("\n")


def test_jobs_of_a_scheduler_that_chose_no_devices_share_them_out(tmp_path, monkeypatch):
    monkeypatch.setattr(gpus, "_held", {})
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("JOB_ID", "71")
    assert gpus._lock("0", is_preset=False)
    monkeypatch.setenv("JOB_ID", "72")
    assert not gpus._lock("0", is_preset=False) and gpus._lock("0", is_preset=True)


@pytest.mark.parametrize(
    ("preset", "seen"),
    [(" 2, 5", ["2", "5"]), ("GPU-8a,MIG-1/2", ["GPU-8a", "MIG-1/2"]), ("", []), ("-1", []), ("NoDevFiles", []),
     ("3,-1,4", ["3"])],
)  # fmt: skip
def test_a_preset_choice_is_read_as_cuda_does(monkeypatch, preset, seen):
    monkeypatch.setattr(gpus, "torch_is_built_for", lambda: {"cuda"})
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", preset)
    assert gpus.gpus_here() == seen and gpus.has_gpu("cuda") == bool(seen)
    if not seen:
        assert gpus.take_gpu() is None


def test_rocm_s_own_variable_comes_first(monkeypatch):
    monkeypatch.setattr(gpus, "torch_is_built_for", lambda: {"hip"})
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "3,4")
    assert gpus.gpus_here() == ["3", "4"]


def test_a_build_for_cpus_has_no_gpu_whatever_the_machine_has(monkeypatch):
    """The README's advice for those who want a small download."""
    monkeypatch.setattr(gpus, "torch_is_built_for", set)
    monkeypatch.setattr(gpus, "_n_of_nvidia", lambda: 2)
    for preset in ("0,1", None):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", preset) if preset else monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
        assert not gpus.has_gpu("cuda")


def test_what_torch_was_built_for_is_read_without_importing_it():
    import torch

    expected = {kind for kind in ("cuda", "hip") if getattr(torch.version, kind)}
    assert gpus.torch_is_built_for() == expected
