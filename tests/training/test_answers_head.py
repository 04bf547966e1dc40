"""Question answering: SQuAD's measures, windows and offsets under two kinds of tokenizer, learning, and scores."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
import torch
from accelerate.utils import convert_to_fp32
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, BertTokenizer, PreTrainedTokenizerFast

from workflow.lib.base.errors import UserError
from workflow.lib.corpus.tasks.generate import generate
from workflow.lib.data.dataset_files import SCHEMAS
from workflow.lib.training.heads import answer_text, head_class
from workflow.lib.training.heads.answer_text import best_over, best_span, exact_match, f1, normalised
from workflow.lib.training.heads.answers import AnswerHead
from workflow.lib.training.heads.questions import tokens_of_answer
from workflow.lib.training.heads.tunable import Tunable, evaluate
from workflow.lib.training.heads.windows import Frame, Room
from workflow.lib.training.loop import train
from workflow.lib.training.state import SavedState
from workflow.scripts.train_tokenizer import train_wordpiece

torch.set_num_threads(1)
SETTINGS = {
    "precision": "float32", "learning_rate": 3e-3, "layer_decay": 1.0, "weight_decay": 0.0, "head_learning_rate": None,
    "embeddings_rate": "decayed", "adam_epsilon": 1e-8, "epochs": 1, "batch_size": 8, "accumulation": 1,
    "schedule": "slanted", "warmup": 0.1, "clip_norm": 1.0, "save_every": 0, "keep_best": False,
}  # fmt: skip
INFO = {"kind": "qa", "dataset": "q", "labels": []}
HARD = (
    "Café Zürich\u2019s owner, Ms. O'Neill-Łukasz (b. 1972), said: \u201cDon't!\u201d  She paid $3,000.50 "
    "for 東京 noodles 🍜👩‍🍳 and na\u0308ive\u00a0fun.\nTwo\tnew—lines; the end…"
)
FILLER = ["red", "green", "blue", "grey", "pink", "teal", "gold", "navy", "plum", "rose"]


def wordpiece(texts):
    return BertTokenizer(tokenizer_object=train_wordpiece(texts, 150), model_max_length=512)


def byte_level(texts):
    """RoBERTa's: bytes, spaces in the tokens, two separators between the texts of a pair."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    backend.train_from_iterator(texts, trainer)
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=512, **names)


@pytest.fixture(scope="module", params=[wordpiece, byte_level])
def tokenizer(request):
    return request.param([HARD, "what is it who was where key " + " ".join(FILLER)] * 2)


@pytest.fixture(scope="module")
def plain_tokenizer():
    return wordpiece(["what is it who was where key " + " ".join(FILLER)] * 2)


def table_of(*rows) -> pa.Table:
    """(question, context, answer, answer, …); an answer is a text (where it stands first) or a pair (text, start)."""
    records = []
    for number, (question, context, *answers) in enumerate(rows):
        pairs = [answer if isinstance(answer, tuple) else (answer, context.index(answer)) for answer in answers]
        answers = [{"text": text, "start": start} for text, start in pairs]
        records.append({"id": str(number), "question": question, "context": context, "answers": answers})
    return pa.Table.from_pylist(records, schema=SCHEMAS["qa"])


def read(tokenizer, longest, *rows):
    return AnswerHead.read(table_of(*rows), INFO, tokenizer, longest, None)


def target_text(examples, at: int) -> str:
    first, last = examples.answer[examples.windows[at]] - examples.shown(at).start
    return examples.text(at, first, last)


def shown_text(examples, at: int) -> str:
    shown = examples.shown(at)
    return examples.text(at, 0, shown.stop - shown.start - 1)


# --- measures


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The  Cat.", "cat"), ("a an THE", ""), ("An apple, a day!", "apple day"), ("U.S.A.", "usa"), ("", ""),
        ("theatre", "theatre"), ("A-level", "alevel"), ("don't", "dont"), ("a\tb\n c", "b c"), ("café—the", "café—"),
        ("“quoted”", "“quoted”"), ("$3,000.50", "300050"), ("the\u00a0end", "end"),
    ],
)  # fmt: skip
def test_normalisation_as_in_the_official_script(text, expected):
    assert normalised(text) == expected


def slow_f1(guess: str, reference: str) -> float:
    """Precision and recall by striking out one word after the other."""
    guessed, left, common = normalised(guess).split(), normalised(reference).split(), 0
    n_guessed, n_true = len(guessed), len(left)
    if not n_guessed or not n_true:
        return float(n_guessed == n_true)
    for word in guessed:
        if word in left:
            left.remove(word)
            common += 1
    precision, recall = common / n_guessed, common / n_true
    return 2 * precision * recall / (precision + recall) if common else 0.0


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    rng = np.random.default_rng(0)
    for _ in range(300):
        guess, reference = (" ".join(rng.choice(["a", "b", "c", "d.", "the"], size=rng.integers(5))) for _ in range(2))
        assert f1(guess, reference) == pytest.approx(slow_f1(guess, reference))
    assert f1("the red car", "a car") == pytest.approx(2 / 3)
    assert exact_match("The car!", "car") == 1 and exact_match("cars", "car") == 0


def test_the_best_reference_counts():
    assert best_over(f1, "red car", ["blue bus", "a red car", "car"]) == 1
    assert best_over(exact_match, "car", ["red car", "bus"]) == 0
    assert best_over(f1, "", []) == best_over(exact_match, "the", []) == 1
    assert best_over(f1, "car", []) == 0


# --- spans


def slow_span(begins, ends, first_allowed, last_allowed):
    pairs = itertools.product(first_allowed, last_allowed)
    sums = [begins[i] + ends[j] for i, j in pairs if i <= j < i + 30]
    return max(sums, default=None)


@pytest.mark.parametrize("n", [1, 2, 20, 60, 200])
def test_no_span_of_the_best_beginnings_and_ends_is_better(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        begins, ends = rng.normal(size=(2, n)).astype(np.float32)
        tops = (sorted(range(n), key=lambda at: -scores[at])[:20] for scores in (begins, ends))
        expected, span = slow_span(begins, ends, *tops), best_span(begins, ends)
        assert (span and span.score) == (expected and pytest.approx(expected))
        assert span is None or (span.first <= span.last < span.first + 30)
        assert span is None or span.score == pytest.approx(begins[span.first] + ends[span.last])


def test_a_span_is_neither_backward_nor_too_long():
    begins, ends = np.zeros(80), np.zeros(80)
    begins[50], ends[10] = 9, 9
    assert best_span(begins, ends)[1:] != (50, 10)
    ends[:] = 0
    begins[5], ends[34] = 9, 9
    assert best_span(begins, ends) == (18, 5, 34)  # 30 tokens
    ends[34], ends[35] = 0, 9
    assert best_span(begins, ends).score == 9


def test_no_span_where_all_best_ends_come_first_or_scores_are_no_numbers():
    falling = np.arange(60.0)
    assert best_span(falling, -falling) is None
    assert best_span(np.array([]), np.array([])) is None
    assert best_span(np.full(5, np.nan), np.full(5, np.nan)) is None
    assert answer_text.N_BEST == 20 and answer_text.LONGEST_ANSWER == 30


# --- windows


def test_room_has_the_proportions_of_bert_on_squad():
    room = Room(384, 3)
    assert room.question == 64 and room.context(64) == 317
    assert room.windows(64, 317) == [(0, 317)]
    assert room.windows(64, 318) == [(0, 317), (128, 318)]
    assert room.windows(20, 700) == [(0, 361), (128, 489), (256, 617), (384, 700)]


@pytest.mark.parametrize("longest", [6, 9, 17, 64])
def test_windows_leave_no_gap_and_the_last_reaches_the_end(longest):
    room = Room(longest, 3)
    for n_question, n_context in itertools.product({0, 1, room.question}, range(0, 150, 7)):
        windows = room.windows(n_question, n_context)
        assert set().union(*(range(*window) for window in windows)) == set(range(n_context))
        assert windows[-1][1] == n_context and len(set(windows)) == len(windows)
        assert all(end == n_context for begin, end in windows[-1:])
        assert all(n_question + end - begin + 3 == longest for begin, end in windows[:-1])


@pytest.mark.parametrize("context", ["it was red.", HARD, ""])
def test_a_short_pair_is_encoded_as_the_library_does(tokenizer, context):
    question = "what was it?"
    examples = read(tokenizer, 512, (f" {question} ", context))
    theirs, batch = tokenizer([question], [context]), examples.batch(np.array([0]))
    assert len(examples) == 1
    assert {"input_ids", "attention_mask"} <= set(batch.inputs) == set(theirs) & set(batch.inputs)
    for name, values in batch.inputs.items():
        assert values.tolist() == theirs[name]
    context_places = [at for at, text in enumerate(theirs.sequence_ids(0)) if text == 1]
    assert np.flatnonzero(batch.may_win[0]).tolist() == [0, *context_places]


@pytest.mark.parametrize("longest", [36, 48])
def test_windows_are_those_of_the_library(tokenizer, longest):
    question, context = "who?", " ".join([HARD, *FILLER * 4])
    examples = read(tokenizer, longest, (question, context))
    n_question = len(tokenizer(question, add_special_tokens=False)["input_ids"])
    assert n_question <= longest // 6
    width = longest - tokenizer.num_special_tokens_to_add(pair=True) - n_question
    theirs = tokenizer(
        question, context, truncation="only_second", max_length=longest, stride=width - longest // 3,
        return_overflowing_tokens=True, return_offsets_mapping=True,
    )  # fmt: skip
    assert len(examples) == len(theirs["input_ids"]) > 3
    for at in range(len(examples)):
        batch, shown = examples.batch(np.array([at])), examples.shown(at)
        assert all(values[0].tolist() == theirs[name][at] for name, values in batch.inputs.items())
        places = [place for place, text in enumerate(theirs.sequence_ids(at)) if text == 1]
        assert places == list(range(shown.start, shown.stop))
        offsets = [theirs["offset_mapping"][at][place] for place in (places[0], places[-1])]
        # the library trims the space of a byte-level token, but not at the beginning of a window
        assert shown_text(examples, at).strip() == context[offsets[0][0] : offsets[1][1]].strip()


def test_long_questions_are_cut_and_counted(tokenizer):
    long = " ".join(FILLER * 3)
    examples = read(tokenizer, 60, ("what?", "it is red", "red"), (long, "it is red", "red"), (long, "blue", "blue"))
    assert examples.n_truncated == 2 and examples.n_rows == len(examples) == 3
    frame, ids = Frame(tokenizer), tokenizer(long, add_special_tokens=False)["input_ids"]
    window = examples.batch(np.array([1])).inputs["input_ids"][0].tolist()
    assert window[frame.n_before : frame.n_before + 10] == ids[:10]
    assert examples.shown(1).start == frame.place_of_context(10)
    assert shown_text(examples, 1) == "it is red" and target_text(examples, 1) == "red"


def test_too_few_tokens_are_refused(tokenizer):
    frame, context = Frame(tokenizer), " ".join(FILLER)
    for longest in range(1, 12):
        if longest // 6 and longest - frame.n_special - longest // 6 >= 1:
            examples = read(tokenizer, longest, (" ".join(FILLER * 9), context))
            assert examples.lengths.max() == longest and examples.n_shown.min() >= 1
        else:
            with pytest.raises(UserError, match=f"dataset q: of max_tokens {longest}, .*; raise max_tokens of the"):
                read(tokenizer, longest, ("what?", context))


@pytest.mark.parametrize("kind", ["text", "treebank", "spans"])
def test_other_datasets_are_refused(plain_tokenizer, kind):
    with pytest.raises(UserError, match=f"dataset q: head 'answers' needs questions, this is of kind '{kind}'"):
        AnswerHead.read(SCHEMAS[kind].empty_table(), INFO | {"kind": kind}, plain_tokenizer, 64, None)


# --- offsets


def test_every_word_is_found_where_it_stands(tokenizer):
    """Words of a hard text: accents, quotes, other scripts, emoji, money, dashes, odd spaces."""
    starts = [at for at in range(len(HARD)) if not HARD[at].isspace() and (at == 0 or HARD[at - 1].isspace())]
    words = [(HARD[at:].split()[0], at) for at in starts]
    spans = [(HARD[a : b + len(last)], a) for (_, a), (last, b) in itertools.combinations_with_replacement(words, 2)]
    examples = read(tokenizer, 512, *[("who?", HARD, span) for span in spans])
    for at, (text, _) in enumerate(spans):
        assert target_text(examples, at) == text


def test_any_characters_lie_within_the_fewest_tokens(tokenizer):
    """Answers that begin or end within a word or a character's bytes: no token too few, none too many."""
    encoded = tokenizer(HARD, add_special_tokens=False, return_offsets_mapping=True)
    offsets = np.array(encoded["offset_mapping"])
    rng, n_found = np.random.default_rng(0), 0
    for _ in range(400):
        begin = int(rng.integers(len(HARD)))
        end = begin + int(rng.integers(1, 12))
        text = HARD[begin:end]
        found = tokens_of_answer(offsets, [{"text": text, "start": begin}])
        touched = [at for at, (a, b) in enumerate(offsets) if set(range(a, b)) & set(range(begin, begin + len(text)))]
        assert found == ((touched[0], touched[-1]) if touched else None)
        n_found += found is not None
    assert n_found > 300


def test_a_byte_level_tokenizer_splits_characters():
    """Else the tests above would not have met tokens that share a character."""
    offsets = byte_level([HARD])("🍜東", add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    assert len(offsets) > len(set(offsets))
    assert tokens_of_answer(np.array(offsets), [{"text": "東", "start": 1}]) == (
        offsets.index((1, 2)),
        len(offsets) - 1,
    )


def test_no_tokens_for_no_answer():
    offsets = np.array([[0, 3], [4, 7]])
    assert tokens_of_answer(offsets, []) is None
    assert tokens_of_answer(offsets, [{"text": "", "start": 1}]) is None
    assert tokens_of_answer(offsets, [{"text": " ", "start": 3}]) is None  # the tokenizer dropped it
    assert tokens_of_answer(offsets, [{"text": "f g", "start": 2}, {"text": "f", "start": 0}]) == (0, 1)
    assert tokens_of_answer(np.empty((0, 2), int), [{"text": "a", "start": 0}]) is None


def test_the_target_is_in_every_window_that_shows_the_whole_answer_and_in_no_other(tokenizer):
    """Answers of one to nine words at every place of a long context, so also at and across the windows' edges."""
    words = [f"{a}{b}" for a, b in itertools.product(FILLER, FILLER)][:60]  # all different
    context = " ".join(words)
    starts = np.cumsum([0] + [len(word) + 1 for word in words])
    spans = [(" ".join(words[at : at + n]), int(starts[at])) for n in (1, 4, 9) for at in range(len(words) - n + 1)]
    examples = read(tokenizer, 48, *[("who is?", context, span) for span in spans])
    counts, at_edge = {0: 0, 1: 0, 2: 0}, {"first": 0, "last": 0}
    for row, windows in enumerate(examples.windows_of_rows()):
        assert len(windows) > 3
        text, n_with = spans[row][0], 0
        for at in windows:
            first, last = examples.answer[at]
            if first == 0:
                assert last == 0 and text not in shown_text(examples, at)
            else:
                assert target_text(examples, at) == text
                shown = examples.shown(at)
                assert shown.start <= first <= last < shown.stop
                at_edge["first"] += first == shown.start
                at_edge["last"] += last == shown.stop - 1
                n_with += 1
        counts[min(n_with, 2)] += 1
    assert min(at_edge.values()) > 0 and min(counts.values()) > 0  # some in one window, some in several, some in none


def test_the_first_reference_is_learnt_and_questions_without_answer_point_at_cls(tokenizer):
    examples = read(
        tokenizer, 64, ("what?", "red blue red", ("red", 9), "blue", "red"), ("what?", "red", ("", 0)), ("what?", "red")
    )
    batch = examples.batch(np.arange(3))
    assert target_text(examples, 0) == "red" and batch.first[0] > examples.shown(0).start
    assert batch.first[1:].tolist() == batch.last[1:].tolist() == [0, 0]
    assert examples.references == [["red", "blue", "red"], [""], []]


# --- the head


def make(tokenizer, width=16, seed=0, noise=1.0) -> Tunable:
    """`noise` on the head's weights, so that an untrained one has opinions."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=2 * width, max_position_embeddings=512, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, initializer_range=0.1,
    )  # fmt: skip
    model = Tunable(BertModel(config, add_pooling_layer=False), AnswerHead(width, [], {}))
    torch.nn.init.normal_(model.head.linear.weight, std=noise)
    return model


def keyed_table(n: int, seed: int, longest: int = 24) -> pa.Table:
    """Colours, and among them "key": the answer is the two words from there on."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(n):
        words = rng.choice(FILLER, size=rng.integers(8, longest)).tolist()
        at = int(rng.integers(len(words) - 1))
        words[at] = "key"
        context = " ".join(words) + "."
        rows.append(("what is it", context, (f"key {words[at + 1]}", context.index("key"))))
    return table_of(*rows)


@pytest.fixture(scope="module")
def examples(plain_tokenizer):
    """Windows of at most 20 tokens: most contexts need several."""
    return AnswerHead.read(keyed_table(30, 0), INFO, plain_tokenizer, 20, None)


def test_the_head_is_found_by_its_name_and_has_no_labels(examples):
    assert head_class("answers") is AnswerHead and examples.labels == []


def test_rows_are_questions_and_examples_are_windows(examples):
    assert examples.n_rows == 30 < len(examples) == len(examples.lengths) == examples.n_units(np.arange(len(examples)))
    part = examples.part(np.array([7, 2, 20])).part(np.array([2, 0]))
    windows = [at for row in (20, 7) for at in examples.windows_of_rows()[row]]
    assert (
        part.n_rows == 2 and len(part) == len(windows) and part.lengths.tolist() == examples.lengths[windows].tolist()
    )
    batch, whole = part.batch(np.arange(len(part))), examples.batch(np.array(windows))
    assert torch.equal(batch.inputs["input_ids"], whole.inputs["input_ids"])
    assert torch.equal(batch.first, whole.first) and torch.equal(batch.may_win, whole.may_win)
    assert [target_text(part, at) for at in np.flatnonzero(batch.first)] == [
        target_text(examples, at) for at in windows if examples.answer[at, 0]
    ]


@torch.no_grad()
def test_the_loss_is_that_of_plain_loops(plain_tokenizer, examples):
    model, chosen = make(plain_tokenizer).eval(), np.array([3, 0, 8, 5])
    batch = examples.batch(chosen)
    said, expected = model(batch), 0.0
    for line, at in enumerate(chosen):
        alone = examples.batch(np.array([at]))
        states = model.encoder(**alone.inputs).last_hidden_state[0]
        scores, allowed = model.head.linear(states), np.flatnonzero(alone.may_win[0]).tolist()
        n = len(states)
        torch.testing.assert_close(said[line, allowed], scores[allowed], atol=1e-5, rtol=1e-5)
        for column, true in enumerate((alone.first[0], alone.last[0])):
            assert true in allowed
            expected -= (scores[true, column] - scores[allowed, column].logsumexp(0)) / 2
        assert torch.all(said[line, [at for at in range(said.shape[1]) if at not in allowed]] == float("-inf"))
        assert torch.all(said[line, n:] == float("-inf"))
    torch.testing.assert_close(model.head.loss(said, batch), expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def slow_answer(model, tokenizer, question: str, context: str, longest: int, may_be_none: bool) -> str:
    """Window by window with the library's own windows, all spans tried."""
    n_question = len(tokenizer(question, add_special_tokens=False)["input_ids"])
    width = longest - 3 - n_question
    out = tokenizer(
        question, context, truncation="only_second", max_length=longest, stride=width - longest // 3,
        return_overflowing_tokens=True, return_offsets_mapping=True,
    )  # fmt: skip
    best, answer, nothing = -np.inf, "", np.inf
    for at in range(len(out["input_ids"])):
        names = ("input_ids", "token_type_ids", "attention_mask")
        states = model.encoder(**{name: torch.tensor(out[name][at : at + 1]) for name in names}).last_hidden_state[0]
        scores = model.head.linear(states).numpy()
        shown = [place for place, text in enumerate(out.sequence_ids(at)) if text == 1]
        nothing = min(nothing, scores[0].sum())
        for first, last in itertools.product(shown, shown):
            if first <= last < first + 30 and scores[first, 0] + scores[last, 1] > best:
                best = scores[first, 0] + scores[last, 1]
                answer = context[out["offset_mapping"][at][first][0] : out["offset_mapping"][at][last][1]]
    return "" if may_be_none and nothing > best else answer


@pytest.mark.parametrize("some_lack_answers", [False, True])
def test_scores_are_those_of_one_question_at_a_time(plain_tokenizer, some_lack_answers):
    """Contexts of so few tokens that the 20 best are all; two references; both ways of saying nothing."""
    rows, model = keyed_table(25, 5, longest=16).to_pylist(), make(plain_tokenizer, seed=5).eval()
    for row in rows[::3]:
        row["answers"] = [] if some_lack_answers else [{"text": row["context"][:3], "start": 0}, *row["answers"]]
    table = pa.Table.from_pylist(rows, schema=SCHEMAS["qa"])
    examples = AnswerHead.read(table, INFO, plain_tokenizer, 18, None)
    assert len(examples) > examples.n_rows
    guesses = [
        slow_answer(model, plain_tokenizer, row["question"], row["context"], 18, some_lack_answers) for row in rows
    ]
    assert model.head.answers(model, examples) == guesses
    assert ("" in guesses) == some_lack_answers and len(set(guesses)) > 8
    references = [[answer["text"] for answer in row["answers"]] or [""] for row in rows]
    expected = {
        "f1": np.mean([max(slow_f1(guess, r) for r in refs) for guess, refs in zip(guesses, references)]),
        "exact_match": np.mean([normalised(g) in map(normalised, refs) for g, refs in zip(guesses, references)]),
    }
    scores = evaluate(model, examples)
    assert list(scores) == ["f1", "exact_match"] and scores == pytest.approx(expected)
    order = np.array([4, 0, 17])
    assert model.head.answers(model, examples.part(order)) == [guesses[row] for row in order]


class Oracle:
    """Says of every window what is true of it."""

    def said_of(self, examples):
        for at in range(len(examples)):
            batch = examples.batch(np.array([at]))
            said = torch.zeros(1, batch.may_win.shape[1], 2)
            said[0, batch.first[0], 0] += 5
            said[0, batch.last[0], 1] += 5
            yield np.array([at]), batch, said.masked_fill(~batch.may_win.unsqueeze(2), float("-inf"))


@pytest.mark.parametrize("longest", [48, 100, 512])
def test_who_knows_the_targets_scores_one(tokenizer, longest):
    """Through windows, offsets, choice and measure, and back to the text."""
    words = [word for word in HARD.split() if normalised(word)]
    rows = [("who is it?", f"{HARD} {' '.join(FILLER * 5)} {HARD}", word) for word in [*words, *FILLER]]
    examples = read(tokenizer, longest, *rows)
    head = AnswerHead(4, [], {})
    assert head.scores(Oracle(), examples) == {"f1": 1.0, "exact_match": 1.0}
    unanswered = read(tokenizer, longest, *rows, ("what?", HARD))
    assert head.scores(Oracle(), unanswered) == {"f1": 1.0, "exact_match": 1.0}
    assert head.answers(Oracle(), unanswered)[-1] == ""


@pytest.mark.parametrize("of_cls, expected", [((9, 1), "text"), ((1, 9), "text"), ((9, 8), ""), ((1, 1), "text")])
def test_nothing_is_the_answer_if_every_window_says_so(plain_tokenizer, of_cls, expected):
    examples = read(plain_tokenizer, 18, ("what", " ".join(FILLER * 2), "red"), ("what", "red"))
    one_question = examples.part(np.array([0]))

    class Scripted:
        def said_of(self, examples):
            batch = examples.batch(np.arange(2))
            said = torch.zeros(*batch.may_win.shape, 2)
            said[:, 0, 0] = torch.tensor(of_cls)
            said[:, 5] = 2  # the best span: 4 in all
            yield np.arange(2), batch, said

    assert len(one_question) == 2
    answer = AnswerHead(4, [], {}).answers(Scripted(), one_question)[0]
    assert answer in FILLER if expected else answer == ""


def test_a_context_without_tokens_has_no_answer(plain_tokenizer):
    examples = read(plain_tokenizer, 32, ("what?", ""), ("what?", "red", "red"))
    model = make(plain_tokenizer)
    assert model.head.answers(model, examples)[0] == ""
    assert model.head.loss(model(examples.batch(np.arange(2))), examples.batch(np.arange(2))).isfinite()


def run(path, model, examples, **settings):
    settings = SETTINGS | settings
    history = train(model, examples, settings, 7, SavedState(path / "model", settings))
    return history, {name: tensor.clone() for name, tensor in model.state_dict().items()}


def test_a_planted_answer_is_learnt(plain_tokenizer, tmp_path):
    taught = AnswerHead.read(keyed_table(200, 2), INFO, plain_tokenizer, 24, None)
    tested = AnswerHead.read(keyed_table(50, 3), INFO, plain_tokenizer, 24, taught.labels)
    model = make(plain_tokenizer, width=32, noise=0.02)
    before = evaluate(model, tested)
    history, _ = run(tmp_path, model, taught, epochs=10, batch_size=16, learning_rate=1e-2)
    after = evaluate(model, tested)
    assert before["exact_match"] < 0.2 and after["exact_match"] > 0.9 and after["f1"] >= after["exact_match"]
    assert history[-1]["loss"] < 0.2 * history[0]["loss"]


def test_accumulation_changes_nothing(plain_tokenizer, examples, tmp_path):
    settings = {"adam_epsilon": 1e-3, "learning_rate": 1e-3, "epochs": 2}
    whole, parts = (run(tmp_path / str(n), make(plain_tokenizer), examples, accumulation=n, **settings) for n in (1, 3))
    np.testing.assert_allclose([row["loss"] for row in parts[0]], [row["loss"] for row in whole[0]], rtol=1e-5)
    for name, tensor in whole[1].items():
        torch.testing.assert_close(parts[1][name], tensor, rtol=0, atol=5e-6, msg=name)


def test_the_same_seed_gives_the_same_bits(plain_tokenizer, examples, tmp_path):
    first, again = (run(tmp_path / name, make(plain_tokenizer), examples) for name in "ab")
    assert first[0][0]["loss"] == again[0][0]["loss"]
    assert all(torch.equal(tensor, again[1][name]) for name, tensor in first[1].items())


def test_half_precision_gives_nearly_the_same(plain_tokenizer, examples):
    model, batch = make(plain_tokenizer), examples.batch(np.arange(10))
    with torch.no_grad():
        exact = model.head.loss(model(batch), batch)
    with torch.autocast("cpu", torch.bfloat16):
        loss = model.head.loss(convert_to_fp32(model(batch)), batch)
    loss.backward()
    torch.testing.assert_close(loss.detach(), exact, rtol=0.02, atol=0)


def test_on_the_embedded_questions():
    rows = generate("squad", "train", {"train": 60}, 1)
    tokenizer = wordpiece([row["context"] for row in rows])
    examples = AnswerHead.read(pa.Table.from_pylist(rows, schema=SCHEMAS["qa"]), INFO, tokenizer, 36, None)
    assert examples.n_rows == 60 < len(examples) and examples.lengths.max() == 36  # some have several windows
    model, batch = make(tokenizer), examples.batch(np.arange(20))
    said = model(batch)
    assert said.shape == (20, batch.may_win.shape[1], 2) and model.head.loss(said, batch).isfinite()
    assert AnswerHead(4, [], {}).scores(Oracle(), examples) == {"f1": 1.0, "exact_match": 1.0}
    assert set(model.head.answers(model, examples)) - {""}
