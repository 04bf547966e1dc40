"""Batches of similar lengths, so that little of a batch is padding."""

import numpy as np

ROOM = 50  # batches that are sorted together: enough to pack well, few enough to stay random


def bucketed_batches(lengths: np.ndarray, batch_size: int, rng: np.random.Generator | None = None) -> list[np.ndarray]:
    """Row numbers in batches. With `rng`: shuffled, sorted by length within rooms, batches shuffled again.

    Without: sorted by length throughout, for inference, where order does not matter.
    """
    order = np.argsort(lengths, kind="stable") if rng is None else rng.permutation(len(lengths))
    if rng is not None:
        room = batch_size * ROOM
        rooms = [order[start : start + room] for start in range(0, len(order), room)]
        order = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in rooms])
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    if rng is not None:
        batches = [batches[at] for at in rng.permutation(len(batches))]
    return batches
