"""A split of an edge-probing task: sentences with the vectors of their tokens, and targets, which are spans of tokens.

Only sentences with targets and only tokens inside spans are kept, with all layers, in the precision of the cache; for
several models at once, if these have the same tokens.
"""

from dataclasses import dataclass, fields

import numpy as np
import torch

from workflow.lib.methods.edges.alignment import ranges
from workflow.lib.methods.edges.targets import Targets


@dataclass(frozen=True)
class Batch:
    """Some sentences: their tokens and targets, and the tokens in each span, the span's members.

    Spans are numbered consecutively: the first spans of all targets, then, if targets have two, the second ones.
    """

    token: torch.Tensor  # (tokens,) indices into the split
    target: torch.Tensor  # (targets,) indices into the split
    member: torch.Tensor  # (members,) index of the token in the batch
    score_index: torch.Tensor  # (members,) index into all tokens' scores for first, then for second spans
    span: torch.Tensor  # (members,) the member's span, ascending
    first: torch.Tensor  # (spans,) index of its first member

    def to(self, device: str) -> "Batch":
        return Batch(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


@dataclass(frozen=True)
class Split:
    vectors: torch.Tensor  # (models, layers, tokens, width); layer 0 = embeddings
    first_token: np.ndarray  # (sentences + 1,)
    first_target: np.ndarray  # (sentences + 1,)
    start: np.ndarray  # (spans, targets) first token of each span
    size: np.ndarray  # (spans, targets) in tokens
    targets: Targets

    @property
    def n_sentences(self) -> int:
        return len(self.first_target) - 1

    @property
    def n_targets(self) -> int:
        return self.start.shape[1]

    @property
    def n_spans(self) -> int:
        return len(self.start)

    def targets_of(self, sentences: np.ndarray) -> np.ndarray:
        first = self.first_target[sentences]
        return ranges(first, self.first_target[sentences + 1] - first)

    def batch(self, sentences: np.ndarray) -> Batch:
        first = self.first_token[sentences]
        n_tokens = self.first_token[sentences + 1] - first
        n_targets = self.first_target[sentences + 1] - self.first_target[sentences]
        target = self.targets_of(sentences)
        # offset from a token's index in the split to its index in the batch
        moved = np.repeat(np.cumsum(n_tokens) - n_tokens - first, n_targets)
        start, size = (self.start[:, target] + moved).ravel(), self.size[:, target].ravel()
        member = ranges(start, size)
        span = np.repeat(np.arange(len(size)), size)
        places = (
            ranges(first, n_tokens),
            target,
            member,
            member + (span >= len(target)) * n_tokens.sum(),
            span,
            np.cumsum(size) - size,
        )
        return Batch(*map(torch.from_numpy, places))
