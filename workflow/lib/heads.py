"""What stands on an encoder during fine-tuning, and the pair of both."""

from collections.abc import Sequence

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow.lib.encoders.states import model_inputs
from workflow.lib.pieces import Pieces, mean_of_pieces


class LinearHead(nn.Module):
    """One linear layer on what it reads of the last layer: the vectors that probes read later, nothing in between."""

    n_vectors = 1

    def __init__(self, width: int, n_labels: int, dropout: float):
        super().__init__()
        self.dropout, self.linear = nn.Dropout(dropout), nn.Linear(self.n_vectors * width, n_labels)
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def read(self, states: torch.Tensor, words: Sequence[Pieces]) -> torch.Tensor:
        raise NotImplementedError

    def forward(self, states: torch.Tensor, words: Sequence[Pieces] = ()) -> torch.Tensor:
        return self.linear(self.dropout(self.read(states, words)))


class SequenceHead(LinearHead):
    """Reads [CLS]. No pooler: its tanh would stand between task and vector."""

    def read(self, states: torch.Tensor, words: Sequence[Pieces]) -> torch.Tensor:
        return states[:, 0]


class WordHead(LinearHead):
    """Reads the mean of a word's pieces."""

    def read(self, states: torch.Tensor, words: Sequence[Pieces]) -> torch.Tensor:
        return torch.cat([mean_of_pieces(states, pieces) for pieces in words], dim=1)


class WordPairHead(WordHead):
    """Reads a word and its syntactic head, one after the other."""

    n_vectors = 2


HEADS = {"sequence": SequenceHead, "word": WordHead, "word_pair": WordPairHead}


class Tunable(nn.Module):
    """An encoder and a head. An encoder with nothing to learn gives fixed features: no dropout, no gradients."""

    def __init__(self, encoder: PreTrainedModel, head: nn.Module):
        super().__init__()
        self.encoder, self.head = encoder, head
        self.is_frozen = not any(parameter.requires_grad for parameter in encoder.parameters())

    def train(self, mode: bool = True):
        super().train(mode)
        if self.is_frozen:
            self.encoder.eval()
        return self

    def forward(self, inputs: dict[str, torch.Tensor], words: Sequence[Pieces] = ()) -> torch.Tensor:
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            states = self.encoder(**model_inputs(self.encoder, inputs)).last_hidden_state
        return self.head(states, words)
