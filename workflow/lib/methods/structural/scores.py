"""Scores of structural probes: Spearman correlation, root accuracy and UUAS, computed like Hewitt and Manning's.

spearman       of a sentence's depths, or of each word's distances to all words: the mean within each sentence length,
               then over lengths from min_length to max_length; other sentences are not counted
root_accuracy  share of sentences of any length in which the least deep word is the root
uuas           share of gold edges, in sentences of any length, that are in the minimum spanning tree of the distances
Gold ranks have many ties, predictions have none: even a perfect probe stays below a Spearman correlation of 1 (on
English EWT 0.953 for depths, 0.966 for distances).
Punctuation counts as words for Spearman; roots, edges and spanning trees leave it out.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from workflow.lib.base.errors import UserError
from workflow.lib.methods.structural.gold_trees import Trees, by_length
from workflow.lib.methods.structural.spanning import spanning_edges


@dataclass(frozen=True)
class Gold:
    """Gold annotation of equally long sentences."""

    words: np.ndarray  # (s, n) rows of the vectors
    excluded: np.ndarray  # (s, n) punctuation
    root: np.ndarray  # (s,)
    edges: np.ndarray  # (s, n, n)
    depth_ranks: np.ndarray  # (s, n)
    distance_ranks: np.ndarray  # (s, n, n)


@dataclass(frozen=True)
class Scores:
    measures: dict[str, tuple[float, int]]  # value, and number of sentences
    by_length: dict[int, tuple[float, int]]  # Spearman, and number of sentences, of the lengths that count


class Evaluation:
    """Scores probes on a treebank's test sentences; what all probes share is computed once."""

    def __init__(self, trees: Trees, min_length: int, max_length: int):
        self.lengths = range(min_length, max_length + 1)
        if not np.isin(trees.length, self.lengths).any():
            raise UserError(
                f"structural probes: no test sentence has {min_length} to {max_length} words (the {len(trees)} there "
                f"are have {trees.length.min()} to {trees.length.max()}); ask for more rows, or change the lengths"
            )
        self.parts = [gold_of(trees, n, sentences) for n, sentences in by_length(trees.length)]
        if not any(part.edges.any() for part in self.parts):
            raise UserError("structural probes: test sentences have no two words that are not punctuation")

    def depth(self, projected: np.ndarray) -> Scores:
        """Scores of a depth probe, from projected words (words, rank)."""
        sums, found, n_roots = {}, 0, 0
        for part in self.parts:
            depths = np.square(projected[part.words].astype(np.float64)).sum(2)
            self._add(sums, unit_ranks(depths), part.depth_ranks)
            has_root = ~part.excluded.all(axis=1)
            least = np.where(part.excluded, np.inf, depths).argmin(1)
            found, n_roots = found + (least == part.root)[has_root].sum(), n_roots + has_root.sum()
        return summary(sums, "root_accuracy", found / n_roots, int(n_roots))

    def distance(self, projected: np.ndarray) -> Scores:
        """Scores of a distance probe, from projected words (words, rank)."""
        sums, found, n_edges, n_trees = {}, 0, 0, 0
        for part in self.parts:
            distances = squared_distances(projected[part.words].astype(np.float64))
            self._add(sums, unit_ranks(distances), part.distance_ranks)
            edges = spanning_edges(distances, part.excluded)
            found, n_edges = found + (edges & part.edges).sum(), n_edges + part.edges.sum()
            n_trees += part.edges.any(axis=(1, 2)).sum()
        return summary(sums, "uuas", found / n_edges, int(n_trees))

    def _add(self, sums: dict, predicted: np.ndarray, gold: np.ndarray) -> None:
        """Add a part's correlations to the sums by length; sentences of one length may come in several parts."""
        s, n = gold.shape[:2]
        if n in self.lengths:
            total, count = sums.get(n, (0.0, 0))
            sums[n] = total + float((predicted * gold).sum(-1).reshape(s, -1).mean(1).sum()), count + s


def gold_of(trees: Trees, n: int, sentences: np.ndarray) -> Gold:
    words = trees.first[sentences][:, None] + np.arange(n)
    excluded, depth = trees.is_punctuation[words], trees.depth[words]
    distance = trees.distance[trees.first_pair[sentences][:, None] + np.arange(n * n)].reshape(-1, n, n)
    # without punctuation that has dependents, the tree is disconnected: the spanning tree connects it again
    edges = spanning_edges(distance, excluded)
    return Gold(words, excluded, depth.argmin(1), edges, unit_ranks(depth), unit_ranks(distance))


def unit_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks along the last axis with mean 0 and norm 1: Spearman's correlation is the product of two such rows. Ties
    get their average rank.

    A row of equal values becomes 0, and so does its correlation (scipy returns NaN, so that one sentence with constant
    predictions would spoil the mean).
    """
    ranks = rankdata(values, axis=-1) - (values.shape[-1] + 1) / 2
    norms = np.linalg.norm(ranks, axis=-1, keepdims=True)
    return np.divide(ranks, norms, out=np.zeros_like(ranks), where=norms > 0)


def squared_distances(words: np.ndarray) -> np.ndarray:
    """(s, n, n) squared distances of words (s, n, rank), exactly 0 from a word to itself."""
    products = words @ words.transpose(0, 2, 1)
    norms = np.diagonal(products, axis1=1, axis2=2)
    return norms[:, :, None] + norms[:, None, :] - 2 * products


def summary(sums: dict[int, tuple[float, int]], other: str, value: float, n_sentences: int) -> Scores:
    by_length = {n: (total / count, count) for n, (total, count) in sorted(sums.items())}
    spearman = float(np.mean([mean for mean, _ in by_length.values()]))
    counted = sum(count for _, count in by_length.values())
    return Scores({"spearman": (spearman, counted), other: (float(value), n_sentences)}, by_length)
