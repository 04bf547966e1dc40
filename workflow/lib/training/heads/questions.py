"""Questions with their contexts, as the answering head reads them: an example is one window of a question's context."""

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
    may_win: torch.Tensor  # (windows, tokens) those of the context, and [CLS], which says "not in this window"
    first: torch.Tensor  # token of the answer; 0, which is [CLS]: not in this window
    last: torch.Tensor


@dataclass(frozen=True)
class AnswerExamples(FromRows):
    """Windows in the order of their questions; `rows` are the questions that take part, with all their windows."""

    encoded: Encoded  # windows
    question: np.ndarray  # of each window
    begin: np.ndarray  # first token of the context that the window shows
    n_shown: np.ndarray  # how many it shows
    place: np.ndarray  # where in the window the first of them stands
    answer: np.ndarray  # (windows, 2) places of the answer's first and last token; 0: not in this window
    offsets: list[np.ndarray]  # for each question: characters of its context's tokens, (tokens, 2)
    contexts: list[str]
    references: list[list[str]]
    rows: np.ndarray
    labels: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.windows)

    @cached_property
    def windows(self) -> np.ndarray:
        """Numbers of the examples: those of the first of the rows, those of the second, …"""
        return np.concatenate(self._windows_by_row)

    @cached_property
    def _windows_by_row(self) -> list[np.ndarray]:
        first = np.searchsorted(self.question, np.arange(len(self.contexts) + 1))
        return [np.arange(first[row], first[row + 1]) for row in self.rows]

    def windows_of_rows(self) -> list[np.ndarray]:
        """For each of the rows its examples, as `batch` counts them."""
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
        """Where the context stands in an example."""
        window = self.windows[at]
        return slice(self.place[window], self.place[window] + self.n_shown[window])

    def text(self, at: int, first: int, last: int) -> str:
        """The context from an example's `first` to its `last` token, counted within `shown`."""
        window = self.windows[at]
        context, offsets = self.contexts[self.question[window]], self.offsets[self.question[window]]
        return context[offsets[self.begin[window] + first, 0] : offsets[self.begin[window] + last, 1]]


def tokens_of_answer(offsets: np.ndarray, answers: list[dict]) -> tuple[int, int] | None:
    """First and last token with a character of the (first) answer. None: there is none, or no token has any of it.

    Byte-level tokens may have a part of a character, whose offsets they then share, or nothing but a space: no offsets.
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
    # verbose: no warning about long texts, that is what windows are for
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
