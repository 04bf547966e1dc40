"""The structural probes against plain loops and scipy, and on vectors in which a tree is planted."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import shortest_path
from scipy.stats import kstest, rankdata, spearmanr

from workflow.lib.activations.cache import LayerWriter, layer_file
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.methods.structural import words as words_module
from workflow.lib.methods.structural.batches import batch_of, evaluation_batches
from workflow.lib.methods.structural.gold_trees import by_length, trees_of
from workflow.lib.methods.structural.losses import LOSSES
from workflow.lib.methods.structural.probes import StructuralProbe, first_weights
from workflow.lib.methods.structural.scores import Evaluation, unit_ranks
from workflow.lib.methods.structural.settings import StructuralSettings, settings_from
from workflow.lib.methods.structural.spanning import spanning_edges
from workflow.lib.methods.structural.training import Training, train_probes
from workflow.lib.methods.structural.words import TreebankWords, layer_groups
from workflow.scripts.structural import probe_layers


@pytest.fixture(autouse=True)
def one_thread():
    """For matrices this small, threads that wait for each other would take most of the time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# ---- sentences to probe


def random_heads(lengths, seed=0):
    """1-based heads, 0 for the root, of random trees over randomly ordered words."""
    rng, found = np.random.default_rng(seed), []
    for n in lengths:
        order, heads = rng.permutation(n), np.zeros(n, dtype=int)
        for at in range(1, n):
            heads[order[at]] = order[rng.integers(0, at)] + 1
        found.append(heads.tolist())
    return found


def treebank(lengths, seed=0, upos=None):
    heads = random_heads(lengths, seed)
    return trees_of(heads, upos or [["NOUN"] * len(sentence) for sentence in heads]), heads


def edges_of(heads):
    return [(word, head - 1) for word, head in enumerate(heads) if head]


def planted(heads, width, seed=0):
    """Vectors of which a linear map gives the tree exactly: each word adds a dimension of its own to its head's vector,
    so squared distances and norms count edges; then all dimensions are mixed, the same way in all sentences."""
    found = []
    for sentence in heads:
        vectors = np.zeros((len(sentence), width))
        for word in range(len(sentence)):
            at = word
            while sentence[at]:
                vectors[word, at] += 1
                at = sentence[at] - 1
        found.append(vectors)
    mixing = np.linalg.qr(np.random.default_rng(seed).normal(size=(width, width)))[0]
    return torch.from_numpy((np.concatenate(found) @ mixing).astype(np.float32))


def noise(trees, width, seed=0):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=(trees.length.sum(), width)).astype(np.float32))


def noisy_layers(lengths, width, scales, seed=0):
    """The planted vectors with more noise from layer to layer."""
    trees, heads = treebank(lengths, seed)
    vectors = planted(heads, width)
    return {layer: vectors + scale * noise(trees, width, seed + layer) for layer, scale in enumerate(scales)}, trees


# ---- gold trees


def test_tree_distances_are_shortest_paths():
    trees, heads = treebank([1, 2, 9, 30, 9, 17])
    for s, sentence in enumerate(heads):
        n, graph = len(sentence), np.zeros((len(sentence), len(sentence)))
        for a, b in edges_of(sentence):
            graph[a, b] = graph[b, a] = 1
        expected = shortest_path(graph, unweighted=True)
        got = trees.distance[trees.first_pair[s] : trees.first_pair[s] + n * n].reshape(n, n)
        assert np.array_equal(got, expected)
        assert np.array_equal(trees.depth[trees.first[s] : trees.first[s] + n], expected[sentence.index(0)])


def test_a_chain_as_long_as_a_sentence_has_all_its_distances():
    """Ancestors are found by doubling: the deepest tree is where that could fall short."""
    for n in (2, 3, 4, 5, 8, 9, 33):
        trees = trees_of([list(range(n))], [["X"] * n])
        assert np.array_equal(trees.depth, np.arange(n))
        assert np.array_equal(trees.distance.reshape(n, n), np.abs(np.subtract.outer(np.arange(n), np.arange(n))))


# ---- losses


def plain_loss(probe, projected, heads):
    """Sentence by sentence, pair by pair; `projected` (words, rank)."""
    per_sentence, first = [], 0
    for sentence in heads:
        n, trees = len(sentence), trees_of([sentence], [["X"] * len(sentence)])
        words, first = projected[first : first + n], first + n
        if probe == "depth":
            errors = [abs(sum(x * x for x in words[i]) - trees.depth[i].item()) for i in range(n)]
        else:
            gold = trees.distance.reshape(n, n)
            errors = [
                abs(sum((a - b) ** 2 for a, b in zip(words[i], words[j])) - gold[i, j].item())
                for i in range(n)
                for j in range(n)
            ]
        per_sentence.append(sum(errors) / len(errors))
    return sum(per_sentence) / len(per_sentence)


@pytest.mark.parametrize("probe", ["depth", "distance"])
def test_loss_is_that_of_a_plain_loop_and_its_gradient_that_of_finite_differences(probe):
    trees, heads = treebank([4, 1, 5, 2])
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(3, trees.length.sum(), 2))  # in double precision, three probes
    batch = batch_of(trees, np.array([2, 0, 3, 1]), 4)
    batch = type(batch)(**{name: value.double() if torch.is_floating_point(value) else value
                           for name, value in vars(batch).items()})  # fmt: skip
    in_batch_order = torch.from_numpy(vectors)[:, batch.words].requires_grad_()
    losses = LOSSES[probe](in_batch_order, batch)
    losses.sum().backward()
    for of_probe, loss, gradient in zip(vectors, losses, in_batch_order.grad):
        assert loss.item() == pytest.approx(plain_loss(probe, of_probe, heads), rel=1e-6)
        expected = np.empty_like(of_probe)
        for at in np.ndindex(of_probe.shape):
            step = np.zeros_like(of_probe)
            step[at] = 1e-5
            above, below = (plain_loss(probe, of_probe + sign * step, heads) for sign in (1, -1))
            expected[at] = (above - below) / 2e-5
        np.testing.assert_allclose(gradient, expected[batch.words], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("probe", ["depth", "distance"])
def test_a_loss_in_parts_is_the_loss_of_all(probe):
    trees, _ = treebank(np.random.default_rng(0).integers(1, 30, 150))
    projected = noise(trees, 8)[None]
    whole = batch_of(trees, np.arange(150), 150)
    parts = evaluation_batches(trees)
    assert len(parts) > 1
    assert sorted(torch.cat([part.words for part in parts]).tolist()) == list(range(trees.length.sum()))
    total = sum(LOSSES[probe](projected[:, part.words], part) for part in parts)
    torch.testing.assert_close(total, LOSSES[probe](projected[:, whole.words], whole), rtol=1e-5, atol=0)


# ---- training


def sentence_loss(probe, words, gold):
    """Of one sentence's projected words, by all differences."""
    predicted = (words**2).sum(1) if probe == "depth" else ((words[:, None] - words[None]) ** 2).sum(2)
    return (predicted - gold).abs().mean()


def train_plainly(probe, layer, train, dev, settings, seed):
    """(weights, loss on dev, epochs): one probe on one layer, one sentence after another, rate and patience by hand."""

    def loss_of(data, sentences):
        vectors, trees = data[0][layer], data[1]
        losses = []
        for s in sentences:
            first, pair, n = trees.first[s], trees.first_pair[s], trees.length[s]
            gold = trees.depth[first : first + n] if probe == "depth" else trees.distance[pair : pair + n * n]
            gold = torch.from_numpy(gold).view([n] if probe == "depth" else [n, n])
            losses.append(sentence_loss(probe, vectors[first : first + n] @ weights, gold))
        return sum(losses) / len(losses)

    weights = first_weights(dev[0][layer].shape[1], settings.rank, layer, probe, seed).requires_grad_()
    rate, rng, best, stalled, lowest = settings.learning_rate, np.random.default_rng(seed), (None, np.inf), 0, np.inf
    first_moment, second_moment, n_steps = torch.zeros_like(weights), torch.zeros_like(weights), 0
    epochs = 0
    while epochs < settings.max_epochs and stalled < settings.patience:
        epochs += 1
        order = rng.permutation(len(train[1]))
        for begin in range(0, len(order), settings.batch_size):
            (gradient,) = torch.autograd.grad(loss_of(train, order[begin : begin + settings.batch_size]), weights)
            n_steps += 1
            first_moment = 0.9 * first_moment + 0.1 * gradient
            second_moment = 0.999 * second_moment + 0.001 * gradient**2
            spread = (second_moment / (1 - 0.999**n_steps)).sqrt() + 1e-8
            with torch.no_grad():
                weights -= rate * first_moment / (1 - 0.9**n_steps) / spread
        loss = loss_of(dev, range(len(dev[1]))).item()
        rate, lowest = (rate, loss) if loss < lowest * (1 - 1e-4) else (rate / 10, lowest)
        best, stalled = ((weights.detach().clone(), loss), 0) if loss < best[1] - 1e-4 else (best, stalled + 1)
    return *best, epochs


def test_training_is_that_of_a_plain_loop():
    """Batches, Adam, falling rates, patience and best weights, of layers that differ in when they stop."""
    settings = StructuralSettings(rank=4, batch_size=5, max_epochs=12, learning_rate=5e-2, patience=2)
    train, dev = noisy_layers([4, 9, 6, 1, 3] * 3, 10, [1.0, 0.2], 1), noisy_layers([5, 8, 2] * 2, 10, [1.0, 0.2], 2)
    probes = train_probes(train, dev, settings, seed=0)
    assert len({probe.epochs for probe in probes}) > 1 and min(probe.epochs for probe in probes) < 12
    for probe in probes:
        weights, loss, epochs = train_plainly(probe.probe, probe.layer, train, dev, settings, seed=0)
        assert probe.epochs == epochs and probe.dev_loss == pytest.approx(loss, rel=1e-4)
        torch.testing.assert_close(probe.weights, weights, rtol=1e-3, atol=1e-4)


def test_the_rate_falls_by_a_share_of_the_loss_and_patience_ends_after_five_epochs():
    # 1.99985 is better than 2 by more than 1e-4, but by less than 1e-4 of it
    losses = [3.0, 2.0, 2.0, 1.99985, 1.99982, 1.5, 1.49995, 1.6, 1.49992, 1.5, 1.49991, 1.0]
    falls = [0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8]
    settings = StructuralSettings(learning_rate=1.0, patience=5)
    training = Training(StructuralProbe(2, 2, 0, "depth", seed=0), settings)
    improved, stopped = [], []
    for loss, n_falls in zip(losses, falls):
        training.end_epoch(loss)
        assert training.optimiser.param_groups[0]["lr"] == pytest.approx(0.1**n_falls)
        improved.append(training.epochs_without_improvement == 0)
        stopped.append(training.stopped)
    assert np.flatnonzero(improved).tolist() == [0, 1, 3, 5, 11]
    # best at epochs 3 and 5; five epochs without a loss below 1.5 - 1e-4 end with epoch 10
    assert np.flatnonzero(stopped).tolist() == [10] and training.best.epochs == 12


def test_all_layers_at_once_are_each_layer_alone():
    """Also after the first layers have stopped, and others have not, which they must do for this to mean anything."""
    settings = StructuralSettings(rank=6, max_epochs=25, learning_rate=2e-2, patience=2)
    train = noisy_layers([4, 9, 6, 12, 3, 8, 5, 7] * 5, 12, [1.0, 0.0, 0.3], seed=1)
    dev = noisy_layers([5, 8, 11, 6] * 4, 12, [1.0, 0.0, 0.3], seed=2)
    together = train_probes(train, dev, settings, seed=0)
    assert [(probe.layer, probe.probe) for probe in together] == [
        (layer, probe) for layer in range(3) for probe in ("depth", "distance")
    ]
    assert len({probe.epochs for probe in together}) >= 3
    assert together[0].epochs != together[1].epochs < max(probe.epochs for probe in together)
    for layer in range(3):
        alone = train_probes(({layer: train[0][layer]}, train[1]), ({layer: dev[0][layer]}, dev[1]), settings, seed=0)
        for one, other in zip(alone, together[2 * layer : 2 * layer + 2]):
            assert (one.layer, one.probe, one.epochs) == (other.layer, other.probe, other.epochs)
            assert one.dev_loss == pytest.approx(other.dev_loss, rel=1e-4)
            torch.testing.assert_close(one.weights, other.weights, rtol=1e-3, atol=1e-4)


def test_best_weights_are_kept_not_the_last():
    settings = StructuralSettings(rank=6, max_epochs=12, learning_rate=0.3, patience=4)
    train, dev = (noisy_layers(lengths, 12, [0.5], seed) for lengths, seed in (([6, 9, 12] * 4, 1), ([5, 8] * 5, 2)))
    for probe in train_probes(train, dev, settings, seed=0):
        assert probe.epochs > 1
        batch = batch_of(dev[1], np.arange(10), 10)
        loss = LOSSES[probe.probe]((dev[0][0][batch.words] @ probe.weights)[None], batch)
        assert loss.item() == pytest.approx(probe.dev_loss, rel=1e-5)


def test_same_seed_same_bits_and_another_seed_others():
    settings = StructuralSettings(rank=5, max_epochs=3)
    train, dev = noisy_layers([6, 9, 4] * 9, 12, [0.1, 0.2], 1), noisy_layers([5, 8], 12, [0.1, 0.2], 2)
    first, again, other = (train_probes(train, dev, settings, seed) for seed in (7, 7, 8))
    assert all(torch.equal(a.weights, b.weights) for a, b in zip(first, again))
    assert not any(torch.equal(a.weights, b.weights) for a, b in zip(first, other))


def test_first_weights_are_uniform_and_differ_by_layer_probe_and_seed():
    weights = [first_weights(40, 50, *which) for which in ((0, "depth", 0), (1, "depth", 0), (0, "distance", 0))]
    weights.append(first_weights(40, 50, 0, "depth", seed=1))
    assert len({drawn[0, 0].item() for drawn in weights}) == 4
    for drawn in weights:
        assert kstest(drawn.flatten().numpy(), "uniform", (-0.05, 0.1)).pvalue > 1e-3


# ---- scores


def test_correlations_are_scipys_with_ties():
    rng = np.random.default_rng(0)
    values, gold = rng.integers(0, 4, (40, 9)).astype(float), rng.integers(0, 5, (40, 9)).astype(float)
    expected = [spearmanr(a, b).statistic for a, b in zip(values, gold)]
    assert (unit_ranks(values) * unit_ranks(gold)).sum(1) == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(unit_ranks(values.reshape(5, 8, 9)).reshape(40, 9), unit_ranks(values))
    assert np.array_equal(unit_ranks(np.ones((2, 5))), np.zeros((2, 5)))


def kruskal(distances, words):
    """Edges of a minimum spanning tree among some words: of all pairs, nearest first, those that join two trees."""
    n, trees = len(distances), {word: {word} for word in words}
    edges = np.zeros((n, n), dtype=bool)
    for _, a, b in sorted((distances[a, b], a, b) for a in words for b in words if a < b):
        if trees[a] is not trees[b]:
            edges[a, b] = edges[b, a] = True
            trees[a] |= trees[b]
            trees |= dict.fromkeys(trees[b], trees[a])
    return edges


@pytest.mark.parametrize("with_ties", [False, True])
def test_spanning_trees_are_those_of_a_plain_loop_among_the_words_that_count(with_ties):
    rng = np.random.default_rng(0)
    distances = rng.integers(0, 3, (30, 8, 8)) if with_ties else rng.random((30, 8, 8))  # ties: some of 0
    distances = distances + distances.transpose(0, 2, 1)
    excluded = rng.random((30, 8)) < 0.3
    excluded[0], excluded[1], excluded[2] = False, True, [False] + [True] * 7
    edges = spanning_edges(distances, excluded)
    for graph, out, got in zip(distances, excluded, edges):
        assert np.array_equal(got, kruskal(graph, np.flatnonzero(~out)))
    assert not spanning_edges(distances[1:2], excluded[1:2]).any()


def plain_spearman(projected, trees, probe, lengths):
    """Sentence by sentence, as Hewitt and Manning count."""
    of_length = {}
    for first, pair, n in zip(trees.first, trees.first_pair, trees.length):
        words = projected[first : first + n].astype(float)
        if probe == "depth":
            rows = [((words**2).sum(1), trees.depth[first : first + n])]
        else:
            gold = trees.distance[pair : pair + n * n].reshape(n, n)
            rows = list(zip(((words[:, None] - words[None]) ** 2).sum(2), gold))
        of_length.setdefault(int(n), []).extend(spearmanr(a, b).statistic for a, b in rows)
    return {n: np.mean(values) for n, values in sorted(of_length.items()) if n in lengths}


@pytest.mark.parametrize("probe", ["depth", "distance"])
def test_spearman_is_the_mean_over_lengths_from_five_to_fifty(probe):
    lengths = [3, 4, 5, 5, 5, 9, 20, 50, 51, 60]
    trees, _ = treebank(lengths)
    projected = noise(trees, 4).numpy()
    scores = getattr(Evaluation(trees, 5, 50), probe)(projected)
    expected = plain_spearman(projected, trees, probe, range(5, 51))
    assert list(scores.by_length) == list(expected) == [5, 9, 20, 50]
    assert [value for value, _ in scores.by_length.values()] == pytest.approx(list(expected.values()), abs=1e-9)
    assert [n for _, n in scores.by_length.values()] == [3, 1, 1, 1]
    assert scores.measures["spearman"] == (pytest.approx(np.mean(list(expected.values()))), 6)


def test_sentences_of_other_lengths_do_not_move_spearman():
    short, _ = treebank([6, 7, 8])
    longer, _ = treebank([6, 7, 8, 3, 55])
    vectors = noise(longer, 4).numpy()
    assert np.array_equal(longer.distance[: len(short.distance)], short.distance)
    for probe in ("depth", "distance"):
        few = getattr(Evaluation(short, 5, 50), probe)(vectors[: short.length.sum()])
        more = getattr(Evaluation(longer, 5, 50), probe)(vectors)
        assert few.measures["spearman"] == more.measures["spearman"]
        assert few.by_length == more.by_length


def test_roots_and_edges_are_sought_among_words_that_are_no_punctuation():
    # "ran (root) <- dog <- the", "." on the root; the full stop is nearest to everything and least deep
    heads, upos = [[2, 3, 0, 3]], [["DET", "NOUN", "VERB", "PUNCT"]]
    trees = trees_of(heads, upos)
    evaluation = Evaluation(trees, 4, 50)
    depths = np.array([[3.0], [2.0], [1.0], [0.0]])
    assert evaluation.depth(depths).measures["root_accuracy"] == (1.0, 1)
    assert evaluation.depth(depths[[2, 1, 0, 3]]).measures["root_accuracy"] == (0.0, 1)
    on_a_line = np.array([[0.0], [1.0], [2.2], [0.5]])  # the – dog – ran, with the full stop between the first two
    assert evaluation.distance(on_a_line).measures["uuas"] == (1.0, 1)
    assert evaluation.distance(on_a_line[[1, 0, 2, 3]]).measures["uuas"] == (0.5, 1)


def test_sentences_of_punctuation_have_neither_roots_nor_edges():
    heads = [[2, 3, 0, 3], [0, 1], [0], [2, 0]]
    upos = [["DET", "NOUN", "VERB", "PUNCT"], ["PUNCT", "PUNCT"], ["INTJ"], ["NOUN", "VERB"]]
    evaluation = Evaluation(trees_of(heads, upos), 4, 50)
    projected = np.array([[3.0], [2.0], [1.0], [0.0], [0.0], [1.0], [0.3], [0.1], [0.2]])
    assert evaluation.depth(projected).measures["root_accuracy"] == (pytest.approx(2 / 3), 3)
    assert evaluation.distance(projected).measures["uuas"] == (1.0, 2)


def test_a_test_split_without_sentences_that_count_is_the_users_to_mend():
    trees, _ = treebank([2, 4, 51])
    with pytest.raises(UserError, match=r"no test sentence has 5 to 50 words .* 2 to 51"):
        Evaluation(trees, 5, 50)
    with pytest.raises(UserError, match="not punctuation"):
        Evaluation(trees_of([[0, 1, 1, 1, 1]], [["PUNCT"] * 5]), 5, 50)


# ---- planted and random vectors


@pytest.fixture(scope="module")
def trained():
    """Layer 0: the tree is planted. Layer 1: noise. All that is scored was not trained on."""
    torch.set_num_threads(1)
    width, found = 14, []
    for lengths, seed in (([5, 6, 7, 8, 9, 10] * 50, 1), ([6, 8, 10] * 12, 2), ([5, 7, 9, 10] * 15, 3)):
        trees, heads = treebank(lengths, seed)
        found.append(({0: planted(heads, width), 1: noise(trees, width, seed)}, trees))
    train, dev, test = found
    probes = train_probes(train, dev, StructuralSettings(rank=14, max_epochs=40, learning_rate=1e-2), seed=0)
    evaluation = Evaluation(test[1], 5, 50)
    scores = {
        (probe.layer, probe.probe): getattr(evaluation, probe.probe)((test[0][probe.layer] @ probe.weights).numpy())
        for probe in probes
    }
    return scores, {(probe.layer, probe.probe): probe.dev_loss for probe in probes}, test[1]


def best_without_ties(rows):
    """Spearman's correlation of gold with what orders all as gold does, but has no ties of its own."""
    n = rows.shape[-1]
    return np.linalg.norm(rankdata(rows, axis=-1) - (n + 1) / 2, axis=-1) / np.linalg.norm(np.arange(n) - (n - 1) / 2)


def test_a_planted_tree_is_found(trained):
    scores, dev_losses, trees = trained
    assert dev_losses[0, "depth"] < 0.05 and dev_losses[0, "distance"] < 0.01  # edges
    assert scores[0, "depth"].measures["root_accuracy"] == (1.0, 60)
    assert scores[0, "distance"].measures["uuas"] == (1.0, 60)
    for n, sentences in by_length(trees.length):
        depths = trees.depth[trees.first[sentences][:, None] + np.arange(n)]
        distances = trees.distance[trees.first_pair[sentences][:, None] + np.arange(n * n)].reshape(-1, n, n)
        for probe, gold in (("depth", depths), ("distance", distances)):
            assert scores[0, probe].by_length[n][0] == pytest.approx(best_without_ties(gold).mean(), abs=1e-6)


def test_what_ties_like_gold_correlates_fully():
    trees, heads = treebank([5, 7, 9, 10] * 3)
    exact = planted(heads, 14).double().numpy() @ np.linalg.qr(np.random.default_rng(0).normal(size=(14, 14)))[0].T
    evaluation = Evaluation(trees, 5, 50)
    for probe in ("depth", "distance"):
        assert getattr(evaluation, probe)(exact.round()).measures["spearman"][0] == pytest.approx(1)


def test_noise_has_no_tree(trained):
    depth, distance = (trained[0][1, probe].measures for probe in ("depth", "distance"))
    assert abs(depth["spearman"][0]) < 0.15 and depth["root_accuracy"][0] < 0.3
    # a word is at no distance from itself, which all vectors tell: more than 0
    assert distance["spearman"][0] < 0.5 and distance["uuas"][0] < 0.4


# ---- a model's layers from files


def write_split(folder: Path, split: str, lengths, scales, seed) -> TreebankWords:
    layers, trees = noisy_layers(lengths, 12, scales, seed)
    heads = random_heads(lengths, seed)
    rows = [
        {"id": str(s), "words": ["w"] * len(h), "upos": ["NOUN"] * len(h), "head": h, "deprel": ["dep"] * len(h)}
        for s, h in enumerate(heads)
    ]
    data = folder / "data" / "ewt" / f"{split}.parquet"
    data.parent.mkdir(parents=True, exist_ok=True)
    write_dataset(data, rows, dataset="ewt", split=split, kind="treebank", labels=[], source="test")
    cache = folder / "word" / f"ewt-{split}"
    cache.mkdir(parents=True)
    example = np.repeat(np.arange(len(trees)), trees.length)
    unit = np.arange(len(example)) - trees.first[example]
    for layer, vectors in layers.items():
        writer = LayerWriter(layer_file(cache, layer), 12, "float32", {"layer": layer})
        writer.write(example, unit, vectors.numpy())
        writer.close()
    return TreebankWords(cache, data)


def splits_in(folder, scales=(0.0, 0.2, 0.4)):
    lengths = {"train": [5, 9, 7, 6] * 5, "dev": [5, 8] * 4, "test": [3, 5, 6, 7, 9]}
    return {split: write_split(folder, split, lengths[split], scales, seed) for seed, split in enumerate(lengths)}


def test_tables_have_a_row_per_layer_probe_and_measure_however_many_layers_fit_in_memory(tmp_path, monkeypatch):
    splits, settings = splits_in(tmp_path), StructuralSettings(rank=4, max_epochs=2)
    scores, by_length = probe_layers(**splits, settings=settings, seed=0, device="cpu")
    assert [(row["layer"], row["probe"], row["measure"]) for row in scores] == [
        (layer, *measure)
        for layer in range(3)
        for measure in [
            ("depth", "spearman"),
            ("depth", "root_accuracy"),
            ("distance", "spearman"),
            ("distance", "uuas"),
        ]
    ]
    assert list(scores[0]) == ["layer", "probe", "measure", "value", "rank", "epochs", "n_sentences"]
    assert [row["n_sentences"] for row in scores[:4]] == [4, 5, 4, 5]
    assert {(row["rank"], row["epochs"]) for row in scores} == {(4, 2)}
    assert list(by_length[0]) == ["layer", "probe", "length", "n_sentences", "spearman"]
    assert [row["length"] for row in by_length[:4]] == [5, 6, 7, 9] and len(by_length) == 3 * 2 * 4
    for row in scores[:1]:
        assert row["value"] == pytest.approx(np.mean([part["spearman"] for part in by_length[:4]]))
    one_at_a_time = [[0], [1], [2]]
    monkeypatch.setattr("workflow.scripts.structural.layer_groups", lambda *_: one_at_a_time)
    streamed, _ = probe_layers(**splits, settings=settings, seed=0, device="cpu")
    assert [row["value"] for row in streamed] == pytest.approx([row["value"] for row in scores], abs=1e-3)


def test_layers_are_grouped_by_what_memory_holds():
    assert layer_groups(5, 10, bytes_held=100) == [[0, 1, 2, 3, 4]]
    assert layer_groups(5, 10, bytes_held=39) == [[0, 1, 2], [3, 4]]
    assert layer_groups(3, 10, bytes_held=5) == [[0], [1], [2]]  # one in any case
    assert layer_groups(13, 4 * 768 * 229_000) == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
    assert words_module.BYTES_HELD == 3 << 30


def test_a_cache_of_other_words_and_numbers_that_are_not_finite_are_named(tmp_path):
    train = splits_in(tmp_path)["train"]
    with pytest.raises(UserError, match="do not have the same words"):
        TreebankWords(tmp_path / "word" / "ewt-dev", tmp_path / "data" / "ewt" / "train.parquet")
    other = write_split(tmp_path / "other", "train", [5, 6], [np.nan], seed=0)
    with pytest.raises(UserError, match=r"layer-00\.parquet holds numbers that are not finite"):
        other.layer(0)
    assert train.layer(0).shape == (135, 12)


def test_settings_are_checked():
    assert settings_from({"rank": 8}) == StructuralSettings(rank=8)
    with pytest.raises(UserError, match=r"no setting `ranks` .*rank"):
        settings_from({"ranks": 8})
    with pytest.raises(UserError, match="batch_size must be above 0"):
        settings_from({"batch_size": 0})
    with pytest.raises(UserError, match="min_length must be at least 2"):
        settings_from({"min_length": 1})
