"""A rule log ends with the work of its job."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workflow.lib.base import work
from workflow.lib.base.digests import ROOT
from workflow.lib.base.machine import computes_on

JOB = """
import sys
from types import SimpleNamespace
from workflow.lib.base.logs import to_rule_log
from workflow.lib.base.work import count

snakemake = SimpleNamespace(rule="pca", log=[sys.argv[1]])
log = to_rule_log(snakemake.log[0])
log.info("begun")
count("fits")
count("fits", 2)
"""


def run(script: str, log: Path) -> tuple[subprocess.CompletedProcess, dict]:
    """How a job ended, and the work in its log."""
    done = subprocess.run([sys.executable, "-c", script, str(log)], cwd=ROOT, capture_output=True, text=True)
    return done, work.work_in(log.read_text())


def test_a_log_ends_with_the_work(tmp_path):
    done, found = run(JOB, tmp_path / "a.log")
    assert done.returncode == 0
    assert 0 < found.pop("import_seconds") <= found.pop("cpu_seconds")
    assert found.pop("on") == computes_on()
    assert found == {"rule": "pca", "imports_torch": False, "fits": 3}  # counting itself imports no torch


def test_imports_of_torch_are_seen(tmp_path):
    stand_in = "sys.modules['torch'] = SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: False))\n"
    assert run(JOB + stand_in, tmp_path / "a.log")[1]["imports_torch"]


@pytest.mark.parametrize("error", ["ValueError('lost')", "UserError('lost')"])
def test_a_failed_job_says_why_and_what_it_did(tmp_path, error):
    script = f"from workflow.lib.base.errors import UserError\n{JOB}raise {error}\n"
    done, found = run(script, tmp_path / "a.log")
    assert done.returncode == 1 and "lost" in done.stderr and found["fits"] == 3
    assert "failed" in (tmp_path / "a.log").read_text()


def test_a_killed_job_has_no_work_line(tmp_path):
    done, found = run(JOB + "import os; os._exit(9)\n", tmp_path / "a.log")
    assert done.returncode == 9 and found is None


def test_threads_lose_no_count(monkeypatch):
    monkeypatch.setattr(work, "_counted", work.Counter())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [work.count("fits") for _ in range(5_000)], range(4)))
    assert work._counted == {"fits": 20_000}
