"""Batches of similar lengths, so that little of a batch is padding."""

import numpy as np

ROOM = 50  # batches that are sorted together: enough to pack well, few enough to stay random


def bucketed_batches(lengths: np.ndarray, batch_size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Row numbers in batches for training: shuffled, sorted by length within rooms, batches shuffled again."""
    order, room = rng.permutation(len(lengths)), batch_size * ROOM
    rooms = [order[start : start + room] for start in range(0, len(order), room)]
    order = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in rooms])
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    return [batches[at] for at in rng.permutation(len(batches))]


def sorted_batches(lengths: np.ndarray, batch_size: int) -> list[np.ndarray]:
    """Row numbers in batches for inference, where order does not matter: sorted by length throughout.

    A batch that is half full ends where the length changes for the last time: for a few batches more, half the padding.
    """
    order = np.argsort(lengths, kind="stable")
    changes = np.flatnonzero(np.diff(lengths[order])) + 1
    batches, start = [], 0
    while start < len(order):
        end = start + batch_size
        good = changes[(changes >= start + batch_size / 2) & (changes <= end)]
        end = good[-1] if end < len(order) and len(good) else end
        batches.append(order[start:end])
        start = end
    return batches
