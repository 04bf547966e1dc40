"""Minimum spanning trees of many sentences in one call: each sentence is a component of one graph."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree


def spanning_edges(distances: np.ndarray, excluded: np.ndarray) -> np.ndarray:
    """(s, n, n) symmetric edges (True) of the spanning trees, from (s, n, n) distances and (s, n) words to leave out.

    Ties go to the first pair, row by row, as in Hewitt and Manning's code: the weights are the pairs' ranks, which have
    no ties (and no zeros, which scipy treats as missing edges).
    """
    s, n, _ = distances.shape
    is_pair = ~excluded[:, :, None] & ~excluded[:, None, :] & np.triu(np.ones((n, n), dtype=bool), 1)
    sentence, word, other = np.nonzero(is_pair)
    rank = np.empty(len(sentence))
    rank[np.argsort(distances[is_pair], kind="stable")] = np.arange(1, len(rank) + 1)
    graph = coo_array((rank, (sentence * n + word, sentence * n + other)), shape=(s * n, s * n))
    tree = minimum_spanning_tree(graph.tocsr()).tocoo()
    edges = np.zeros(distances.shape, dtype=bool)
    edges[tree.row // n, tree.row % n, tree.col % n] = True
    return edges | edges.transpose(0, 2, 1)
