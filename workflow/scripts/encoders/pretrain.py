"""Pre-train a BERT of any size on a text dataset: masked-language modelling and next-sentence prediction."""

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForPreTraining, PreTrainedTokenizerBase

IGNORED = -100


@dataclass
class Pairs:
    """Tokenised sentences, and for each sentence the one that follows it in its document (-1: none)."""

    ids: list[np.ndarray]
    following: np.ndarray


def read_pairs(table, tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> Pairs:
    """Sentences of one document share the part of their id before the last full stop."""
    room = (max_tokens - 3) // 2
    encoded = tokenizer(table["text"].to_pylist(), add_special_tokens=False, truncation=True, max_length=room)
    documents = [name.rpartition(".")[0] for name in table["id"].to_pylist()]
    following = np.array([at + 1 if here == then else -1 for at, (here, then) in enumerate(zip(documents, documents[1:]))] + [-1])
    return Pairs([np.array(ids, dtype=np.int64) for ids in encoded["input_ids"]], following)


def draw_pairs(pairs: Pairs, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One epoch of (first, second, is second random?): half the seconds follow their first, half come from anywhere."""
    first = np.flatnonzero(pairs.following >= 0)
    is_random = rng.random(len(first)) < 0.5
    second = np.where(is_random, rng.integers(len(pairs.ids), size=len(first)), pairs.following[first])
    return first, second, is_random.astype(np.int64)


def collate(pairs: Pairs, first: np.ndarray, second: np.ndarray, special: dict[str, int]) -> dict[str, torch.Tensor]:
    """[CLS] first [SEP] second [SEP], padded to the longest of the batch."""
    width = 3 + max(len(pairs.ids[a]) + len(pairs.ids[b]) for a, b in zip(first, second))
    ids = np.full((len(first), width), special["pad"])
    types, mask = np.zeros_like(ids), np.zeros_like(ids)
    for row, (a, b) in enumerate(zip(first, second)):
        one, two = pairs.ids[a], pairs.ids[b]
        cut, end = len(one) + 2, len(one) + len(two) + 3
        ids[row, 0], ids[row, 1 : cut - 1], ids[row, cut - 1] = special["cls"], one, special["sep"]
        ids[row, cut : end - 1], ids[row, end - 1] = two, special["sep"]
        types[row, cut:end], mask[row, :end] = 1, 1
    return {name: torch.from_numpy(array) for name, array in
            (("input_ids", ids), ("token_type_ids", types), ("attention_mask", mask))}


def mask_tokens(ids: torch.Tensor, share: float, special: dict[str, int], vocab: int, generator: torch.Generator) -> torch.Tensor:
    """Hide a share of the tokens in place (80 % [MASK], 10 % another, 10 % as they are); returns the labels."""
    ordinary = (ids != special["pad"]) & (ids != special["cls"]) & (ids != special["sep"])
    chosen = ordinary & (torch.rand(ids.shape, generator=generator) < share)
    labels = torch.where(chosen, ids, IGNORED)
    draw = torch.rand(ids.shape, generator=generator)
    ids[chosen & (draw < 0.8)] = special["mask"]
    other = chosen & (draw >= 0.9)
    ids[other] = torch.randint(vocab, ids.shape, generator=generator)[other]
    return labels


def losses(model: BertForPreTraining, batch: dict[str, torch.Tensor], labels: torch.Tensor, is_random: torch.Tensor):
    """Only hidden words go through the vocabulary projection: at a small width it costs as much as a layer."""
    out = model.bert(**batch)
    hidden = labels != IGNORED
    words = model.cls.predictions(out.last_hidden_state[hidden])
    return cross_entropy(words, labels[hidden]), cross_entropy(model.cls.seq_relationship(out.pooler_output), is_random)
