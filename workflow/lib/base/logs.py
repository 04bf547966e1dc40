"""Logging of scripts: everything goes to the rule's log file, errors also to the terminal; work done ends the file."""

import logging
import sys
from pathlib import Path

from workflow.lib.base.disks import disk_fault
from workflow.lib.base.errors import UserError
from workflow.lib.base.work import report_at_exit

LINE = "%(asctime)s %(name)s: %(message)s"


def to_rule_log(path: str) -> logging.Logger:
    """Send logging, warnings and an uncaught error to the rule's log file (Snakemake itself redirects nothing)."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(filename=path, filemode="w", level=logging.INFO, format=LINE, datefmt="%H:%M:%S", force=True)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # on a full disk each line would print a traceback of its own
    for noisy in ("httpx", "matplotlib", "fontTools"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    log = logging.getLogger(Path(path).stem)

    def report(kind, error, trace):
        log.error("failed", exc_info=(kind, error, trace))
        if issubclass(kind, UserError):
            print(f"Error: {error}", file=sys.stderr)
        elif fault := disk_fault(error):
            print(f"Error: a file could not be written ({fault}); what is finished stays, run again", file=sys.stderr)
        else:
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = report
    report_at_exit()
    return log
