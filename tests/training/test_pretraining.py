"""Tokenizer training and pre-training on a corpus of a few sentences."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import BertTokenizer

from tests.scripts import load_script
from workflow.lib.training.pretraining import loop
from workflow.lib.training.pretraining import pairs as data
from workflow.lib.training.state import SavedState

torch.set_num_threads(1)
ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "workflow" / "scripts"
NOUNS, VERBS = ["cat", "dog", "bird", "horse", "naïve fish"], ["sees", "hears", "follows", "avoids"]
DOCUMENTS = [[f"The {a} {verb} the {b}." for verb in VERBS] for a in NOUNS for b in NOUNS if a != b]
SETTINGS = {
    "max_tokens": 32, "initializer_range": 0.02, "dropout": 0.1, "weight_decay": 0.01, "steps": 12, "batch_size": 8,
    "mask_share": 0.15, "next_sentence_weight": 1.0, "learning_rate": 3e-3, "warmup": 0.1,
    "muon_learning_rate": 0.02, "muon_momentum": 0.9,
}  # fmt: skip
SHAPE = {"width": 32, "layers": 2, "heads": 2}
LOG = logging.getLogger("test")


class Interruption(Exception):
    pass


@pytest.fixture(scope="module")
def tokenizers():
    return load_script("scripts/train_tokenizer")


@pytest.fixture(scope="module")
def trained(tokenizers):
    return tokenizers.train_wordpiece([text for document in DOCUMENTS for text in document], 120)


@pytest.fixture(scope="module")
def tokenizer(trained):
    return BertTokenizer(tokenizer_object=trained, model_max_length=32)


@pytest.fixture(scope="module")
def special(tokenizer):
    return {name: getattr(tokenizer, f"{name}_token_id") for name in ("pad", "cls", "sep", "mask")}


@pytest.fixture(scope="module")
def pairs(tokenizer):
    rows = [(f"doc.{at}.{number}", text) for at, texts in enumerate(DOCUMENTS) for number, text in enumerate(texts)]
    names, texts = zip(*rows)
    return data.read_pairs(pa.table({"id": list(names), "text": list(texts)}), tokenizer, 32)


# --- the tokenizer


def test_tokenizer_training_is_deterministic(tokenizers, trained):
    texts = [text for document in DOCUMENTS for text in document]
    assert tokenizers.train_wordpiece(texts, 120).to_str() == trained.to_str()
    # only how often a word occurs counts
    assert tokenizers.train_wordpiece(texts[::-1], 120).to_str() == trained.to_str()


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_tokenizer_training_is_the_same_in_another_process(tmp_path, trained, hash_seed):
    (tmp_path / "texts").write_text("\n".join(text for document in DOCUMENTS for text in document), encoding="utf-8")
    code = (
        "import runpy, sys; from pathlib import Path\n"
        "train = runpy.run_path(sys.argv[1])['train_wordpiece']\n"
        "texts = Path(sys.argv[2]).read_text(encoding='utf-8').splitlines()\n"
        "Path(sys.argv[3]).write_text(train(texts, 120).to_str(), encoding='utf-8')\n"
    )
    arguments = [SCRIPTS / "train_tokenizer.py", tmp_path / "texts", tmp_path / "json"]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, cwd=ROOT, env=environment)
    assert (tmp_path / "json").read_text(encoding="utf-8") == trained.to_str()


def test_special_tokens_come_first_and_only_they_are_special(tokenizers, trained, tokenizer):
    assert [trained.token_to_id(token) for token in tokenizers.SPECIAL] == [0, 1, 2, 3, 4]
    assert (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.cls_token_id) == (0, 1, 2)
    assert (tokenizer.sep_token_id, tokenizer.mask_token_id) == (3, 4)
    assert sorted(tokenizer.all_special_ids) == [0, 1, 2, 3, 4]
    assert sorted(trained.get_vocab().values()) == list(range(len(tokenizer)))
    assert len(tokenizer) <= 120


def test_text_is_lower_case_without_accents_and_in_pieces(tokenizer):
    assert tokenizer.tokenize("The CAT naïve.") == tokenizer.tokenize("the cat naive .")
    pieces = tokenizer.tokenize("catdog")
    assert len(pieces) > 1 and all(piece.startswith("##") for piece in pieces[1:])
    assert tokenizer.unk_token_id not in tokenizer("catdogbird horse")["input_ids"]
    assert tokenizer.tokenize("日") == ["[UNK]"]


def test_pair_template(tokenizer):
    out = tokenizer("the cat", "the dog sees")
    one, two = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("the cat", "the dog sees"))
    assert out["input_ids"] == [2, *one, 3, *two, 3]
    assert out["token_type_ids"] == [0] * (len(one) + 2) + [1] * (len(two) + 1)
    assert tokenizer("the cat")["input_ids"] == [2, *one, 3]


def test_saved_tokenizer_is_the_same(tokenizers, trained, tokenizer, tmp_path):
    from workflow.lib.encoders.loading import load_tokenizer

    tokenizers.save(trained, tmp_path, 32)
    loaded = load_tokenizer(tmp_path)
    text = "The naïve fish avoids the catdog."
    assert dict(loaded(text, text)) == dict(tokenizer(text, text))
    assert loaded.model_max_length == 32


# --- pairs


def test_following_stays_in_its_document(tokenizer):
    names = ["a.0", "a.1", "a.2", "b.0", "c.1.0", "c.1.1", "c.2.0"]
    table = pa.table({"id": names, "text": ["the cat"] * len(names)})
    assert data.read_pairs(table, tokenizer, 32).following.tolist() == [1, 2, -1, -1, 5, -1, -1]


def test_long_sentences_leave_room_for_a_pair(tokenizer, special):
    table = pa.table({"id": ["a.0", "a.1"], "text": ["cat " * 100] * 2})
    pairs = data.read_pairs(table, tokenizer, 32)
    assert data.collate(pairs, np.array([0]), np.array([1]), special)["input_ids"].shape[1] <= 32


def test_half_the_seconds_are_random(pairs):
    assert len(pairs.ids) == len(pairs.following) == 80
    n_random = n_same = n = 0
    for seed in range(50):
        first, second, is_random = data.draw_pairs(pairs, np.random.default_rng(seed))
        assert first.tolist() == np.flatnonzero(pairs.following >= 0).tolist()
        followed = second == pairs.following[first]
        assert followed[is_random == 0].all()
        assert ((second >= 0) & (second < len(pairs.ids))).all()
        n, n_random, n_same = n + len(first), n_random + is_random.sum(), n_same + followed[is_random == 1].sum()
    assert abs(n_random / n - 0.5) < 4 * (0.25 / n) ** 0.5
    assert n_same / n_random < 0.05


def test_collate_is_what_the_tokenizer_makes_of_pairs(pairs, tokenizer, special):
    texts = [text for document in DOCUMENTS for text in document]
    first, second = np.array([0, 41, 79]), np.array([1, 3, 66])
    ours = data.collate(pairs, first, second, special)
    theirs = tokenizer([texts[at] for at in first], [texts[at] for at in second], padding=True, return_tensors="pt")
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert torch.equal(ours[name], theirs[name]), name


def test_batches_are_replayed_and_epochs_differ(pairs):
    lengths = np.array([len(ids) for ids in pairs.ids])

    def some(seed):
        batches = data.every_batch(pairs, lengths, 8, seed)
        return [[part.tolist() for part in next(batches)] for _ in range(16)]  # 8 per epoch

    assert some(1) == some(1) != some(2)
    one, two = some(1)[:8], some(1)[8:]
    everything = np.flatnonzero(pairs.following >= 0).tolist()
    for epoch in (one, two):
        assert sorted(first for batch in epoch for first in batch[0]) == everything
    assert one != two


# --- masking and losses


def test_mask_tokens(special):
    vocab, share = 1000, 0.15
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(5, vocab, (400, 100), generator=generator)
    ids[:, 0], ids[:, 50], ids[:, 90:] = special["cls"], special["sep"], special["pad"]
    before = ids.clone()
    labels = data.mask_tokens(ids, share, special, vocab, generator)
    chosen = labels != data.IGNORED
    is_special = (before == special["cls"]) | (before == special["sep"]) | (before == special["pad"])
    assert not chosen[is_special].any()
    assert torch.equal(labels[chosen], before[chosen])
    assert torch.equal(ids[~chosen], before[~chosen])
    n_ordinary, n = int((~is_special).sum()), int(chosen.sum())
    assert abs(n / n_ordinary - share) < 4 * (share * (1 - share) / n_ordinary) ** 0.5
    hidden, same = chosen & (ids == special["mask"]), chosen & (ids == before)
    for part, expected in ((hidden, 0.8), (same, 0.1), (chosen & ~hidden & ~same, 0.1)):
        # a random token is the old one or [MASK] once in a thousand
        assert abs(int(part.sum()) / n - expected) < 4 * (expected * (1 - expected) / n) ** 0.5 + 1e-3


def test_mask_tokens_is_a_function_of_the_generator(special):
    ids = torch.randint(5, 99, (8, 20), generator=torch.Generator().manual_seed(0))
    runs = []
    for seed in (1, 1, 2):
        masked = ids.clone()
        data.mask_tokens(masked, 0.5, special, 99, torch.Generator().manual_seed(seed))
        runs.append(masked)
    assert torch.equal(runs[0], runs[1]) and not torch.equal(runs[0], runs[2])


def test_losses_equal_those_of_the_model_itself(pairs, tokenizer, special):
    model = loop.new_model(SHAPE, SETTINGS, len(tokenizer), 0).eval()
    first, second, is_random = data.draw_pairs(pairs, np.random.default_rng(0))
    batch = data.collate(pairs, first, second, special)
    labels = data.mask_tokens(batch["input_ids"], 0.15, special, len(tokenizer), torch.Generator().manual_seed(0))
    is_random = torch.from_numpy(is_random)
    words, order = loop.losses(model, batch, labels, is_random)
    whole = model(**batch, labels=labels, next_sentence_label=is_random)
    torch.testing.assert_close(words + order, whole.loss, rtol=1e-5, atol=1e-6)
    ours = torch.autograd.grad(words + order, model.bert.embeddings.word_embeddings.weight)[0]
    theirs = torch.autograd.grad(whole.loss, model.bert.embeddings.word_embeddings.weight)[0]
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


# --- training


def run(pairs, special, tokenizer, path, settings=SETTINGS):
    model = loop.new_model(SHAPE, settings, len(tokenizer), 3)
    history = loop.pretrain(model, pairs, special, settings, 3, SavedState(path / "model", settings), LOG)
    return history, model.state_dict()


def test_new_model_has_the_shape_and_the_seed():
    one, again, other = (loop.new_model(SHAPE, SETTINGS, 50, seed) for seed in (0, 0, 1))
    config = one.config
    assert (config.hidden_size, config.num_hidden_layers, config.num_attention_heads) == (32, 2, 2)
    assert (config.intermediate_size, config.vocab_size, config.max_position_embeddings) == (128, 50, 32)
    name = "bert.encoder.layer.0.output.dense.weight"
    assert torch.equal(one.state_dict()[name], again.state_dict()[name])
    assert not torch.equal(one.state_dict()[name], other.state_dict()[name])
    assert loop.new_model(SHAPE | {"feed_forward": 40}, SETTINGS, 50, 0).config.intermediate_size == 40


@pytest.mark.parametrize("stop", [3, 6, 11])
def test_interrupted_and_resumed_is_the_same(pairs, special, tokenizer, tmp_path, monkeypatch, stop):
    monkeypatch.setattr(loop, "REPORT_EVERY", 5)
    whole = run(pairs, special, tokenizer, tmp_path / "whole")
    calls, losses = [], loop.losses

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == stop:
            raise Interruption
        return losses(*arguments)

    with monkeypatch.context() as patch, pytest.raises(Interruption):
        patch.setattr(loop, "losses", interrupted)
        run(pairs, special, tokenizer, tmp_path / "parts")
    torch.rand(13)  # another process starts from another random state
    history, resumed = run(pairs, special, tokenizer, tmp_path / "parts")
    assert history == whole[0]
    assert [row["step"] for row in history] == [5, 10, 12]
    for name, tensor in whole[1].items():
        assert torch.equal(tensor, resumed[name]), name


def test_finished_state_is_not_trained_again(pairs, special, tokenizer, tmp_path, monkeypatch):
    first = run(pairs, special, tokenizer, tmp_path)
    monkeypatch.setattr(loop, "losses", None)
    assert run(pairs, special, tokenizer, tmp_path)[0] == first[0]


def test_a_few_steps_reduce_the_loss(pairs, special, tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "REPORT_EVERY", 10)
    history, _ = run(pairs, special, tokenizer, tmp_path, SETTINGS | {"steps": 60, "dropout": 0.0})
    assert history[0]["word_loss"] > 2.5
    assert history[-1]["word_loss"] < 0.75 * history[0]["word_loss"]


def test_a_batch_without_hidden_words_does_no_harm(pairs, special, tokenizer, tmp_path):
    """The last batch of an epoch may be one short pair of which no word is drawn."""
    settings = SETTINGS | {"mask_share": 0.0, "steps": 2}
    history, weights = run(pairs, special, tokenizer, tmp_path, settings)
    assert all(torch.isfinite(tensor).all() for tensor in weights.values())
    assert np.isfinite([row["order_loss"] for row in history]).all()


def test_a_batch_without_hidden_words_leaves_the_report_finite(pairs, special, tokenizer, tmp_path):
    history, _ = run(pairs, special, tokenizer, tmp_path, SETTINGS | {"mask_share": 0.0, "steps": 2})
    assert np.isfinite([row["word_loss"] for row in history]).all()


# --- Muon


def test_matrices_of_blocks_are_muons_and_all_else_is_adams():
    model = loop.new_model(SHAPE, SETTINGS, 50, 0)
    adam, muon = loop.make_optimizers(model, SETTINGS)
    of = [{id(weight) for weight in one.param_groups[0]["params"]} for one in (adam, muon)]
    assert not of[0] & of[1] and of[0] | of[1] == {id(weight) for weight in model.parameters()}
    names = {name for name, weight in model.named_parameters() if id(weight) in of[1]}
    assert len(names) == 2 * 6 and all("encoder.layer" in name and name.endswith("weight") for name in names)
    assert [type(one) for one in loop.make_optimizers(model, SETTINGS | {"muon_learning_rate": None})] == [type(adam)]


# --- losses on held-out text


def test_held_out_losses_are_those_of_a_plain_pass(pairs, special):
    model = loop.new_model(SHAPE, SETTINGS, 130, 0).eval()
    found = loop.held_out_losses(model, pairs, special, 0.3)
    assert found == loop.held_out_losses(model, pairs, special, 0.3)  # fixed pairs and masks
    first, second, is_random = data.draw_pairs(pairs, np.random.default_rng(0))
    batch = data.collate(pairs, first, second, special)
    labels = data.mask_tokens(batch["input_ids"], 0.3, special, 130, torch.Generator().manual_seed(0))
    with torch.no_grad():
        out = model(**batch, labels=labels, next_sentence_label=torch.from_numpy(is_random))
        words, order = loop.losses(model, batch, labels, torch.from_numpy(is_random))
    assert len(first) < 512  # so that both make one batch of it
    assert found["word_loss"] == pytest.approx(float(words), rel=1e-5)
    assert found["next_sentence_loss"] == pytest.approx(float(order), rel=1e-5)
    guess = out.seq_relationship_logits.argmax(1).numpy()
    assert found["next_sentence_accuracy"] == pytest.approx((guess == is_random).mean(), abs=0.02)
