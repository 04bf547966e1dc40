"""What a task function returns: rows of a normalised kind (usually one), and the sentences in them."""

from dataclasses import dataclass

LABEL_NOISE = 0.03  # keeps accuracies below 1, like annotation errors


@dataclass(slots=True)
class Example:
    """`sentences` may not occur in any other split."""

    rows: list[dict]
    sentences: list[str]


def noisy(label: int, n_labels: int, rng) -> int:
    return int(rng.random() * n_labels) if rng.random() < LABEL_NOISE else label
