"""The layers of a biaffine parser (Dozat and Manning 2017): role-specific word vectors, and scores of word pairs."""

import torch
from torch import nn
from torch.nn.functional import dropout, leaky_relu, pad

SLOPE = 0.1  # of the leaky ReLU below 0, as in Dozat and Manning's parser


class Role(nn.Module):
    """Vectors of words as dependents, or as heads: one layer.

    Dropout uses one mask for all words of a sentence, as in Dozat and Manning, so that heads compete on equal terms.
    """

    def __init__(self, width: int, size: int, share_dropped: float):
        super().__init__()
        self.linear, self.share_dropped = nn.Linear(width, size), share_dropped
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        """(sentences, words, size) vectors."""
        hidden = leaky_relu(self.linear(nodes), SLOPE)
        kept = dropout(hidden.new_ones(len(hidden), 1, hidden.shape[-1]), self.share_dropped, self.training)
        return hidden * kept


# Both are initialised with zeros, as in Dozat and Manning: no preference before training. Appending a 1 to a vector
# adds a term that is linear in the other one.


class ArcScores(nn.Module):
    """dependent' U head + u' head. A term in the dependent alone would shift all its heads equally, and is left out."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size + 1, size))

    def forward(self, dependents: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """(sentences, dependents, heads) scores."""
        return _and_one(dependents) @ self.weight @ heads.transpose(1, 2)


class LabelScores(nn.Module):
    """For each label: dependent' U head + u' dependent + v' head + constant."""

    def __init__(self, size: int, n_labels: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size + 1, n_labels, size + 1))

    def forward(self, dependents: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """(pairs, labels) scores of dependent i with head i."""
        # one large product instead of one per label
        turned = (_and_one(dependents) @ self.weight.flatten(1)).view(-1, *self.weight.shape[1:])
        return (turned @ _and_one(heads).unsqueeze(2)).squeeze(2)


def _and_one(vectors: torch.Tensor) -> torch.Tensor:
    return pad(vectors, (0, 1), value=1.0)
