"""The best dependency tree with exactly one root, and attachment scores.

Heads are 1-based as in CoNLL-U, 0 is the root. Scores are (words, 1 + words): row = dependent, column = its head.
"""

import numpy as np

WORST = 1e9  # replaces infinity, which cannot be subtracted


def is_tree(heads: np.ndarray) -> bool:
    """Whether there is one root, from which every word is reached."""
    above = np.concatenate([[0], heads])
    for _ in range(len(heads).bit_length()):  # pointer doubling: a word not at the root by then is in a cycle
        above = above[above]
    return bool(np.count_nonzero(heads == 0) == 1 and not above.any())


def best_tree(scores: np.ndarray) -> np.ndarray:
    """Heads of the single-root tree with the highest sum of scores. A word's score as its own head is ignored.

    Chu-Liu/Edmonds in Tarjan's order: follow best heads until they form a cycle, contract the cycle to one node, go on.
    The root is left out until all words are one node, and then adds its single best edge: as if its edges had infinite
    cost, so that no tree with two of them can win. Exact, without large numbers in the sums.
    """
    n = len(scores)
    enter = np.empty((2 * n, n + 1))  # row: a node (a word or a cycle); column: best score of an edge from that head
    # a diverged model gives NaN or infinity; it should score badly rather than stop the run
    enter[:n] = np.nan_to_num(scores.astype(np.float64), nan=0.0, posinf=WORST, neginf=-WORST)
    words = np.arange(n)
    enter[words, words + 1] = -np.inf
    greedy = enter[:n].argmax(axis=1)
    if is_tree(greedy):
        return greedy  # nothing is better than every word's best head

    into = np.empty((2 * n, n + 1), dtype=np.int64)  # the dependent of that edge
    into[:n] = words[:, None]
    words_of = [[word] for word in range(n)]  # of each node
    node_of = list(range(n))  # the outermost node around each word
    edges, insides, outside = {}, {}, {}
    path, node = [0], 0
    while len(words_of[node]) < n:
        head = int(enter[node, 1:].argmax()) + 1
        edges[node] = head, int(into[node, head])
        if node_of[head - 1] not in path:
            node = node_of[head - 1]
        else:
            first = path.index(node_of[head - 1])
            circle, node = path[first:], len(words_of)
            del path[first:]
            words_of.append([word for member in circle for word in words_of[member]])
            for word in words_of[node]:
                node_of[word] = node
            enter[node], into[node] = _entrances(circle, edges, enter, into)
            enter[node, 1:][words_of[node]] = -np.inf
            insides[node] = circle
            outside.update(dict.fromkeys(circle, node))
        path.append(node)
    edges[node] = 0, int(into[node, 0])
    return _opened(node, edges, insides, outside, n)


def _entrances(circle: list[int], edges: dict, enter: np.ndarray, into: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Best edges into a cycle from each head: an edge to a member replaces the member's edge within the cycle."""
    kept = [enter[member, edges[member][0]] for member in circle]
    gains = enter[circle] - np.array(kept)[:, None]
    best = gains.argmax(axis=0)
    columns = np.arange(len(best))
    return gains[best, columns], into[np.array(circle)[best], columns]


def _opened(node: int, edges: dict, insides: dict, outside: dict, n: int) -> np.ndarray:
    """Expand cycles from the outside in: an edge settles all nodes around its word; their other members keep theirs."""
    heads, waiting = np.zeros(n, dtype=np.int64), [node]
    while waiting:
        node = waiting.pop()
        head, inner = edges[node]
        heads[inner] = head
        while inner != node:
            around = outside[inner]
            waiting.extend(member for member in insides[around] if member != inner)
            inner = around
    return heads


def attachment_scores(heads: np.ndarray, labels: np.ndarray, true_heads: np.ndarray, true_labels: np.ndarray):
    """(UAS, LAS) over all words, including punctuation. A true label of -1 (unknown) always counts as wrong."""
    right = heads == true_heads
    return float(right.mean()), float((right & (labels == true_labels) & (true_labels >= 0)).mean())
