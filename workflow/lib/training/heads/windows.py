"""Question and context as one input; a long context is split into several overlapping windows."""

from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerBase

from workflow.lib.base.errors import UserError

# BERT on SQuAD: of 384 tokens the question may take 64, and a new window begins every 128. Other lengths keep these
# proportions: with 64 tokens, a question of 64 would leave nothing for the context
OF_QUESTION, OF_STEP = 6, 3  # a sixth and a third of the longest input


@dataclass(frozen=True)
class Room:
    """How many tokens of an input the question and the context may take."""

    longest: int
    n_special: int

    @property
    def question(self) -> int:
        return self.longest // OF_QUESTION

    def context(self, n_question: int) -> int:
        return self.longest - self.n_special - n_question

    def check(self, dataset: str) -> None:
        if self.question < 1 or self.context(self.question) < 1:
            raise UserError(
                f"dataset {dataset}: of max_tokens {self.longest}, {self.n_special} are special, {self.question} for "
                f"the question and {self.context(self.question)} left for the context; raise max_tokens of the task"
            )

    def windows(self, n_question: int, n_context: int) -> list[tuple[int, int]]:
        """Half-open ranges of the context's tokens; the last one ends with the context."""
        width = self.context(n_question)
        step = max(1, min(self.longest // OF_STEP, width))  # at most the window's width, so that there are no gaps
        begins = [0]
        while begins[-1] + width < n_context:
            begins.append(begins[-1] + step)
        return [(begin, min(begin + width, n_context)) for begin in begins]


class Frame:
    """The special tokens that a tokenizer adds before, between and after two texts, and its token types, taken from a
    tokenised pair."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        pair = tokenizer("a", "a")
        names = [name for name in ("input_ids", "token_type_ids", "attention_mask") if name in pair]
        text = [-1 if text is None else text for text in pair.sequence_ids(0)]
        a, b, end = text.index(0), text.index(1), len(text)
        after_a, after_b = end - text[::-1].index(0), end - text[::-1].index(1)
        self.n_before, self.n_between = a, b - after_a
        self.n_special = text.count(-1)
        self.parts = {name: np.split(np.array(pair[name], np.int32), [a, after_a, b, after_b]) for name in names}

    def around(self, question: np.ndarray, context: np.ndarray) -> dict[str, np.ndarray]:
        """All model inputs of a pair, from the token ids of both."""
        inputs = {}
        for name, (before, of_question, between, of_context, after) in self.parts.items():
            if name == "input_ids":
                of_question, of_context = question, context
            else:  # the same for each token of a text
                of_question, of_context = (
                    np.full(len(ids), values[0]) for ids, values in ((question, of_question), (context, of_context))
                )
            inputs[name] = np.concatenate([before, of_question, between, of_context, after]).astype(np.int32)
        return inputs

    def place_of_context(self, n_question: int) -> int:
        return self.n_before + n_question + self.n_between
