"""Counts the work of a job, for the last line of its rule log.

Seconds depend on the machine and on what runs beside; how many tokens pass through encoders does not. What is counted:

forward_tokens     tokens through an encoder, with padding, which costs the same (encoders/states.py)
steps              updates of an encoder's or a head's weights, in pre-training and fine-tuning
fits               classifiers, probes and PCAs, each of those that are fitted side by side
probe_steps        updates of probes, each of those that are trained side by side
hull_distances     pairs of convex hulls that are compared
linear_programmes  those of them that HiGHS has to decide

Processes that a job starts give their counts to it (processes.py). A training that is resumed
counts only from where it goes on.
"""

import atexit
import json
import logging
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from threading import Lock

from workflow.lib.base.machine import computes_on

MARK = " work: "  # logger and separator, see logs.LINE
COUNTED = ("forward_tokens", "steps", "fits", "probe_steps", "hull_distances", "linear_programmes")

_counted: Counter[str] = Counter()
_lock = Lock()  # probes are trained in threads, and adding to a counter takes several instructions


def count(what: str, n: int = 1) -> None:
    with _lock:
        _counted[what] += n


def counted_by(function: Callable[[], object]) -> tuple[object, dict[str, int]]:
    """What a function returns, and what it counted."""
    before = Counter(_counted)
    result = function()
    return result, dict(_counted - before)


def report_at_exit() -> None:
    """Log one line of work when the process ends, also if it fails. To be called once a script has done its imports:
    the processor time used until then is theirs, with the start of Python and Snakemake's preamble."""
    atexit.register(_report, import_seconds=time.process_time())


def _report(import_seconds: float) -> None:
    job = getattr(sys.modules["__main__"], "snakemake", None)  # Snakemake's object of the script that runs
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # processes that the job started
    line = {
        "rule": getattr(job, "rule", None),
        "on": computes_on(),
        "imports_torch": "torch" in sys.modules,
        "import_seconds": round(import_seconds, 2),
        "cpu_seconds": round(time.process_time() + children.ru_utime + children.ru_stime, 2),
        **dict(sorted(_counted.items())),
    }
    logging.getLogger("work").info(json.dumps(line))


def work_in(log: str) -> dict | None:
    """The work that a log tells of; None if the job was killed before it could."""
    lines = (line.partition(MARK)[2] for line in reversed(log.splitlines()) if MARK in line)
    return next(map(json.loads, lines), None)
