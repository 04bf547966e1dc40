"""Damage to valid inputs, chosen by hypothesis as a few numbers, so that a failure shrinks to few and small damages.

A damage is a function of the content and two numbers, which say where, and with what. `fuzzed` runs a reader on at
least 1,000 damaged inputs: it must refuse an input by a UserError, or its result must pass the test's own check.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from workflow.lib.base.errors import UserError

INPUTS = 1000
SETTINGS = settings(
    max_examples=INPUTS, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
BYTES_OF_ONE = 5


def damages(*kinds: Callable, most: int = 3, often: int = 1) -> st.SearchStrategy:
    """Up to `most`, of bytes: one draw takes a third of the time of one for each number. `often`: of so many inputs,
    one is damaged in this way, the others not."""
    drawn = st.binary(max_size=BYTES_OF_ONE * most)
    return drawn.map(lambda drawn: [] if sum(drawn) % often else [*_chosen(kinds, drawn)])


def _chosen(kinds: tuple[Callable, ...], drawn: bytes) -> Iterator[tuple[Callable, int, int]]:
    for start in range(0, len(drawn), BYTES_OF_ONE):
        kind, *numbers = drawn[start : start + BYTES_OF_ONE].ljust(BYTES_OF_ONE, b"\0")
        yield kinds[kind % len(kinds)], numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3]


def damaged(content, chosen: list[tuple[Callable, int, int]]):
    for damage, at, what in chosen:
        content = damage(content, at, what)
    return content


def fuzzed(chosen: st.SearchStrategy, read: Callable, check: Callable, *, least: int = 50) -> None:
    """`read` gives a result for what was chosen, or refuses it in one line that names the file or dataset; `check`
    gets both.

    At least `least` inputs must be read and as many refused: else little is tested.
    """
    seen = Counter()

    @SETTINGS
    @given(chosen)
    def one(what):
        note(repr(what))  # of an input that fails; the damages' names, not the bytes that they were made of
        try:
            result = read(what)
        except UserError as error:
            seen["refused"] += 1
            assert "\n" not in str(error) and "toy" in str(error) and len(str(error)) < 1000
        else:
            seen["read"] += 1
            check(what, result)

    one()
    assert seen.total() >= INPUTS and min(seen["read"], seen["refused"]) >= least, seen
