"""GPUs of one machine are shared out: pretend devices, real processes."""

import os
import select
import subprocess
import sys

from workflow.lib.base import gpus

TAKE = "from workflow.lib.base.gpus import take_gpu; print(take_gpu(), flush=True); input()"


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
    assert {job.stdout.readline().strip() for job in jobs} == {"0", "1", "GPU-8a"}
    jobs[1].kill()  # however a job ends, its GPU is free again
    jobs[1].wait()
    late = taking(tmp_path, CUDA_VISIBLE_DEVICES="0,1,GPU-8a")
    assert late.stdout.readline().strip() in ("0", "1", "GPU-8a")
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


def test_a_preset_choice_is_respected(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", " 2, 5")
    assert gpus.gpus_here() == ["2", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpus.gpus_here() == [] and gpus.take_gpu() is None
