"""Classification of texts, words or pairs of words: one linear layer on vectors of the last layer."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import torch
from sklearn.metrics import accuracy_score, matthews_corrcoef
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerBase

from workflow.lib.base.tasks import TEXT_HEADS
from workflow.lib.data.labelled_units import Units, label_numbers, labelled_units, vocabulary
from workflow.lib.encoders.tokenization import Encoded, encode
from workflow.lib.encoders.unit_pooling import BatchTokens, mean_of_tokens
from workflow.lib.training.heads.rows import WholeRows
from workflow.lib.training.heads.tunable import Head, Tunable


@dataclass(frozen=True)
class UnitBatch:
    inputs: dict[str, torch.Tensor]
    words: list[BatchTokens]  # none for texts, one entry for words, two for pairs
    labels: torch.Tensor


@dataclass(frozen=True)
class UnitExamples(WholeRows):
    """Tokenised rows and their labelled units; `rows` are the rows in use, with all their units."""

    encoded: Encoded
    units: Units
    labels: list[str]
    numbers: np.ndarray  # of each unit's label
    rows: np.ndarray

    @cached_property
    def first_unit(self) -> np.ndarray:
        """Units are ordered by example: those of row r are first_unit[r] … first_unit[r + 1] - 1."""
        return np.searchsorted(self.units.example, np.arange(len(self.encoded.lengths) + 1))

    def units_of(self, chosen: np.ndarray) -> np.ndarray:
        begin, end = self.first_unit[self.rows[chosen]], self.first_unit[self.rows[chosen] + 1]
        return np.concatenate([np.arange(a, b) for a, b in zip(begin, end)])

    def n_units(self, chosen: np.ndarray) -> int:
        return len(self.units_of(chosen))

    def batch(self, chosen: np.ndarray, device: str | torch.device = "cpu") -> UnitBatch:
        rows, at = self.rows[chosen], self.units_of(chosen)
        line = np.repeat(np.arange(len(rows)), self.first_unit[rows + 1] - self.first_unit[rows])
        width = int(self.encoded.lengths[rows].max())
        words = [self.word_tokens(rows[line], of_units[at], line, width) for of_units in self.units.words]
        return UnitBatch(self.encoded.batch(rows, device), words, torch.from_numpy(self.numbers[at]).to(device))


class LinearHead(Head):
    """Reads exactly the vectors that probes read later, with no layer in between."""

    name, n_vectors = "", 1

    def __init__(self, width: int, labels: list[str], settings: dict):
        super().__init__(width, labels, settings)
        self.n_labels = len(labels)
        self.dropout, self.linear = nn.Dropout(settings["dropout"]), nn.Linear(self.n_vectors * width, len(labels))
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    @classmethod
    def read(
        cls, table: pa.Table, info: dict, tokenizer: PreTrainedTokenizerBase, longest: int, labels: list[str] | None
    ) -> UnitExamples:
        units = labelled_units(table, info, cls.name)
        labels = labels or vocabulary(units, info)
        encoded = encode(table, info, tokenizer, longest, by_word=cls.name not in TEXT_HEADS)
        return UnitExamples(encoded, units, labels, label_numbers(units, labels), np.arange(len(table)))

    def vectors(self, states: torch.Tensor, batch: UnitBatch) -> torch.Tensor:
        raise NotImplementedError

    def forward(self, states: torch.Tensor, batch: UnitBatch) -> torch.Tensor:
        return self.linear(self.dropout(self.vectors(states, batch)))

    def loss(self, said: torch.Tensor, batch: UnitBatch) -> torch.Tensor:
        return cross_entropy(said, batch.labels, reduction="sum")

    def outcomes(self, model: Tunable, examples: UnitExamples) -> dict[str, np.ndarray]:
        """True and predicted labels by number, in the order of the dataset's units."""
        found = [
            (examples.units_of(chosen), batch.labels.cpu().numpy(), said.argmax(dim=1).cpu().numpy())
            for chosen, batch, said in model.said_of(examples)
        ]
        unit, truth, guess = map(np.concatenate, zip(*found))
        order = np.argsort(unit)
        return {"truth": truth[order], "guess": guess[order]}

    def metrics(self, outcomes: dict[str, np.ndarray]) -> dict[str, float]:
        answers = outcomes["truth"], outcomes["guess"]
        return {"accuracy": accuracy_score(*answers), "matthews": matthews_corrcoef(*answers)}


class SequenceHead(LinearHead):
    """Reads [CLS], without a pooler, whose tanh would come between the vector and the classifier."""

    name, outcomes_are_rows = "sequence", True

    def vectors(self, states: torch.Tensor, batch: UnitBatch) -> torch.Tensor:
        return states[:, 0]


class WordHead(LinearHead):
    """Reads the mean of a word's tokens."""

    name = "word"

    def vectors(self, states: torch.Tensor, batch: UnitBatch) -> torch.Tensor:
        return torch.cat([mean_of_tokens(states, tokens) for tokens in batch.words], dim=1)


class WordPairHead(WordHead):
    """Reads the concatenated vectors of a word and its syntactic head."""

    name, n_vectors = "word_pair", 2


HEADS = {head.name: head for head in (SequenceHead, WordHead, WordPairHead)}
