"""Minimum spanning trees of many small complete graphs at once (Prim's algorithm, one word per step in all of them)."""

import numpy as np


def spanning_edges(distances: np.ndarray, excluded: np.ndarray) -> np.ndarray:
    """(s, n, n) True where two words are joined, both ways, from (s, n, n) distances and (s, n) words to leave out.

    Of equally near words the first one joins.
    """
    s, n, _ = distances.shape
    graph, edges = np.arange(s), np.zeros(distances.shape, dtype=bool)
    start = np.argmin(excluded, axis=1)
    waiting = ~excluded
    waiting[graph, start] = False
    nearest, joins_to = distances[graph, start], np.repeat(start[:, None], n, axis=1)
    for _ in range(n - 1):
        chosen = np.argmin(np.where(waiting, nearest, np.inf), axis=1)
        joins = waiting[graph, chosen]  # False where no word is left
        edges[graph[joins], chosen[joins], joins_to[graph, chosen][joins]] = True
        waiting[graph, chosen] = False
        closer = distances[graph, chosen] < nearest
        nearest = np.where(closer, distances[graph, chosen], nearest)
        joins_to = np.where(closer, chosen[:, None], joins_to)
    return edges | edges.transpose(0, 2, 1)
