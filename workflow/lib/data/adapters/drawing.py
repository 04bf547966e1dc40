"""A development set drawn from a training file, row by row, in the manner of jiant 1's deterministic split."""

import random

import pyarrow as pa


def drawn(table: pa.Table, *, seed: int, share: float, left: bool = False) -> pa.Table:
    """Python's random number of each row in turn: rows whose number is at most `share`, or the rows `left` by that."""
    numbers = random.Random(seed)
    return table.filter(pa.array([(numbers.random() <= share) != left for _ in range(table.num_rows)], pa.bool_()))
