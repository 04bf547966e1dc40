"""What a task function returns: rows of a normalised kind (nearly always one), and the sentences in them."""

from dataclasses import dataclass

LABEL_NOISE = 0.03  # keeps accuracies off the ceiling, as annotators do


@dataclass(slots=True)
class Example:
    """`sentences` are what no other split may hold."""

    rows: list[dict]
    sentences: list[str]


def noisy(label: int, n_labels: int, rng) -> int:
    return int(rng.random() * n_labels) if rng.random() < LABEL_NOISE else label
