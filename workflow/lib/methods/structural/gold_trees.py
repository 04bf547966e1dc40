"""Gold trees of a treebank: each word's depth and the distance of each pair of words in a sentence, computed once.

Sentences are concatenated. Words of sentence s begin at `first[s]`; its distances, row by row, at `first_pair[s]`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

PAIRS_AT_ONCE = 1 << 21  # word pairs of equally long sentences whose distances are computed together: about 50 MB


@dataclass(frozen=True)
class Trees:
    length: np.ndarray  # (sentences,) words
    depth: np.ndarray  # (words,) edges to the root, float32
    distance: np.ndarray  # (pairs,) edges between two words, float32
    is_punctuation: np.ndarray  # (words,)

    def __post_init__(self):
        object.__setattr__(self, "first", np.cumsum(self.length) - self.length)
        object.__setattr__(self, "first_pair", np.cumsum(self.length**2) - self.length**2)

    def __len__(self) -> int:
        return len(self.length)


def trees_of(heads: list[list[int]], upos: list[list[str]]) -> Trees:
    """Trees from a treebank's columns; heads are 1-based, and 0 for the root."""
    length = np.array([len(sentence) for sentence in heads], dtype=np.int64)
    trees = Trees(
        length,
        depth=np.empty(length.sum(), dtype=np.float32),
        distance=np.empty((length**2).sum(), dtype=np.float32),
        # Hewitt and Manning identify punctuation by Penn Treebank tags; treebanks differ in those, but not in PUNCT
        is_punctuation=np.array([name == "PUNCT" for names in upos for name in names], dtype=bool),
    )
    for n, sentences in by_length(length):
        depths, distances = depths_and_distances(np.array([heads[s] for s in sentences]))
        trees.depth[trees.first[sentences][:, None] + np.arange(n)] = depths
        trees.distance[trees.first_pair[sentences][:, None] + np.arange(n * n)] = distances.reshape(-1, n * n)
    return trees


def by_length(length: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """(length, sentences of that length), a limited number at a time, the shortest first."""
    for n in np.unique(length):
        sentences = np.flatnonzero(length == n)
        yield from ((int(n), part) for part in np.split(sentences, range(0, len(sentences), _at_once(n))[1:]))


def _at_once(n: int) -> int:
    return max(1, PAIRS_AT_ONCE // int(n) ** 2)


def depths_and_distances(heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(s, n) depths and (s, n, n) distances of equally long sentences from their (s, n) heads.

    The path between two words passes through their lowest common ancestor, whose depth is given by the number of common
    ancestors: with a row of ancestors (including itself) per word, all distances are one product of that matrix with
    itself.
    """
    s, n = heads.shape
    above = np.zeros((s, n, n), dtype=np.float32)
    above[:, np.arange(n), np.arange(n)] = 1
    sentence, word = np.nonzero(heads)
    above[sentence, word, heads[sentence, word] - 1] = 1
    for _ in range(int(n - 1).bit_length()):  # ancestors reached in two steps of up to 1, 2, 4, … edges
        above = np.minimum(above @ above, 1)
    n_above = above.sum(2)
    shared = above @ above.transpose(0, 2, 1)
    return n_above - 1, n_above[:, :, None] + n_above[:, None, :] - 2 * shared
