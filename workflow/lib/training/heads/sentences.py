"""Examples of the parser: sentences with their dependency trees."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import torch
from transformers import PreTrainedTokenizerBase

from workflow.lib.base.errors import UserError
from workflow.lib.encoders.tokenization import Encoded, encode
from workflow.lib.encoders.unit_pooling import BatchTokens
from workflow.lib.training.heads.rows import WholeRows


@dataclass(frozen=True)
class TreeBatch:
    """The concatenated words of all sentences in a batch, with their positions and gold trees."""

    inputs: dict[str, torch.Tensor]
    tokens: BatchTokens
    line: torch.Tensor  # sentence of the batch
    place: torch.Tensor  # position in the sentence: 1, 2, …; 0 is the root
    n_words: torch.Tensor  # number of words in the word's sentence
    heads: torch.Tensor  # position of the head
    labels: torch.Tensor  # -1: a relation that does not occur in the training rows


@dataclass(frozen=True)
class TreeExamples(WholeRows):
    """Tokenised sentences and their trees; `rows` are the sentences in use."""

    encoded: Encoded
    heads: np.ndarray  # of all words, sentence by sentence
    numbers: np.ndarray  # of their relations
    labels: list[str]
    rows: np.ndarray

    def n_words(self, chosen: np.ndarray) -> np.ndarray:
        return self.words.offset[self.rows[chosen] + 1] - self.words.offset[self.rows[chosen]]

    def n_units(self, chosen: np.ndarray) -> int:
        return int(self.n_words(chosen).sum())

    def batch(self, chosen: np.ndarray, device: str | torch.device = "cpu") -> TreeBatch:
        rows, n_words = self.rows[chosen], self.n_words(chosen)
        line = np.repeat(np.arange(len(rows)), n_words)
        word = np.arange(len(line)) - np.repeat(np.cumsum(n_words) - n_words, n_words)
        at = self.words.offset[rows][line] + word
        columns = line, word + 1, n_words[line], self.heads[at], self.numbers[at]
        return TreeBatch(
            self.encoded.batch(rows, device),
            self.word_tokens(rows[line], word, line, int(self.encoded.lengths[rows].max())),
            *(torch.from_numpy(column).to(device) for column in columns),
        )


def read_trees(
    table: pa.Table, info: dict, tokenizer: PreTrainedTokenizerBase, longest: int, labels: list[str] | None
) -> TreeExamples:
    """Examples of a treebank. `labels` None: the relations that occur, sorted."""
    if info["kind"] != "treebank":
        raise UserError(f"dataset {info['dataset']}: head 'parser' needs a treebank, this is of kind '{info['kind']}'")
    names = table["deprel"].combine_chunks().flatten().to_pylist()
    labels = labels or sorted(set(names))
    number = {name: at for at, name in enumerate(labels)}
    return TreeExamples(
        encode(table, info, tokenizer, longest, by_word=True),
        table["head"].combine_chunks().flatten().to_numpy().astype(np.int64),
        np.array([number.get(name, -1) for name in names], dtype=np.int64),
        labels,
        np.arange(len(table)),
    )
