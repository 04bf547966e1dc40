"""The best single-root tree, against all trees there are, against networkx, and on planted trees."""

import itertools
import time
from functools import cache

import numpy as np
import pytest

from workflow.lib.training.heads.dependency_trees import attachment_scores, best_tree, is_tree


def climbs_to_the_root(heads, word: int) -> bool:
    steps = 0
    while word and steps <= len(heads):
        word, steps = heads[word - 1], steps + 1
    return not word


@cache
def all_trees(n: int) -> list[tuple[int, ...]]:
    return [
        heads
        for heads in itertools.product(range(n + 1), repeat=n)
        if heads.count(0) == 1 and all(climbs_to_the_root(heads, word) for word in range(1, n + 1))
    ]


def total(scores: np.ndarray, heads) -> float:
    return float(sum(scores[word, head] for word, head in enumerate(heads)))


def planted(n: int, rng: np.random.Generator) -> np.ndarray:
    """A random tree: each word of a random order hangs from an earlier one."""
    order, heads = rng.permutation(n), np.zeros(n, dtype=np.int64)
    for at in range(1, n):
        heads[order[at]] = order[rng.integers(at)] + 1
    return heads


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_trees_are_counted_by_cayley(n):
    assert len(all_trees(n)) == n ** (n - 1)  # rooted labelled trees
    assert {heads for heads in itertools.product(range(n + 1), repeat=n) if is_tree(np.array(heads))} == set(
        all_trees(n)
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["normal", "ties", "constant", "root_wanted", "root_shunned"])
def test_no_single_root_tree_is_better(n, kind):
    rng = np.random.default_rng(n)
    trees = np.array(all_trees(n))
    for _ in range(40):
        scores = rng.normal(size=(n, n + 1)).astype(np.float32)
        if kind in ("ties", "constant"):
            scores = rng.integers(0, 3 if kind == "ties" else 1, size=(n, n + 1)).astype(np.float32)
        scores[:, 0] += {"root_wanted": 10, "root_shunned": -10}.get(kind, 0)
        heads = best_tree(scores)
        assert tuple(heads) in set(all_trees(n))
        best = scores.astype(np.float64)[np.arange(n), trees].sum(axis=1).max()
        assert total(scores, heads) == pytest.approx(best, abs=0 if kind in ("ties", "constant") else 1e-5)


def by_networkx(scores: np.ndarray) -> float:
    """One arborescence for each choice of the root's only dependent."""
    nx = pytest.importorskip("networkx", reason="comes with torch")
    n, best = len(scores), -np.inf
    for root in range(1, n + 1):
        graph = nx.DiGraph([(0, root, {"weight": scores[root - 1, 0]})])
        pairs = itertools.permutations(range(1, n + 1), 2)
        graph.add_weighted_edges_from((head, word, scores[word - 1, head]) for head, word in pairs)
        tree = nx.maximum_spanning_arborescence(graph)
        best = max(best, sum(weight for *_, weight in tree.edges(data="weight")))
    return best


@pytest.mark.parametrize("n", [6, 9, 12])
def test_networkx_finds_no_better_one(n):
    rng = np.random.default_rng(n)
    for shift in (0, 3, -3):
        scores = rng.normal(size=(n, n + 1))
        scores[:, 0] += shift
        heads = best_tree(scores)
        assert is_tree(heads)
        assert total(scores, heads) == pytest.approx(by_networkx(scores), abs=1e-9)


@pytest.mark.parametrize("margin", [3, 100])
def test_planted_trees_are_found(margin):
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 30, 60):
        truth = planted(n, rng)
        scores = rng.uniform(0, 1, size=(n, n + 1))
        scores[np.arange(n), truth] += margin
        assert best_tree(scores).tolist() == truth.tolist()
        scores[:, 0] += 2 * margin  # now every word's best head is the root, which may have one of them only
        heads = best_tree(scores)
        assert is_tree(heads) and total(scores, heads) >= total(scores, truth)


def test_result_does_not_depend_on_what_a_word_says_of_itself_nor_on_a_shift_of_its_row():
    """All heads of a word alike: trees keep their order. Large shifts would show lost digits."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        scores = rng.integers(-1000, 1000, size=(20, 21)).astype(np.float64)
        heads = best_tree(scores)
        shifted = scores + rng.integers(-(10**6), 10**6, size=(20, 1))
        shifted[np.arange(20), np.arange(1, 21)] = 10.0**8
        assert total(scores, best_tree(shifted)) == total(scores, heads)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_diverged_model_still_gets_trees(bad):
    scores = np.full((6, 7), bad, dtype=np.float32)
    assert is_tree(best_tree(scores))
    scores[2:4] = 0
    assert is_tree(best_tree(scores))


def test_scores_are_left_as_they_were():
    scores = np.random.default_rng(0).normal(size=(5, 6))
    before = scores.copy()
    best_tree(scores)
    assert np.array_equal(scores, before)


def test_random_scores_are_the_worst_case_and_fast():
    rng = np.random.default_rng(0)
    sentences = rng.normal(size=(200, 50, 51)).astype(np.float32)
    start = time.process_time()
    trees = [best_tree(scores) for scores in sentences]
    assert time.process_time() - start < 2  # 0.2 s on a quiet core
    assert all(map(is_tree, trees))


@pytest.mark.parametrize("heads", [[0], [2, 0], [2, 3, 0], [0, 1, 1]])
def test_trees(heads):
    assert is_tree(np.array(heads)) is True


@pytest.mark.parametrize("heads", [[1], [0, 0], [2, 1], [0, 3, 2], [0, 2, 0]])
def test_no_trees(heads):
    assert is_tree(np.array(heads)) is False


def test_attachment_by_hand():
    heads, labels = np.array([2, 0, 2, 3]), np.array([1, 0, 2, 0])
    true_heads, true_labels = np.array([2, 0, 2, 2]), np.array([1, 5, -1, 0])
    # right: word 1 in all, word 2 by head, word 3 by head (its label is unknown), word 4 by label only
    assert attachment_scores(heads, labels, true_heads, true_labels) == (0.75, 0.25)
    assert attachment_scores(heads, np.full(4, -1), heads, np.full(4, -1)) == (1.0, 0.0)
