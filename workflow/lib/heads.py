"""What stands on an encoder during fine-tuning, and the pair of both."""

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow.lib.encoders.states import model_inputs


class SequenceHead(nn.Module):
    """One linear layer on the last layer's [CLS] vector. No pooler: its tanh would stand between task and vector."""

    def __init__(self, width: int, n_labels: int, dropout: float):
        super().__init__()
        self.dropout, self.linear = nn.Dropout(dropout), nn.Linear(width, n_labels)
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def forward(self, last_hidden_state: torch.Tensor) -> torch.Tensor:
        return self.linear(self.dropout(last_hidden_state[:, 0]))


HEADS = {"sequence": SequenceHead}


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

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            states = self.encoder(**model_inputs(self.encoder, batch)).last_hidden_state
        return self.head(states)
