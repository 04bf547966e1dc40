"""Token ids of a dataset's rows: tokenised once, padded per batch."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import torch
from transformers import PreTrainedTokenizerBase

from workflow.lib.base.errors import UserError

AT_ONCE = 10_000  # rows: the tokenizer's output takes ten times the memory of what is kept


@dataclass
class Encoded:
    """Token ids of every row; for inputs made of words, `word_of` gives each token's word (-1: none)."""

    inputs: dict[str, list[np.ndarray]]
    lengths: np.ndarray
    n_truncated: int
    pad: dict[str, int]
    word_of: list[np.ndarray]
    special: list[np.ndarray]

    def batch(self, rows: np.ndarray, device: str | torch.device = "cpu") -> dict[str, torch.Tensor]:
        """The rows' inputs as tensors, right-padded to the longest row."""
        return {
            name: torch.from_numpy(self.padded(values, rows, self.pad[name])).to(device)
            for name, values in self.inputs.items()
        }

    def padded(self, values: list[np.ndarray], rows: np.ndarray, filler: int) -> np.ndarray:
        """(rows, longest row) values, right-padded with `filler`."""
        lengths = self.lengths[rows]
        out = np.full((len(rows), lengths.max()), filler, dtype=np.int64)
        out[np.arange(out.shape[1]) < lengths[:, None]] = np.concatenate([values[row] for row in rows])
        return out


def longest_for(info: dict, wanted: int, limit: int) -> int:
    """Maximum length for a dataset: texts may be truncated; sentences with annotated words get the encoder's limit."""
    return limit if info["kind"] in ("treebank", "spans") else min(wanted, limit)


def with_pieces(rows: list[list[str]], tokenizer: PreTrainedTokenizerBase) -> list[list[str]]:
    """Replace words without any token (a zero-width space) by the unknown token, so that each word has a vector."""
    words = list(dict.fromkeys(chain.from_iterable(rows)))
    pieces = tokenizer(words, add_special_tokens=False)["input_ids"] if words else []
    vanished = {word for word, ids in zip(words, pieces) if not ids}
    return [[tokenizer.unk_token if word in vanished else word for word in row] for row in rows] if vanished else rows


def encode(
    table: pa.Table,
    info: dict,
    tokenizer: PreTrainedTokenizerBase,
    max_tokens: int,
    by_word: bool,
    first_only: bool = False,
) -> Encoded:
    """Tokenise a dataset. Long rows are truncated and counted; if that would lose annotated words, it is an error.

    `first_only`: only the first of two texts (the premise of a pair, the question of a passage).
    """
    has_words = info["kind"] in ("treebank", "spans")
    if has_words:
        texts = (table["words"].to_pylist(),)
    elif info["kind"] == "qa":
        texts = (table["question"].to_pylist(), table["context"].to_pylist())
    elif table["text_pair"].null_count < table.num_rows:
        texts = (table["text"].to_pylist(), table["text_pair"].to_pylist())
    elif by_word:
        texts, has_words = ([text.split() for text in table["text"].to_pylist()],), True
    else:
        texts = (table["text"].to_pylist(),)
    if by_word and not has_words:
        raise UserError(
            f"dataset {info['dataset']}: units of words need one text or a list of words per row, not a pair"
        )
    if has_words:
        texts = (with_pieces(texts[0], tokenizer),)
    texts = texts[:1] if first_only else texts
    inputs, word_of, special, truncated = {}, [], [], []
    for start in range(0, len(table), AT_ONCE):
        part = (column[start : start + AT_ONCE] for column in texts)
        out = tokenizer(*part, truncation=True, max_length=max_tokens, is_split_into_words=has_words)
        for name in ("input_ids", "token_type_ids", "attention_mask"):
            if name in out:
                kept = np.int32 if name == "input_ids" else np.int8
                inputs.setdefault(name, []).extend(np.array(of_row, kept) for of_row in out[name])
        special += [np.array(encoding.special_tokens_mask, np.int8) for encoding in out.encodings]
        if has_words:
            of_rows = ([-1 if word is None else word for word in encoding.word_ids] for encoding in out.encodings)
            word_of += [np.array(of_row, np.int32) for of_row in of_rows]
        truncated += [start + at for at, encoding in enumerate(out.encodings) if encoding.overflowing]
    if truncated and info["kind"] in ("treebank", "spans"):
        name = table["id"][truncated[0]].as_py()
        raise UserError(
            f"dataset {info['dataset']}: row {name} has more than the {max_tokens} tokens that the encoder takes, and "
            "cutting it would lose annotated words; drop it"
        )
    return Encoded(
        inputs=inputs,
        lengths=np.array([len(ids) for ids in inputs["input_ids"]]),
        n_truncated=len(truncated),
        pad={"input_ids": tokenizer.pad_token_id, "token_type_ids": 0, "attention_mask": 0},
        word_of=word_of,
        special=special,
    )
