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
    progress.planned = {"a.log": 100.0, "b.log": 60.0}
    progress.total, progress.jobs = 2, {1: ("a", "a.log"), 2: ("b", "b.log")}
    assert progress.left(0.0) == 80  # 160 seconds on two cores
    progress.begin(1, 0.0)
    progress.begin(2, 0.0)
    assert progress.left(40.0) == 40  # 60 and 20 are left
    progress.end(1, 200.0)  # twice as long as planned
    progress.done = 1
    assert progress.left(200.0) == 0  # by the plan the other should have ended
    progress.planned, progress.total = {"c.log": 50.0}, 3
    assert progress.left(200.0) == pytest.approx((2 * 50 + 2) / 2)  # and what runs beside it, which is not planned
    assert clock(65) == "1:05" and clock(7200) == "2.0 h"


def test_a_log_file_has_a_line_for_every_finished_job(handler):
    handler.emit(record("Provided cores: 2", event="resources_info", cores=2))
    handler.emit(record("Forecast: little.", planned={"x.log": 10.0}))
    handler.emit(record("stats", event="run_info", stats={"total": 2}))
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
    handler.emit(record("rule x failed", event="job_error"))
    text = handler.stream.getvalue()
    assert "something\nis wrong" in text and "careful" in text and "rule x failed" in text


def test_a_terminal_has_one_line(handler):
    handler.is_terminal = True
    handler.emit(record("stats", event="run_info", stats={"total": 1}))
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
