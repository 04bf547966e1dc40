"""Maps spans of words to ranges of cached tokens.

The cache stores each token's word as given by the tokenizer, so that nothing is guessed from the tokens' spelling:
contractions, unknown words and byte-level pieces need no special treatment.
"""

import numpy as np

from workflow.lib.base.errors import UserError


def ranges(first: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The members of all ranges, concatenated: first[0], first[0] + 1, ... (size[0] of them), first[1], ..."""
    ends = np.cumsum(size)
    return np.repeat(first - (ends - size), size) + np.arange(ends[-1] if len(ends) else 0)


def first_tokens(
    example: np.ndarray, word: np.ndarray, n_words: np.ndarray, needed: np.ndarray, where: str
) -> tuple[np.ndarray, ...]:
    """(tokens, first): `tokens` are the cached rows that belong to words. With the words of all examples numbered
    consecutively, the tokens of word w are tokens[first[w] : first[w + 1]], and likewise for spans of words.

    `needed`: (words,) True for words inside spans, whose tokens must be in the cache."""
    tokens = np.flatnonzero(word >= 0)
    offset = np.cumsum(n_words) - n_words
    example, word = example[tokens], word[tokens]
    strange = (example >= len(n_words)) | (word >= n_words[np.minimum(example, len(n_words) - 1)])
    if strange.any():
        at = int(np.argmax(strange))
        lacking = f"a token of word {word[at]} of row {example[at]}, which the dataset lacks"
        raise UserError(f"{where} has {lacking}; delete it and run again")
    numbers = offset[example] + word
    first = np.searchsorted(numbers, np.arange(n_words.sum() + 1))
    bare = np.flatnonzero((np.diff(first) == 0) & needed)
    if len(bare) or (np.diff(numbers) < 0).any():
        row = int(np.searchsorted(offset, bare[0], side="right")) - 1 if len(bare) else 0
        lost = f"{len(bare)} words without a token, the first in row {row}" if len(bare) else "tokens out of order"
        raise UserError(f"{where} has {lost}: rows were cut or belong to other data; delete it and run again")
    return tokens, first
