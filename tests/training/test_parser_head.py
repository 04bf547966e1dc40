"""The biaffine parser: what it reads, what it says (against plain loops), what it learns, how it is scored."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from accelerate.utils import convert_to_fp32
from transformers import BertConfig, BertModel, BertTokenizer

from workflow.lib.base.errors import UserError
from workflow.lib.corpus.tasks.generate import generate
from workflow.lib.data.dataset_files import SCHEMAS
from workflow.lib.training.heads import head_class
from workflow.lib.training.heads.biaffine import ArcScores, LabelScores, Role
from workflow.lib.training.heads.dependency_trees import is_tree
from workflow.lib.training.heads.parser import ParserHead, best_trees
from workflow.lib.training.heads.tunable import Tunable, evaluate
from workflow.lib.training.loop import train
from workflow.lib.training.state import SavedState
from workflow.scripts.train_tokenizer import train_wordpiece

torch.set_num_threads(1)
SIZES = {"parser_arc": 12, "parser_label": 6, "parser_dropout": 0.0}
SETTINGS = SIZES | {
    "precision": "float32", "learning_rate": 3e-3, "layer_decay": 1.0, "weight_decay": 0.0, "head_learning_rate": None,
    "embeddings_rate": "decayed", "adam_epsilon": 1e-8, "epochs": 1, "batch_size": 8, "accumulation": 1,
    "schedule": "slanted", "warmup": 0.1, "clip_norm": 1.0, "save_every": 0, "keep_best": False,
}  # fmt: skip
INFO = {"kind": "treebank", "dataset": "t", "labels": []}


def toy_sentence(rng: np.random.Generator) -> dict:
    """(article noun)+ verb (article noun)*: articles hang from the next word, nouns from the verb, by their side."""
    left, right = rng.integers(1, 4), rng.integers(0, 3)
    words, verb = [], 2 * left + 1
    head, deprel = [], []
    for at in range(left + 1 + right):
        if at == left:
            words, head, deprel = [*words, f"verb{'abc'[rng.integers(3)]}"], [*head, 0], [*deprel, "root"]
        else:
            words += [f"the{'abc'[rng.integers(3)]}", f"noun{'abc'[rng.integers(3)]}"]
            head += [len(words), verb]
            deprel += ["det", "nsubj:left" if at < left else "obj"]
    return {"words": words, "upos": ["X"] * len(words), "head": head, "deprel": deprel}


def toy_table(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.Table.from_pylist([{"id": str(at), **toy_sentence(rng)} for at in range(n)], schema=SCHEMAS["treebank"])


@pytest.fixture(scope="module")
def tokenizer():
    words = [f"{word}{letter}" for word in ("the", "noun", "verb") for letter in "abc"]
    return BertTokenizer(tokenizer_object=train_wordpiece([" ".join(words)] * 3, 32), model_max_length=64)


@pytest.fixture(scope="module")
def examples(tokenizer):
    return ParserHead.read(toy_table(30, 0), INFO, tokenizer, 64, None)


def make(tokenizer, labels, dropout=0.0, seed=0, noise=0.0, width=16) -> Tunable:
    """`noise` on the biaffine weights, which begin with zeros: then all words say something different."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=2 * width, max_position_embeddings=64, hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout, initializer_range=0.1,
    )  # fmt: skip
    head = ParserHead(width, labels, SIZES | {"parser_dropout": dropout})
    for scores in (head.arcs, head.labels):
        torch.nn.init.normal_(scores.weight, std=noise) if noise else None
    return Tunable(BertModel(config, add_pooling_layer=False), head)


def run(path, model, examples, **settings):
    settings = SETTINGS | settings
    history = train(model, examples, settings, 7, SavedState(path / "model", settings))
    return history, {name: tensor.clone() for name, tensor in model.state_dict().items()}


# --- reading


def test_the_head_is_found_by_its_name():
    assert head_class("parser") is ParserHead


@pytest.mark.parametrize("kind", ["text", "qa", "spans"])
def test_other_datasets_are_refused(tokenizer, kind):
    with pytest.raises(UserError, match=f"dataset t: head 'parser' needs a treebank, this is of kind '{kind}'"):
        ParserHead.read(SCHEMAS[kind].empty_table(), INFO | {"kind": kind}, tokenizer, 64, None)


def test_relations_keep_their_subtypes_and_unknown_ones_have_no_number(tokenizer):
    table = toy_table(20, 1)
    whole = ParserHead.read(table, INFO, tokenizer, 64, None)
    assert whole.labels == ["det", "nsubj:left", "obj", "root"] and whole.n_rows == len(whole) == 20
    fewer = ParserHead.read(table, INFO, tokenizer, 64, ["root", "det"])
    names = [name for row in table["deprel"].to_pylist() for name in row]
    assert fewer.numbers.tolist() == [{"root": 0, "det": 1}.get(name, -1) for name in names]
    assert fewer.heads.tolist() == [head for row in table["head"].to_pylist() for head in row]


def test_a_batch_says_where_each_word_stands(tokenizer, examples):
    rows, table = np.array([4, 0, 9]), toy_table(30, 0).to_pylist()
    batch = examples.batch(rows)
    expected = [
        (line, place, len(table[row]["words"]), table[row]["head"][place - 1], table[row]["deprel"][place - 1])
        for line, row in enumerate(rows)
        for place in range(1, len(table[row]["words"]) + 1)
    ]
    labels = [examples.labels[number] for number in batch.labels]
    columns = (batch.line, batch.place, batch.n_words, batch.heads)
    assert list(zip(*(column.tolist() for column in columns), labels)) == expected
    assert examples.n_units(rows) == len(expected)
    assert (batch.tokens.size > 1).any()  # some words are split


def test_a_part_keeps_rows_and_trees_together(examples):
    part = examples.part(np.array([7, 2, 20])).part(np.array([2, 0]))
    assert len(part) == part.n_rows == 2 and part.lengths.tolist() == examples.lengths[[20, 7]].tolist()
    batch, whole = part.batch(np.array([0, 1])), examples.batch(np.array([20, 7]))
    assert torch.equal(batch.inputs["input_ids"], whole.inputs["input_ids"])
    assert all(torch.equal(getattr(batch, name), getattr(whole, name)) for name in ("line", "heads", "labels"))


# --- what it says


def test_bilinear_forms_are_sums_over_units():
    torch.manual_seed(0)
    dependents, heads = torch.randn(2, 4, 3), torch.randn(2, 5, 3)
    arcs, labels = ArcScores(3), LabelScores(3, 6)
    torch.nn.init.normal_(arcs.weight)
    torch.nn.init.normal_(labels.weight)
    said = arcs(dependents, heads)
    assert said.shape == (2, 4, 5)
    u = arcs.weight.detach()
    for line, d, h in np.ndindex(2, 4, 5):
        bilinear = sum(dependents[line, d, i] * u[i, j] * heads[line, h, j] for i in range(3) for j in range(3))
        torch.testing.assert_close(said[line, d, h], bilinear + u[3] @ heads[line, h])
    said, w = labels(dependents[0], heads[1, :4]), labels.weight.detach()
    assert said.shape == (4, 6)
    for pair, label in np.ndindex(4, 6):
        d, h = dependents[0, pair], heads[1, pair]
        bilinear = sum(d[i] * w[i, label, j] * h[j] for i in range(3) for j in range(3))
        expected = bilinear + d @ w[:3, label, 3] + w[3, label, :3] @ h + w[3, label, 3]
        torch.testing.assert_close(said[pair, label], expected)


def test_a_unit_is_dropped_in_a_whole_sentence():
    torch.manual_seed(0)
    role, nodes = Role(8, 400, 0.33), torch.randn(3, 6, 8)
    role.eval()
    plain = role(nodes)
    linear = nodes @ role.linear.weight.T + role.linear.bias
    torch.testing.assert_close(plain, torch.where(linear > 0, linear, 0.1 * linear))
    role.train()
    kept = role(nodes) / plain
    assert torch.allclose(kept, kept[:, :1].expand_as(kept), atol=1e-5)  # the same for all words
    assert not torch.allclose(kept[0], kept[1])  # not for all sentences
    assert abs((kept == 0).float().mean().item() - 0.33) < 0.05
    torch.testing.assert_close(kept[kept != 0], torch.full_like(kept[kept != 0], 1 / 0.67))


def slow_scores(model, examples, row):
    """One sentence by itself, word by word: (words, 1 + words) arcs, and labels for every pair."""
    head, batch = model.head, examples.batch(np.array([row]))
    states = model.encoder(**batch.inputs).last_hidden_state[0]
    word_of = examples.encoded.word_of[row]
    n = max(word_of) + 1
    nodes = [states[0]] + [states[[at for at, of in enumerate(word_of) if of == word]].mean(0) for word in range(n)]

    def seen_as(role, node):
        return torch.nn.functional.leaky_relu(role.linear(node), 0.1)

    arcs, labels = torch.full((n, n + 1), float("-inf")), torch.zeros(n, n + 1, len(examples.labels))
    one = torch.ones(1)
    for word in range(1, n + 1):
        for other in {*range(n + 1)} - {word}:
            dependent, of = torch.cat([seen_as(head.arc_dependent, nodes[word]), one]), nodes[other]
            arcs[word - 1, other] = dependent @ head.arcs.weight @ seen_as(head.arc_head, of)
            dependent = torch.cat([seen_as(head.label_dependent, nodes[word]), one])
            label_head = torch.cat([seen_as(head.label_head, of), one])
            labels[word - 1, other] = torch.einsum("i,ilj,j->l", dependent, head.labels.weight, label_head)
    return arcs, labels


@torch.no_grad()
def test_a_batch_says_and_loses_what_plain_loops_do(tokenizer, examples):
    model = make(tokenizer, examples.labels, noise=0.5).eval()
    rows = np.array([5, 11, 2, 17])
    assert len({int(examples.n_units(np.array([row]))) for row in rows}) > 1  # so that there is padding
    batch = examples.batch(rows)
    batch.labels[3] = -1  # a relation unknown to the training rows
    said, word, expected = model(batch), 0, 0.0
    for row in rows:
        arcs, labels = slow_scores(model, examples, row)
        for at in range(len(arcs)):
            torch.testing.assert_close(said.arcs[word, : len(arcs) + 1], arcs[at], atol=1e-5, rtol=1e-5)
            assert torch.all(said.arcs[word, len(arcs) + 1 :] == float("-inf"))
            true, label = batch.heads[word], batch.labels[word]
            torch.testing.assert_close(
                model.head.label_scores(said, batch, batch.heads)[word], labels[at, true], atol=1e-5, rtol=1e-5
            )
            expected -= 0.5 * arcs[at].log_softmax(0)[true]
            expected -= 0.5 * labels[at, true].log_softmax(0)[label] if label >= 0 else 0
            word += 1
    assert word == examples.n_units(rows) == len(said.arcs)
    torch.testing.assert_close(model.head.loss(said, batch), torch.as_tensor(expected), atol=1e-4, rtol=1e-5)


@torch.no_grad()
def test_at_first_nothing_is_preferred(tokenizer, examples):
    batch = examples.batch(np.arange(4))
    model = make(tokenizer, examples.labels)
    expected = 0.5 * torch.log(batch.n_words.float()).sum() + 0.5 * len(batch.heads) * np.log(len(examples.labels))
    torch.testing.assert_close(model.head.loss(model(batch), batch), expected)


def test_only_unknown_relations_leave_the_loss_of_arcs(tokenizer, examples):
    model, batch = make(tokenizer, examples.labels, noise=0.5), examples.batch(np.arange(3))
    batch.labels[:] = -1
    said = model(batch)
    loss = model.head.loss(said, batch)
    loss.backward()
    assert loss.isfinite() and not model.head.labels.weight.grad.any() and model.head.arcs.weight.grad.any()


# --- learning and scores


def slow_tree(arcs: np.ndarray) -> np.ndarray:
    """By brute force over all trees."""
    n = len(arcs)
    trees = filter(is_tree, map(np.array, np.ndindex(*[n + 1] * n)))
    return max(trees, key=lambda heads: arcs[np.arange(n), heads].sum())


def test_scores_are_those_of_one_sentence_at_a_time(tokenizer, examples):
    model, table = make(tokenizer, examples.labels, noise=1.0).eval(), toy_table(30, 0).to_pylist()
    short = [row for row, sentence in enumerate(table) if len(sentence["words"]) <= 5]
    met, n_greedy_trees = {"las": [], "uas": [], "las_greedy": []}, 0
    with torch.no_grad():
        for row in short:
            arcs, labels = (scores.numpy() for scores in slow_scores(model, examples, row))
            heads, names = table[row]["head"], table[row]["deprel"]
            tree, greedy = slow_tree(arcs), arcs.argmax(axis=1)
            n_greedy_trees += is_tree(greedy)
            of_tree, of_greedy = (labels[np.arange(len(arcs)), guess].argmax(axis=1) for guess in (tree, greedy))
            for at, (head, name) in enumerate(zip(heads, names)):
                met["uas"].append(tree[at] == head)
                met["las"].append(tree[at] == head and examples.labels[of_tree[at]] == name)
                met["las_greedy"].append(greedy[at] == head and examples.labels[of_greedy[at]] == name)
    assert len(short) > 4 and n_greedy_trees < len(short)
    scores = evaluate(model, examples.part(np.array(short)))
    assert list(scores) == ["las", "uas", "las_greedy"]
    assert scores == pytest.approx({name: np.mean(values) for name, values in met.items()})


def test_unknown_relations_count_as_wrong(tokenizer, examples):
    """Labels are a matter of heads alone here: one is known, and so always guessed."""
    fewer = ParserHead.read(toy_table(30, 0), INFO, tokenizer, 64, ["det"])
    model = make(tokenizer, fewer.labels, noise=1.0)
    columns = [(best_trees(said.arcs, batch) == batch.heads, batch.labels) for _, batch, said in model.said_of(fewer)]
    right, numbers = (torch.cat(column).numpy() for column in zip(*columns))
    scores = evaluate(model, fewer)
    assert scores["uas"] == np.mean(right) and scores["las"] == np.mean(right & (numbers == 0))
    assert 0 < scores["las"] < scores["uas"]


def test_a_planted_grammar_is_learnt(tokenizer, tmp_path):
    taught = ParserHead.read(toy_table(300, 2), INFO, tokenizer, 64, None)
    tested = ParserHead.read(toy_table(60, 3), INFO, tokenizer, 64, taught.labels)
    model = make(tokenizer, taught.labels, width=32)
    before = evaluate(model, tested)
    history, _ = run(tmp_path, model, taught, epochs=8, batch_size=16, learning_rate=5e-3)
    after = evaluate(model, tested)
    assert before["las"] < 0.4 and after["las"] > 0.95 and after["uas"] >= after["las"]
    assert history[-1]["loss"] < 0.2 * history[0]["loss"]


def test_accumulation_changes_nothing_without_dropout(tokenizer, examples, tmp_path):
    settings = {"adam_epsilon": 1e-3, "learning_rate": 1e-3, "epochs": 2}
    whole, parts = (
        run(tmp_path / str(n), make(tokenizer, examples.labels, noise=0.1), examples, accumulation=n, **settings)
        for n in (1, 3)
    )
    np.testing.assert_allclose([row["loss"] for row in parts[0]], [row["loss"] for row in whole[0]], rtol=1e-5)
    for name, tensor in whole[1].items():
        torch.testing.assert_close(parts[1][name], tensor, rtol=0, atol=2e-6, msg=name)


def test_the_same_seed_gives_the_same_bits(tokenizer, examples, tmp_path):
    first, again = (run(tmp_path / name, make(tokenizer, examples.labels, dropout=0.3), examples) for name in "ab")
    assert first[0][0]["loss"] == again[0][0]["loss"]
    assert all(torch.equal(tensor, again[1][name]) for name, tensor in first[1].items())


def test_half_precision_gives_nearly_the_same(tokenizer, examples):
    model, batch = make(tokenizer, examples.labels, noise=0.1), examples.batch(np.arange(10))
    with torch.no_grad():
        exact = model.head.loss(model(batch), batch)
    with torch.autocast("cpu", torch.bfloat16):
        said = convert_to_fp32(model(batch))  # as the loop's Accelerate does to what a model returns
        loss = model.head.loss(said, batch)
    loss.backward()
    assert said.arcs.dtype == torch.float32
    torch.testing.assert_close(loss.detach(), exact, rtol=0.02, atol=0)
    assert all(parameter.grad.isfinite().all() for parameter in model.head.parameters())


def test_on_the_embedded_treebank(tokenizer):
    rows = generate("ewt", "test", {"train": 60, "test": 40}, 1)
    train_rows = generate("ewt", "train", {"train": 60, "test": 40}, 1)
    tables = [pa.Table.from_pylist(part, schema=SCHEMAS["treebank"]) for part in (train_rows, rows)]
    taught = ParserHead.read(tables[0], INFO, tokenizer, 256, None)
    tested = ParserHead.read(tables[1], INFO, tokenizer, 256, taught.labels)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=32, max_position_embeddings=256)  # fmt: skip
    model = Tunable(BertModel(config, add_pooling_layer=False), ParserHead(16, taught.labels, SIZES))
    batch = tested.batch(np.arange(40))
    said = model(batch)
    n_words = sum(len(row["words"]) for row in rows)
    longest = max(len(row["words"]) for row in rows)
    assert said.arcs.shape == (n_words, longest + 1) and said.heads.shape == (40, longest + 1, 6)
    assert model.head.label_scores(said, batch, batch.heads).shape == (n_words, len(taught.labels))
    scores = evaluate(model, tested)
    assert all(0 <= value <= 1 for value in scores.values())
