"""A batch of sentences for all layers and both probes: which words it has, where they stand, what the trees say.

The projection sees the words end to end, without padding: that is where the time goes. Only the projected words, which
are narrower, are padded to the longest sentence for their distances.
"""

from dataclasses import dataclass

import numpy as np
import torch

from workflow.lib.methods.structural.gold_trees import Trees

PAIRS_AT_ONCE = 1 << 15  # padded word pairs of a batch that is only evaluated: times layers, they should stay in cache


@dataclass(frozen=True)
class Batch:
    words: torch.Tensor  # (w,) rows of the vectors
    slots: torch.Tensor  # (w,) their places in the padded sentences (s * longest)
    depth: torch.Tensor  # (w,)
    word_weight: torch.Tensor  # (w,) 1 / length, over all sentences that the loss is a mean of
    distance: torch.Tensor  # (s, longest, longest)
    pair_weight: torch.Tensor  # (s, longest, longest) 1 / length^2, likewise; 0 for padding and for a word with itself


def batch_of(trees: Trees, sentences: np.ndarray, n_in_mean: int, device: str = "cpu") -> Batch:
    """`n_in_mean`: sentences that the loss is a mean of, if this batch is a part of them."""
    length = trees.length[sentences]
    longest = int(length.max())
    is_word = np.arange(longest) < length[:, None]
    words = (trees.first[sentences][:, None] + np.arange(longest))[is_word]
    is_pair = is_word[:, :, None] & is_word[:, None, :]
    pairs = trees.first_pair[sentences][:, None, None] + np.arange(longest)[:, None] * length[:, None, None]
    distance = np.zeros(is_pair.shape, dtype=np.float32)
    distance[is_pair] = trees.distance[(pairs + np.arange(longest))[is_pair]]
    weight = (1 / (length * n_in_mean)).astype(np.float32)
    pair_weight = is_pair * (weight / length).astype(np.float32)[:, None, None]
    pair_weight[:, np.arange(longest), np.arange(longest)] = 0
    gold = (trees.depth[words], np.repeat(weight, length), distance, pair_weight)
    words, slots, *gold = (torch.from_numpy(array).to(device) for array in (words, np.flatnonzero(is_word), *gold))
    return Batch(words, slots, *gold)


def evaluation_batches(trees: Trees, device: str = "cpu") -> list[Batch]:
    """All sentences, those of like length together: an evaluation does not mind the order."""
    order, batches, begin = np.argsort(trees.length, kind="stable"), [], 0
    padded_pairs = trees.length[order] ** 2
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - begin) * padded_pairs[end] > PAIRS_AT_ONCE:
            batches.append(batch_of(trees, order[begin:end], len(trees), device))
            begin = end
    return batches
