"""Hardware by rule on the page: a run's jobs may have computed on several machines."""

import json
import sys
from types import SimpleNamespace

from tests.base.test_performance import planted
from workflow.lib.base.machine import computes_on, cores, processor
from workflow.lib.base.work import work_in
from workflow.lib.page.provenance import times

JOBS = {
    "data/imdb/train": ("generate_dataset", 1000, 2, False, 1.0, 2.0, {"on": "a desk"}),
    "models/a": ("finetune_model", 1002, 30, True, 4.0, 30.0, {"on": "NVIDIA A100"}),
    "models/b": ("finetune_model", 1002, 10, True, 4.0, 10.0, {"on": "NVIDIA V100"}),
    "old/c": ("pca", 1002, 1, False, 0.1, 1.0, {}),  # of a version that did not tell
}


def test_hardware_is_told_by_rule_and_for_the_whole_run(tmp_path):
    text, table = times(planted(tmp_path, JOBS))
    assert text.endswith("on NVIDIA A100; NVIDIA V100; a desk; unknown hardware")
    assert table.set_index("rule")["on"].to_dict() == {
        "finetune_model": "NVIDIA A100; NVIDIA V100", "generate_dataset": "a desk", "pca": "unknown hardware",
    }  # fmt: skip


def test_runs_of_older_versions_are_still_read(tmp_path):
    text, table = times(planted(tmp_path))
    assert text.endswith("on unknown hardware") and set(table["on"]) == {"unknown hardware"}


def test_a_gpu_counts_only_if_the_process_used_it(monkeypatch):
    used = SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: True, get_device_name=lambda: "NVIDIA A100"))
    unused = SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", used)
    assert computes_on() == "NVIDIA A100"
    monkeypatch.setitem(sys.modules, "torch", unused)
    assert computes_on() == f"{processor()}, {cores()}"


def test_the_line_of_work_tells_it():
    line = f"12:00:01 work: {json.dumps({'rule': 'pca', 'on': 'a desk'})}"
    assert work_in(line)["on"] == "a desk"
