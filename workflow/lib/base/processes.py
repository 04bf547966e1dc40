"""Spreads independent parts of a job over processes: for hulls, whose small operations threads would only wait for."""

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from workflow.lib.base.work import count, counted_by

Part, Result = TypeVar("Part"), TypeVar("Result")


def in_processes(function: Callable[[Part], Result], parts: Iterable[Part], n: int) -> list[Result]:
    """Results in the order of the parts; `n` processes at a time, or this one. What they count is counted here."""
    parts = list(parts)
    if n == 1 or len(parts) == 1:
        return [function(part) for part in parts]
    with ProcessPoolExecutor(min(n, len(parts)), mp_context=get_context("fork")) as pool:
        done = list(pool.map(_Counted(function), parts))
    for _, counts in done:
        for what, times in counts.items():
            count(what, times)
    return [result for result, _ in done]


class _Counted:
    """A function that returns what it counted too."""

    def __init__(self, function: Callable):
        self.function = function

    def __call__(self, part):
        return counted_by(lambda: self.function(part))
