"""Ten kills at random moments of a whole run, and Ctrl-C: it ends as if undisturbed, and nothing is left over."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.workflow.conftest import Workspace, measured_tables

KILLS = 10
# data, pre-training, fine-tunings, sweeps, vectors of their steps, analyses, figures: half of the run's time
TARGETS = ("--", "singh2020", "zhou2022")
LEFT_OVER = (".*.part", ".*.resume.pt", ".*.steps")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("killed"))


def started(workspace: Workspace, *arguments: str) -> subprocess.Popen:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.Popen(
        workspace.command(*arguments), cwd=workspace.folder, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def session_of(leader: int) -> list[int]:
    """All processes of a session, whatever groups they have made."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def kill_all(running: subprocess.Popen) -> None:
    while pids := session_of(running.pid):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        running.poll()
    running.wait()


def until_trained(workspace: Workspace, metrics: str, running: subprocess.Popen) -> None:
    """Until a training has saved its state."""
    path = workspace.folder / metrics
    state = path.with_name(f".{path.name.removesuffix('.metrics.parquet')}.resume.pt")
    deadline = time.monotonic() + 240
    while not state.exists():
        assert running.poll() is None and time.monotonic() < deadline, "no training to disturb"
        time.sleep(0.05)


def left_over(run: Path) -> list[str]:
    return [path.name for pattern in LEFT_OVER for path in run.rglob(pattern)]


def test_ten_kills_of_the_whole_process_tree(fresh, finished):
    rng = random.Random(0)
    for number in range(KILLS):
        running = started(fresh, *TARGETS)
        pause = 5 + 8 * rng.random()  # the first seconds are Snakemake's own start
        deadline = time.monotonic() + pause
        while time.monotonic() < deadline and running.poll() is None:
            time.sleep(0.05)
        assert running.poll() is None, f"the run ended before kill {number + 1}"
        kill_all(running)
        fresh.snakemake("--unlock")
    fresh.snakemake(*TARGETS)
    here, there = measured_tables(finished.folder / "results/tiny"), measured_tables(fresh.folder / "results/tiny")
    assert there.keys() <= here.keys() and len(there) > 80
    assert [name for name in there if here[name] != there[name]] == []
    assert left_over(fresh.folder / "results/tiny") == []
    assert "Nothing to be done" in fresh.snakemake(*TARGETS)


def test_ctrl_c_ends_the_run_and_it_goes_on(finished):
    """The whole foreground group gets the signal, as from a terminal."""
    model = "results/stopped/models/base.0/imdb.full.f1.s0.metrics.parquet"
    asked = ("--config", "run=stopped", "matton2019={training: {epochs: 150}}", "--", model)
    finished.second_run("stopped")
    (finished.folder / model).unlink()
    running = started(finished, *asked)
    until_trained(finished, model, running)
    os.killpg(running.pid, signal.SIGINT)
    running.wait(timeout=30)
    assert not session_of(running.pid), "a process outlived it"
    assert not (finished.folder / model).exists(), "it had ended before"
    finished.snakemake(*asked)
    logs = [path.read_text() for path in (finished.folder / "results/stopped/logs").rglob("*.log")]
    assert sum("continuing after epoch" in text for text in logs) == 1 and (finished.folder / model).exists()


def test_a_second_run_in_the_same_folder_is_refused(finished):
    target = "results/twice/models/base.0/imdb.full.f1.s0.metrics.parquet"
    asked = ("--config", "run=twice", "matton2019={training: {epochs: 5000}}", "--", target)
    finished.second_run("twice")
    (finished.folder / target).unlink()
    first = started(finished, *asked)
    until_trained(finished, target, first)
    assert "cannot be locked" in finished.snakemake(*asked, check=False)
    assert first.poll() is None, "the first run was disturbed"
    kill_all(first)
    finished.snakemake("--unlock")
