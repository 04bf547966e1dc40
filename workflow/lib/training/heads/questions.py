"""Examples of the question-answering head: each is one window of a question's context."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import torch
from transformers import PreTrainedTokenizerBase

from workflow.lib.base.errors import UserError
from workflow.lib.encoders.tokenization import Encoded
from workflow.lib.training.heads.rows import FromRows
from workflow.lib.training.heads.windows import Frame, Room


@dataclass(frozen=True)
class AnswerBatch:
    inputs: dict[str, torch.Tensor]
    may_win: torch.Tensor  # (windows, tokens) True for the context, and for [CLS], which means "not in this window"
    first: torch.Tensor  # first token of the answer; 0, which is [CLS]: not in this window
    last: torch.Tensor


@dataclass(frozen=True)
class AnswerExamples(FromRows):
    """Windows, ordered by question; `rows` are the questions in use, with all their windows."""

    encoded: Encoded  # of the windows
    question: np.ndarray  # each window's question
    begin: np.ndarray  # first context token in the window
    n_shown: np.ndarray  # number of context tokens in the window
    place: np.ndarray  # position of the first of them in the window
    answer: np.ndarray  # (windows, 2) positions of the answer's first and last token; 0: not in this window
    offsets: list[np.ndarray]  # for each question: character offsets of its context's tokens, (tokens, 2)
    contexts: list[str]
    references: list[list[str]]
    rows: np.ndarray
    labels: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.windows)

    @cached_property
    def windows(self) -> np.ndarray:
        """Indices of the windows in use, row by row."""
        return np.concatenate(self._windows_by_row)

    @cached_property
    def _windows_by_row(self) -> list[np.ndarray]:
        first = np.searchsorted(self.question, np.arange(len(self.contexts) + 1))
        return [np.arange(first[row], first[row + 1]) for row in self.rows]

    def windows_of_rows(self) -> list[np.ndarray]:
        """For each row, its examples, numbered as in `batch`."""
        return np.split(np.arange(len(self)), np.cumsum([len(windows) for windows in self._windows_by_row])[:-1])

    @cached_property
    def some_lack_answers(self) -> bool:
        return not all(self.references)

    @property
    def lengths(self) -> np.ndarray:
        return self.encoded.lengths[self.windows]

    def n_units(self, chosen: np.ndarray) -> int:
        return len(chosen)

    def batch(self, chosen: np.ndarray, device: str | torch.device = "cpu") -> AnswerBatch:
        windows = self.windows[chosen]
        inputs = self.encoded.batch(windows, device)
        token = np.arange(inputs["input_ids"].shape[1])
        place, n_shown = self.place[windows, None], self.n_shown[windows, None]
        may_win = (token == 0) | ((token >= place) & (token < place + n_shown))
        columns = may_win, *self.answer[windows].T
        return AnswerBatch(inputs, *(torch.from_numpy(column).to(device) for column in columns))

    def shown(self, at: int) -> slice:
        """Positions of the context in an example."""
        window = self.windows[at]
        return slice(self.place[window], self.place[window] + self.n_shown[window])

    def text(self, at: int, first: int, last: int) -> str:
        """The context's text from an example's `first` to its `last` token, counted within `shown`."""
        window = self.windows[at]
        context, offsets = self.contexts[self.question[window]], self.offsets[self.question[window]]
        return context[offsets[self.begin[window] + first, 0] : offsets[self.begin[window] + last, 1]]


def tokens_of_answer(offsets: np.ndarray, answers: list[dict]) -> tuple[int, int] | None:
    """First and last token that overlap the (first) answer. None: no answer, or no token overlaps it.

    Byte-level tokens may be parts of a character, and then share its offsets, or only a space, with empty offsets.
    """
    if not answers:
        return None
    begin, end = answers[0]["start"], answers[0]["start"] + len(answers[0]["text"])
    tokens = np.flatnonzero(np.minimum(offsets[:, 1], end) > np.maximum(offsets[:, 0], begin))
    return (int(tokens[0]), int(tokens[-1])) if len(tokens) else None


def read_questions(table: pa.Table, info: dict, tokenizer: PreTrainedTokenizerBase, longest: int) -> AnswerExamples:
    if info["kind"] != "qa":
        raise UserError(f"dataset {info['dataset']}: head 'answers' needs questions, this is of kind '{info['kind']}'")
    frame = Frame(tokenizer)
    room = Room(longest, frame.n_special)
    room.check(info["dataset"])
    contexts, answers = table["context"].to_pylist(), table["answers"].to_pylist()
    # verbose=False: no warning about long texts, which are split into windows
    plain = {"add_special_tokens": False, "verbose": False}
    questions = tokenizer([text.strip() for text in table["question"].to_pylist()], **plain)["input_ids"]
    number = {text: at for at, text in enumerate(dict.fromkeys(contexts))}  # several questions share a context
    texts = tokenizer(list(number), return_offsets_mapping=True, **plain)
    ids = [np.array(of_text, np.int32) for of_text in texts["input_ids"]]
    offsets = [np.array(of_text, np.int32).reshape(-1, 2) for of_text in texts["offset_mapping"]]
    inputs, columns = {name: [] for name in frame.parts}, []
    for row, question in enumerate(questions):
        question, context = np.array(question[: room.question], np.int32), number[contexts[row]]
        place, answer = frame.place_of_context(len(question)), tokens_of_answer(offsets[context], answers[row])
        for begin, end in room.windows(len(question), len(ids[context])):
            for name, values in frame.around(question, ids[context][begin:end]).items():
                inputs[name].append(values)
            is_shown = answer is not None and begin <= answer[0] and answer[1] < end
            first, last = (place + token - begin for token in answer) if is_shown else (0, 0)
            columns.append((row, begin, end - begin, place, first, last))
    row, begin, n_shown, place, *answer = np.array(columns, dtype=np.int64).T
    return AnswerExamples(
        Encoded(
            inputs=inputs,
            lengths=np.array([len(of_window) for of_window in inputs["input_ids"]]),
            n_truncated=sum(len(question) > room.question for question in questions),
            pad={"input_ids": tokenizer.pad_token_id, "token_type_ids": 0, "attention_mask": 0},
            word_of=[],
            special=[],
        ),
        row, begin, n_shown, place, np.stack(answer, axis=1),
        [offsets[number[text]] for text in contexts],
        contexts,
        [[answer["text"] for answer in of_row] for of_row in answers],
        np.arange(len(contexts)),
    )  # fmt: skip
