"""Answers as text: SQuAD's metrics, and the selection of a span from scores of its start and end."""

import re
import string
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

N_BEST, LONGEST_ANSWER = 20, 30  # candidate starts and ends; maximum tokens of an answer (BERT's settings for SQuAD)
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalised(text: str) -> str:
    """Normalised as in SQuAD's own script: lower case, no (ASCII) punctuation, no articles, single spaces."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(WITHOUT_PUNCTUATION)).split())


def exact_match(guess: str, reference: str) -> float:
    return float(normalised(guess) == normalised(reference))


def f1(guess: str, reference: str) -> float:
    """F1 of word overlap. If either text is empty after normalisation, 1 only if both are: the rule of SQuAD 2 (in 1.1
    even "the" against "the" scores 0)."""
    guessed, true = normalised(guess).split(), normalised(reference).split()
    if not guessed or not true:
        return float(guessed == true)
    n_common = (Counter(guessed) & Counter(true)).total()
    return 2 * n_common / (len(guessed) + len(true))


def best_over(measure: Callable[[str, str], float], guess: str, references: list[str]) -> float:
    """The best score over references; without references, the expected answer is empty."""
    return max(measure(guess, reference) for reference in references or [""])


def blind_f1(contexts: list[str], references: list[list[str]]) -> float:
    """F1 of a baseline that ignores the questions: the first n words of every context, for the best n."""
    words = [context.split() for context in contexts]
    longest = min(LONGEST_ANSWER, max(map(len, words)))
    return max(
        float(np.mean([best_over(f1, " ".join(of_row[:n]), true) for of_row, true in zip(words, references)]))
        for n in range(1, longest + 1)
    )


class Span(NamedTuple):
    score: float
    first: int  # token
    last: int


def best_span(begins: np.ndarray, ends: np.ndarray) -> Span | None:
    """The best pair among the N_BEST best starts and ends in a context. None: all pairs end before they start, or are
    too long."""
    first, last = (np.argsort(-scores, kind="stable")[:N_BEST] for scores in (begins, ends))
    n_tokens = last[None, :] - first[:, None] + 1
    sums = begins[first][:, None] + ends[last][None, :]
    sums = np.where((n_tokens >= 1) & (n_tokens <= LONGEST_ANSWER), sums, -np.inf)
    if not np.any(sums > -np.inf):
        return None
    row, column = np.unravel_index(sums.argmax(), sums.shape)
    return Span(float(sums[row, column]), int(first[row]), int(last[column]))
