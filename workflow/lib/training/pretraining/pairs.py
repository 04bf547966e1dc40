"""Sentence pairs for pre-training: tokenised once, newly paired and masked in every epoch."""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from workflow.lib.encoders.batches import bucketed_batches

IGNORED = -100


@dataclass
class Pairs:
    """Tokenised sentences, and for each sentence the one that follows it in its document (-1: none)."""

    ids: list[np.ndarray]
    following: np.ndarray


def read_pairs(table, tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> Pairs:
    """Tokenised sentences. Those of one document share the part of their id before the last full stop."""
    room = (max_tokens - 3) // 2
    # the backend directly, without transformers' additional output: half the time
    encoded = tokenizer.backend_tokenizer.encode_batch_fast(table["text"].to_pylist(), add_special_tokens=False)
    documents = [name.rpartition(".")[0] for name in table["id"].to_pylist()]
    following = np.array(
        [at + 1 if here == then else -1 for at, (here, then) in enumerate(itertools.pairwise(documents))] + [-1]
    )
    return Pairs([np.array(text.ids[:room], dtype=np.int64) for text in encoded], following)


def draw_pairs(pairs: Pairs, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One epoch of (first, second, is second random?): half of the second sentences are the next ones, half random."""
    first = np.flatnonzero(pairs.following >= 0)
    is_random = rng.random(len(first)) < 0.5
    second = np.where(is_random, rng.integers(len(pairs.ids), size=len(first)), pairs.following[first])
    return first, second, is_random.astype(np.int64)


def every_batch(pairs: Pairs, lengths: np.ndarray, batch_size: int, seed: int):
    """Endless batches, with new pairs and a new order every epoch; they depend on the seed alone: replayable."""
    for epoch in itertools.count():
        rng = np.random.default_rng([seed, epoch])
        first, second, is_random = draw_pairs(pairs, rng)
        for rows in bucketed_batches(lengths[first] + lengths[second], batch_size, rng):
            yield first[rows], second[rows], is_random[rows]


def collate(pairs: Pairs, first: np.ndarray, second: np.ndarray, special: dict[str, int]) -> dict[str, torch.Tensor]:
    """Model inputs [CLS] first [SEP] second [SEP], padded to the longest pair of the batch."""
    width = 3 + max(len(pairs.ids[a]) + len(pairs.ids[b]) for a, b in zip(first, second))
    ids = np.full((len(first), width), special["pad"])
    types, mask = np.zeros_like(ids), np.zeros_like(ids)
    for row, (a, b) in enumerate(zip(first, second)):
        one, two = pairs.ids[a], pairs.ids[b]
        cut, end = len(one) + 2, len(one) + len(two) + 3
        ids[row, 0], ids[row, 1 : cut - 1], ids[row, cut - 1] = special["cls"], one, special["sep"]
        ids[row, cut : end - 1], ids[row, end - 1] = two, special["sep"]
        types[row, cut:end], mask[row, :end] = 1, 1
    return {
        name: torch.from_numpy(array)
        for name, array in (("input_ids", ids), ("token_type_ids", types), ("attention_mask", mask))
    }


def mask_tokens(
    ids: torch.Tensor, share: float, special: dict[str, int], vocab: int, generator: torch.Generator
) -> torch.Tensor:
    """Mask a share of the tokens in place (80 % [MASK], 10 % random, 10 % unchanged); returns the labels."""
    ordinary = (ids != special["pad"]) & (ids != special["cls"]) & (ids != special["sep"])
    chosen = ordinary & (torch.rand(ids.shape, generator=generator) < share)
    labels = torch.where(chosen, ids, IGNORED)
    draw = torch.rand(ids.shape, generator=generator)
    ids[chosen & (draw < 0.8)] = special["mask"]
    other = chosen & (draw >= 0.9)
    ids[other] = torch.randint(vocab, ids.shape, generator=generator)[other]
    return labels
