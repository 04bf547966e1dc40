"""The layers of a biaffine parser (Dozat and Manning 2017): a word in a role, and how well two words fit each other."""

import torch
from torch import nn
from torch.nn.functional import dropout, leaky_relu, pad

SLOPE = 0.1  # of the leaky ReLU below 0, as in their parser


class Role(nn.Module):
    """What a word is as a dependent, or as a head: one layer.

    A unit is dropped in all words of a sentence or in none, as theirs are: then heads compete on equal terms.
    """

    def __init__(self, width: int, size: int, share_dropped: float):
        super().__init__()
        self.linear, self.share_dropped = nn.Linear(width, size), share_dropped
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        """(sentences, words, size)"""
        hidden = leaky_relu(self.linear(nodes), SLOPE)
        kept = dropout(hidden.new_ones(len(hidden), 1, hidden.shape[-1]), self.share_dropped, self.training)
        return hidden * kept


# Both begin with zeros, as theirs do: nothing is preferred before it is learnt. A 1 beside a vector makes the bilinear
# form linear in the other one.


class ArcScores(nn.Module):
    """dependent' U head + u' head. What depends on the dependent alone moves all its heads alike, so it is left out."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size + 1, size))

    def forward(self, dependents: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """(sentences, dependents, heads)"""
        return _and_one(dependents) @ self.weight @ heads.transpose(1, 2)


class LabelScores(nn.Module):
    """For each label: dependent' U head + u' dependent + v' head + constant."""

    def __init__(self, size: int, n_labels: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size + 1, n_labels, size + 1))

    def forward(self, dependents: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """(pairs, labels), of dependent i with head i."""
        # one large product instead of one for each label
        turned = (_and_one(dependents) @ self.weight.flatten(1)).view(-1, *self.weight.shape[1:])
        return (turned @ _and_one(heads).unsqueeze(2)).squeeze(2)


def _and_one(vectors: torch.Tensor) -> torch.Tensor:
    return pad(vectors, (0, 1), value=1.0)
