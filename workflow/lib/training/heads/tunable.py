"""An encoder with a head, and the interface of heads."""

from collections.abc import Iterator
from typing import Protocol, Self

import numpy as np
import pyarrow as pa
import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import BaseModelOutput

from workflow.lib.encoders.batches import sorted_batches
from workflow.lib.encoders.states import forward


class Batch(Protocol):
    inputs: dict[str, torch.Tensor]  # for the encoder; other fields are for the head


class Examples(Protocol):
    """A dataset that batches are drawn from. An example passes through the encoder once: it is a row, or a window of a
    long row; `lengths` and `batch` refer to examples, `n_rows` and `part` to the dataset's rows."""

    labels: list[str]  # names of the training rows' labels, by number; empty if a head has none
    n_rows: int
    n_truncated: int
    lengths: np.ndarray

    def __len__(self) -> int: ...

    def part(self, rows: np.ndarray) -> Self: ...

    def n_units(self, chosen: np.ndarray) -> int:
        """Number of units that the loss is averaged over."""

    def batch(self, chosen: np.ndarray, device: str | torch.device = "cpu") -> Batch: ...


class Head(nn.Module):
    """Reads the last layer (see `reads`). Its sizes depend on the encoder, the labels and the task's settings."""

    @classmethod
    def read(
        cls, table: pa.Table, info: dict, tokenizer: PreTrainedTokenizerBase, longest: int, labels: list[str] | None
    ) -> Examples:
        """Examples of a dataset. `labels`: those of the training rows; None to collect them from this dataset."""
        raise NotImplementedError

    def __init__(self, width: int, labels: list[str], settings: dict):
        super().__init__()

    @classmethod
    def on(cls, encoder: PreTrainedModel, labels: list[str], settings: dict) -> Self:
        """A new head on an encoder, whose pooler it does not read: not trained, not stored."""
        encoder.pooler = None
        return cls(encoder.config.hidden_size, labels, settings)

    def reads(self, output: BaseModelOutput) -> torch.Tensor:
        """What it takes of the encoder's output: the last hidden states (examples, tokens, width)."""
        return output.last_hidden_state

    def forward(self, states: torch.Tensor, batch: Batch):
        """The head's output for a batch, from what it reads."""
        raise NotImplementedError

    def loss(self, said, batch: Batch) -> torch.Tensor:
        """The loss, summed over the batch's units."""
        raise NotImplementedError

    # does `outcomes` have one entry per row of the dataset? Then it is stored, for intervals over test rows
    outcomes_are_rows = False

    def outcomes(self, model: "Tunable", examples: Examples) -> dict[str, np.ndarray]:
        """What the model answers, unit by unit: all that the metrics are made from."""
        raise NotImplementedError

    def metrics(self, outcomes: dict[str, np.ndarray]) -> dict[str, float]:
        """The task's metrics in 0..1 (Matthews: -1..1), the main one first: `keep_best` and curves read that."""
        raise NotImplementedError

    def scores(self, model: "Tunable", examples: Examples) -> dict[str, float]:
        return self.metrics(self.outcomes(model, examples))


class Tunable(nn.Module):
    """An encoder and a head. `fixed`: the encoder gives fixed features, without dropout (recipe `frozen`). An encoder
    with all layers frozen by `freeze-k`, the end of a freezing curve, has dropout like the curve's other points."""

    def __init__(self, encoder: PreTrainedModel, head: Head, fixed: bool = False):
        super().__init__()
        self.encoder, self.head, self.is_fixed = encoder, head, fixed
        self.is_frozen = not any(parameter.requires_grad for parameter in encoder.parameters())

    def train(self, mode: bool = True):
        super().train(mode)
        if self.is_fixed:
            self.encoder.eval()
        return self

    def forward(self, batch: Batch):
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            output = forward(self.encoder, batch.inputs)
        return self.head(self.head.reads(output), batch)

    @torch.no_grad()
    def said_of(self, examples: Examples, batch_size: int = 64) -> Iterator[tuple[np.ndarray, Batch, object]]:
        """(example numbers, batch, head output) for all examples, without dropout, shortest examples first."""
        self.eval()
        device = next(self.parameters()).device
        for chosen in sorted_batches(examples.lengths, batch_size):
            batch = examples.batch(chosen, device)
            yield chosen, batch, self(batch)


def evaluate(model: Tunable, examples: Examples) -> dict[str, float]:
    return model.head.scores(model, examples)
