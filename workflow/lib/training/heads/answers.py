"""Extractive question answering: predicts the start and the end of the answer in the context."""

import numpy as np
import pyarrow as pa
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerBase

from workflow.lib.training.heads.answer_text import best_over, best_span, exact_match, f1
from workflow.lib.training.heads.questions import AnswerBatch, AnswerExamples, read_questions
from workflow.lib.training.heads.tunable import Head, Tunable


class AnswerHead(Head):
    """One linear layer with two outputs per token, without dropout, as in BERT's own code."""

    def __init__(self, width: int, labels: list[str], settings: dict):
        super().__init__(width, labels, settings)
        self.linear = nn.Linear(width, 2)
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    @classmethod
    def read(
        cls, table: pa.Table, info: dict, tokenizer: PreTrainedTokenizerBase, longest: int, labels: list[str] | None
    ) -> AnswerExamples:
        return read_questions(table, info, tokenizer, longest)

    def forward(self, states: torch.Tensor, batch: AnswerBatch) -> torch.Tensor:
        """(windows, tokens, 2) scores of the answer's first and last token."""
        return self.linear(states).masked_fill(~batch.may_win.unsqueeze(2), float("-inf"))

    def loss(self, said: torch.Tensor, batch: AnswerBatch) -> torch.Tensor:
        of_first = cross_entropy(said[:, :, 0], batch.first, reduction="sum")
        return (of_first + cross_entropy(said[:, :, 1], batch.last, reduction="sum")) / 2

    outcomes_are_rows = True

    def outcomes(self, model: Tunable, examples: AnswerExamples) -> dict[str, np.ndarray]:
        """Both measures of every question."""
        guesses, references = self.answers(model, examples), [examples.references[row] for row in examples.rows]
        return {
            name: np.array([best_over(measure, *pair) for pair in zip(guesses, references)], dtype=float)
            for name, measure in (("f1", f1), ("exact_match", exact_match))
        }

    def metrics(self, outcomes: dict[str, np.ndarray]) -> dict[str, float]:
        return {name: float(values.mean()) for name, values in outcomes.items()}

    def answers(self, model: Tunable, examples: AnswerExamples) -> list[str]:
        """For each question, the best span of all its windows as text, or no answer ("").

        No answer is possible only if some questions have none (SQuAD 2, not the paper's 1.1): it is chosen if even the
        lowest [CLS] score of the windows is higher than every span's score.
        """
        spans, nothing = [None] * len(examples), np.empty(len(examples))
        for chosen, _, said in model.said_of(examples):
            for at, scores in zip(chosen, said.float().cpu().numpy()):
                spans[at], nothing[at] = best_span(*scores[examples.shown(at)].T), scores[0].sum()
        guesses = []
        for windows in examples.windows_of_rows():
            found = [(at, spans[at]) for at in windows if spans[at] is not None]
            at, best = max(found, key=lambda pair: pair[1].score, default=(None, None))
            if best is None or (examples.some_lack_answers and nothing[windows].min() > best.score):
                guesses.append("")
            else:
                guesses.append(examples.text(at, best.first, best.last))
        return guesses
