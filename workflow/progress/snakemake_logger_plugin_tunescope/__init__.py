"""One line of progress; Snakemake's wall of text stays in .snakemake/log: `snakemake --logger tunescope`.

On a terminal the line is written over itself; in a log file every finished job is a line. Errors and warnings are
shown in full. A plugin of Snakemake must be importable when it starts: `make` puts this folder on .venv's path.
"""

import shutil
import sys
import time
from logging import WARNING, LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

SHOWN = ("Nothing to be done", "Complete log")  # messages that belong to no job
UNPLANNED = 2.0  # core-seconds of a job that the plan does not count: data, drawings, tables


def clock(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{int(seconds // 60)}:{int(seconds % 60):02d}"


class Progress:
    """What is done, what is running, and what is left by the plan."""

    def __init__(self, cores: int = 1):
        self.cores, self.done, self.total = cores, 0, 0
        self.planned: dict[str, tuple[str, float]] = {}  # log file -> rule, core-seconds: of the whole run
        self.waiting: dict[str, int] = {}  # rule -> jobs of this run that have not ended
        self.jobs: dict[int, tuple[str, str, str]] = {}  # id -> name, rule, log file
        self.running: dict[int, float] = {}  # id -> begin
        self.taken, self.expected = 0.0, 0.0  # seconds of ended jobs that the plan counts, and by the plan

    def end(self, job: int, now: float) -> str:
        """Its name."""
        name, rule, log = self.jobs.get(job, (str(job), "", ""))
        begun = self.running.pop(job, now)
        self.waiting[rule] = max(0, self.waiting.get(rule, 0) - 1)
        if log in self.planned:
            self.taken += now - begun
            self.expected += self.planned[log][1]
        return name

    def seconds(self, rule: str) -> float:
        """Of a job of this rule: the mean of those that the plan has."""
        found = [seconds for of_rule, seconds in self.planned.values() if of_rule == rule]
        return sum(found) / len(found) if found else UNPLANNED

    def left(self, now: float) -> float:
        """Seconds, if cores work as fast for the rest as they did until now."""
        work = sum(n * self.seconds(rule) for rule, n in self.waiting.items())
        spent = sum(min(now - begun, self._of_job(job)) for job, begun in self.running.items())
        factor = self.taken / self.expected if self.expected > 0 else 1.0
        return factor * max(0.0, work - spent) / self.cores

    def _of_job(self, job: int) -> float:
        _, rule, log = self.jobs.get(job, ("", "", ""))
        return self.planned[log][1] if log in self.planned else self.seconds(rule)

    def line(self, now: float) -> str:
        running = ", ".join(
            f"{self.jobs[job][0] if job in self.jobs else job} {clock(now - at)}" for job, at in self.running.items()
        )
        return f"{self.done} of {self.total} done, about {clock(self.left(now))} left, running: {running or 'nothing'}"


def name_of(record: LogRecord) -> str:
    """The rule, and what of it: draw zhou2022 fig4."""
    return " ".join([record.rule_name, *map(str, (record.wildcards or {}).values())])


class LogHandler(LogHandlerBase):
    writes_to_stream, writes_to_file = True, False
    has_filter, has_formatter, needs_rulegraph = True, False, False

    def __post_init__(self) -> None:
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.is_terminal = self.stream.isatty()
        self.progress, self.finished = Progress(), ""

    def emit(self, record: LogRecord) -> None:
        try:
            self._emit(record, time.time())
        except Exception:  # a line of progress must never stop a run
            self.handleError(record)

    def _emit(self, record: LogRecord, now: float) -> None:
        event, progress = getattr(record, "event", None), self.progress
        if self.common_settings.dryrun or record.levelno >= WARNING or event in (LogEvent.JOB_ERROR, LogEvent.ERROR):
            self._print(self.format(record))
            if event == LogEvent.JOB_ERROR:
                progress.end(getattr(record, "jobid", -1), now)
        elif hasattr(record, "planned"):  # the Snakefile's forecast
            progress.planned = dict(record.planned)
            self._print(str(record.msg))
        elif event == LogEvent.RESOURCES_INFO and getattr(record, "cores", None):
            progress.cores = record.cores
        elif event == LogEvent.RUN_INFO:
            progress.waiting = {rule: n for rule, n in record.stats.items() if rule != "total"}
            progress.total = sum(progress.waiting.values())
        elif event == LogEvent.JOB_INFO:
            progress.jobs[record.jobid] = (name_of(record), record.rule_name, str(next(iter(record.log), "")))
            progress.running[record.jobid] = now
            self._show(progress.line(now))
        elif event == LogEvent.JOB_FINISHED:
            self.finished = progress.end(record.job_id, now)
        elif event == LogEvent.PROGRESS:
            progress.done, progress.total = record.done, record.total
            if self.is_terminal:
                self._show(progress.line(now))
            else:
                self._print(f"{self.finished}: {progress.line(now)}")
        elif event is None and str(record.msg).startswith(SHOWN):
            self._print(str(record.msg))

    def _show(self, text: str) -> None:
        """Over the last line; nothing where lines cannot be written over."""
        if self.is_terminal:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\x1b[K{text[:width]}")
            self.stream.flush()

    def _print(self, text: str) -> None:
        begin = "\r\x1b[K" if self.is_terminal else time.strftime("%H:%M:%S ")
        self.stream.write(f"{begin}{text}\n")
        self.stream.flush()
