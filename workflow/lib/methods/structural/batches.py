"""A batch of sentences for all layers and both probes: words, their positions, gold depths and distances.

The projection, which takes most of the time, is applied to the concatenated words, without padding. Only the projected
words, which are narrower, are padded to the longest sentence for their distances.
"""

from dataclasses import dataclass

import numpy as np
import torch

from workflow.lib.methods.structural.gold_trees import Trees

PAIRS_AT_ONCE = 1 << 15  # padded word pairs of an evaluation batch: times layers, they should fit in the cache


@dataclass(frozen=True)
class Batch:
    words: torch.Tensor  # (w,) rows of the vectors
    slots: torch.Tensor  # (w,) their positions in the padded sentences (s * longest)
    depth: torch.Tensor  # (w,)
    word_weight: torch.Tensor  # (w,) 1 / length, divided by the number of sentences in the loss's mean
    distance: torch.Tensor  # (s, longest, longest)
    pair_weight: torch.Tensor  # (s, longest, longest) the same with 1 / length^2; 0 for padding and on the diagonal


def batch_of(trees: Trees, sentences: np.ndarray, n_in_mean: int, device: str = "cpu") -> Batch:
    """A batch of these sentences. `n_in_mean`: number of sentences in the loss's mean, of which this may be a part."""
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
    """All sentences in batches of similar length, as order does not matter in evaluation."""
    order, batches, begin = np.argsort(trees.length, kind="stable"), [], 0
    padded_pairs = trees.length[order] ** 2
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - begin) * padded_pairs[end] > PAIRS_AT_ONCE:
            batches.append(batch_of(trees, order[begin:end], len(trees), device))
            begin = end
    return batches
