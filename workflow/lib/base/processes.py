"""Spreads independent parts of a job over processes: for hulls, whose small operations threads would only wait for."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import TypeVar

from workflow.lib.base.work import count, counted_by

Part, Result = TypeVar("Part"), TypeVar("Result")


def in_processes(function: Callable[[Part], Result], parts: Iterable[Part], n: int) -> list[Result]:
    """Results in the order of the parts; `n` processes at a time, or this one. What they count is counted here."""
    parts = list(parts)
    if n == 1 or len(parts) == 1:
        return [function(part) for part in parts]
    workers = {"mp_context": get_context("fork"), "initializer": _end_with_parent}
    with ProcessPoolExecutor(min(n, len(parts)), **workers) as pool:
        done = list(pool.map(_Counted(function), parts))
    for _, counts in done:
        for what, times in counts.items():
            count(what, times)
    return [result for result, _ in done]


def _end_with_parent() -> None:
    """A job that is killed must not leave its processes behind."""
    Thread(target=lambda: (wait([parent_process().sentinel]), os._exit(1)), daemon=True).start()


class _Counted:
    """A function that returns what it counted too."""

    def __init__(self, function: Callable):
        self.function = function

    def __call__(self, part):
        return counted_by(lambda: self.function(part))
