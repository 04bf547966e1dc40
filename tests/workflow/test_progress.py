"""One line of progress instead of a wall of text."""

import io
import logging
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.workflow.conftest import ROOT

PLUGIN = ROOT / "workflow/progress"
sys.path.insert(0, str(PLUGIN))
from snakemake_logger_plugin_tunescope import LogHandler, Progress, clock  # noqa: E402


def record(message: str | None = None, level: int = logging.INFO, **extra) -> logging.LogRecord:
    made = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    vars(made).update(extra)
    return made


@pytest.fixture
def handler(monkeypatch) -> LogHandler:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    made = LogHandler(SimpleNamespace(stdout=False, dryrun=False), None)
    made.setFormatter(logging.Formatter("%(message)s"))
    return made


def job(number: int, rule: str, log: str, **wildcards: str) -> logging.LogRecord:
    return record(event="job_info", jobid=number, rule_name=rule, wildcards=wildcards, log=[log])


def test_time_left_follows_the_plan_and_how_fast_it_went():
    progress = Progress(cores=2)
    progress.planned = {"a.log": ("tune", 100.0), "b.log": ("tune", 60.0), "c.log": ("probe", 500.0)}
    progress.waiting = {"tune": 2, "draw": 1}  # of the plan's third job nothing was asked
    assert progress.left(0.0) == (100 + 60 + 2) / 2
    progress.jobs = {1: ("a", "tune", "a.log"), 2: ("b", "tune", "b.log")}
    progress.running = {1: 0.0, 2: 0.0}
    assert progress.left(40.0) == (162 - 80) / 2
    assert progress.end(1, 200.0) == "a"  # twice as long as planned
    assert progress.left(200.0) == pytest.approx(2 * (80 + 2 - 60) / 2)
    assert progress.end(2, 200.0) == "b" and progress.waiting == {"tune": 0, "draw": 1}
    assert clock(65) == "1:05" and clock(7200) == "2.0 h"


def test_a_log_file_has_a_line_for_every_finished_job(handler):
    handler.emit(record("Provided cores: 2", event="resources_info", cores=2))
    handler.emit(record("Forecast: little.", planned={"x.log": ("draw", 10.0)}))
    handler.emit(record("stats", event="run_info", stats={"draw": 2, "total": 2}))
    handler.emit(job(7, "draw", "x.log", paper="zhou2022", id="fig4"))
    handler.emit(record(event="job_finished", job_id=7))
    handler.emit(record(event="progress", done=1, total=2))
    handler.emit(record("rule draw: a wall of text"))
    lines = [line.partition(" ")[2] for line in handler.stream.getvalue().splitlines()]
    assert lines[0] == "Forecast: little." and len(lines) == 2
    assert lines[1].startswith("draw zhou2022 fig4: 1 of 2 done, about 0:0") and lines[1].endswith("running: nothing")


def test_errors_and_warnings_are_shown_in_full(handler):
    handler.emit(record("something\nis wrong", logging.ERROR))
    handler.emit(record("careful", logging.WARNING))
    handler.emit(job(3, "draw", "x.log"))
    handler.emit(record("rule x failed", event="job_error", jobid=3))
    assert not handler.progress.running
    text = handler.stream.getvalue()
    assert "something\nis wrong" in text and "careful" in text and "rule x failed" in text


def test_a_terminal_has_one_line(handler):
    handler.is_terminal = True
    handler.emit(record("stats", event="run_info", stats={"draw": 1, "total": 1}))
    handler.emit(job(7, "draw", "x.log"))
    handler.emit(record(event="job_finished", job_id=7))
    handler.emit(record(event="progress", done=1, total=1))
    text = handler.stream.getvalue()
    assert "\n" not in text and text.count("\r\x1b[K") == 2 and "1 of 1 done" in text


def test_snakemake_takes_it(finished):
    figure = "results/tiny/figures/matton2019/fig4.png"
    asked = ("--logger", "tunescope", "--forcerun", "draw", "--", figure)
    done = subprocess.run(
        finished.command(*asked), cwd=finished.folder, env=os.environ | {"PYTHONPATH": str(PLUGIN)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "draw matton2019 fig4: 1 of 1 done" in done.stderr and "Forecast: the whole run takes" in done.stderr
    assert "rule draw:" not in done.stderr and len(done.stderr.splitlines()) < 8
