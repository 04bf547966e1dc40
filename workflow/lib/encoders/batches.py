"""Batches of similar lengths, so that little of a batch is padding."""

import numpy as np

ROOM = 50  # batches that are sorted together: enough to pack well, few enough to stay random
# That take as long as a batch does whatever its size: on a CPU some 200 at 4 x 64 and 3 at 12 x 768. By what
# lies between a small encoder loses half a per cent; by 200 a large one would lose three.
TOKENS_PER_BATCH = 50


def bucketed_batches(lengths: np.ndarray, batch_size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Row numbers in batches for training: shuffled, sorted by length within rooms, batches shuffled again."""
    order, room = rng.permutation(len(lengths)), batch_size * ROOM
    rooms = [order[start : start + room] for start in range(0, len(order), room)]
    order = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in rooms])
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    return [batches[at] for at in rng.permutation(len(batches))]


def sorted_batches(lengths: np.ndarray, batch_size: int) -> list[np.ndarray]:
    """Row numbers in batches for inference, where order does not matter: sorted by length throughout.

    A batch ends early, where the length changes, if that saves more padding than the rows it leaves to later batches
    cost there.
    """
    order = np.argsort(lengths, kind="stable")
    lengths = lengths[order]
    changes, batches, start = np.flatnonzero(np.diff(lengths)) + 1, [], 0
    while start < len(order):
        end = min(start + batch_size, len(order))
        early = changes[np.searchsorted(changes, start, side="right") : np.searchsorted(changes, end)]
        of_a_batch = (end - early) / batch_size if end < len(order) else 1  # behind the last one there would be another
        saved = (early - start) * (lengths[end - 1] - lengths[early - 1]) - of_a_batch * TOKENS_PER_BATCH
        end = early[saved.argmax()] if saved.max(initial=0) > 0 else end
        batches.append(order[start:end])
        start = end
    return batches
