"""Which device a job gets, and what it is told where there is none."""

import os
import warnings

import pytest
import torch

from workflow.lib.base.errors import UserError
from workflow.lib.base.gpus import ACCELERATOR, has_gpu
from workflow.lib.encoders import device
from workflow.lib.training.loop import accelerator_for


@pytest.fixture(autouse=True)
def pretend(monkeypatch):
    """A CUDA build of torch on a machine with one pretend GPU; the choice is undone."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.delenv(ACCELERATOR, raising=False)
    monkeypatch.setattr(device, "_chosen", "cpu")
    monkeypatch.setattr(device, "take_gpu", lambda: "0")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    for name, value in {
        "device_count": 1,
        "is_available": True,
        "get_device_name": "Tesla T4",
        "get_device_capability": (7, 5),
        "get_arch_list": ["sm_75", "sm_80", "sm_90", "compute_90"],
    }.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, value=value: value)


def test_a_job_without_a_gpu_takes_none():
    assert device.choose_device(0) == device.device() == "cpu"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
    assert accelerator_for("auto").device.type == "cpu"


def test_a_pretended_gpu_is_the_cpu_and_its_number_is_told(monkeypatch, caplog):
    monkeypatch.setenv(ACCELERATOR, "pretend")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    with caplog.at_level("INFO"):
        assert device.choose_device(1) == device.device() == "cpu"
    assert "GPU 1, in pretence" in caplog.text and os.environ["CUDA_VISIBLE_DEVICES"] == "1"


def test_a_job_with_a_gpu_takes_it():
    assert device.choose_device(1) == device.device() == "cuda"


@pytest.mark.parametrize(
    ("capability", "works"), [((7, 0), False), ((7, 5), True), ((8, 6), True), ((12, 0), True), ((6, 1), False)]
)
def test_gpus_that_the_build_was_not_made_for_are_refused(monkeypatch, capability, works):
    """V100 (7.0) is none of CUDA 13's; a newer GPU compiles the PTX."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: capability)
    if works:
        assert device.choose_device(1) == "cuda"
    else:
        with pytest.raises(UserError, match=rf"sm_{capability[0]}{capability[1]}\) is none that torch .* older CUDA"):
            device.choose_device(1)


def test_an_old_driver_is_named(monkeypatch):

    def count():
        warnings.warn(
            "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).", stacklevel=1
        )
        return 0

    monkeypatch.setattr(torch.cuda, "device_count", count)
    with pytest.raises(UserError, match=r"driver is too old for CUDA 13.0: .*--config gpu=0"):
        device.choose_device(1)


def test_no_device_and_no_build_are_told_apart(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(UserError, match=r"finds no device .*CUDA_VISIBLE_DEVICES='0'"):
        device.choose_device(1)
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(UserError, match="is a build for CPUs"):
        device.choose_device(1)
    assert device.device() == "cpu"


def test_apple_gpus_are_used_only_where_they_are_named(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not has_gpu("cuda") and has_gpu("mps")
    monkeypatch.setenv(ACCELERATOR, "mps")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(UserError, match="no Apple GPU"):
        device.choose_device(1)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device.choose_device(1) == "mps"
    assert [device.with_float64(name) for name in ("mps", "cuda", "cpu")] == ["cpu", "cuda", "cpu"]
