"""One forward pass over a dataset, all layers into the activation cache."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow.lib.activations import LayerWriter, layer_file, write_words
from workflow.lib.batches import bucketed_batches
from workflow.lib.encoders.states import StateReader
from workflow.lib.encoding import Encoded
from workflow.lib.placing import putter

# Bytes of vectors, all layers, held before they are written, whatever the size of the dataset; twice, because one chunk
# is written while the next one is filled. Rows are sorted by length within a chunk, so a small one pays in padding:
# at BERT-base's size and batches of 64, with an eighth of this a quarter of the time.
BYTES_HELD = 384 << 20
MOST_UNITS = 25_000  # for narrow encoders: more was not faster


def chunks_of(encoded: Encoded, unit: str, bytes_per_unit: int) -> Iterator[np.ndarray]:
    """Consecutive examples whose units fit the memory allowance."""
    units = np.ones_like(encoded.lengths) if unit == "cls" else encoded.lengths
    cut = np.cumsum(units) // min(MOST_UNITS, max(1, BYTES_HELD // bytes_per_unit))
    yield from np.split(np.arange(len(units)), np.flatnonzero(np.diff(cut)) + 1)


def counts_of(encoded: Encoded, rows: np.ndarray, unit: str) -> np.ndarray:
    """How many units each example has."""
    if unit == "cls":
        return np.ones(len(rows), dtype=np.int64)
    if unit == "word":
        return np.array([len(set(encoded.word_of[row]) - {-1}) for row in rows])
    return np.array([encoded.lengths[row] - sum(encoded.special[row]) for row in rows])


@dataclass
class Chunk:
    """Consecutive examples, and the vectors of their units: an array per layer, longer than needed if used again."""

    rows: np.ndarray
    counts: np.ndarray
    vectors: list[np.ndarray]

    def write(self, writers: list[LayerWriter]) -> list[np.ndarray]:
        """Returns the arrays, which are free again."""
        starts, n_units = np.cumsum(self.counts) - self.counts, int(self.counts.sum())
        unit = np.arange(n_units) - np.repeat(starts, self.counts)
        for writer, vectors in zip(writers, self.vectors) if n_units else ():
            writer.write(np.repeat(self.rows, self.counts), unit, vectors[:n_units])
        return self.vectors


class Twins:
    """Rows of the same tokens get the same vectors, to the bit. Else rounding would depend on a row's company in its
    batch, and for DirectProbe one question under two labels is something else than two questions that are close."""

    def __init__(self, encoded: Encoded):
        first: dict[bytes, int] = {}
        rows = zip(*encoded.inputs.values())
        # digests, because the tokens themselves would be in memory twice
        digests = (hashlib.blake2b(np.array(tokens, dtype=np.int32).tobytes()).digest() for tokens in rows)
        self.first_of = np.array([first.setdefault(digest, row) for row, digest in enumerate(digests)])
        self.has_twin = np.bincount(self.first_of, minlength=len(self.first_of))[self.first_of] > 1
        self.vectors: dict[int, list[np.ndarray]] = {}

    def settle(self, chunk: "Chunk") -> None:
        starts = np.cumsum(chunk.counts) - chunk.counts
        for at in np.flatnonzero(self.has_twin[chunk.rows]):
            here = slice(starts[at], starts[at] + chunk.counts[at])
            known = self.vectors.setdefault(
                self.first_of[chunk.rows[at]], [vectors[here].copy() for vectors in chunk.vectors]
            )
            for vectors, of_first in zip(chunk.vectors, known):
                vectors[here] = of_first


def fill(
    reader: StateReader, encoded: Encoded, unit: str, rows: np.ndarray, batch_size: int, vectors: list[np.ndarray]
) -> Chunk:
    """Run the model over the rows; `vectors` of an earlier chunk are written over where they are large enough."""
    counts = counts_of(encoded, rows, unit)
    starts = np.cumsum(counts) - counts
    for batch in bucketed_batches(encoded.lengths[rows], batch_size):
        states = list(reader.hidden_states(encoded.batch(rows[batch], reader.model.device)))
        states[-1] = reader.read_out(states[-1])
        if not vectors or len(vectors[0]) < counts.sum():
            vectors = [np.empty((counts.sum(), state.shape[-1]), dtype=np.float32) for state in states]
        put = putter(encoded, rows[batch], unit, starts[batch], counts[batch])
        for state, out in zip(states, vectors):
            put(state, out)
    return Chunk(rows, counts, vectors)


def words_of_tokens(encoded: Encoded) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(example, unit, word) of every token, in the order of the layers' rows; -1: a token of no word."""
    words = [
        [word for word, special in zip(word_of, specials) if not special]
        for word_of, specials in zip(encoded.word_of, encoded.special)
    ]
    counts = np.array([len(of_row) for of_row in words])
    unit = np.concatenate([np.arange(count) for count in counts])
    return np.repeat(np.arange(len(words)), counts), unit, np.array(list(chain.from_iterable(words)), dtype=np.int64)


@torch.inference_mode()
def extract(
    model: PreTrainedModel, encoded: Encoded, unit: str, folder: Path, about: dict, batch_size: int, dtype: str
) -> int:
    """Write layer-00.parquet … of one dataset into `folder`; returns the number of units.

    Beside the layers of tokens stands words.parquet, if the rows are made of words: spans of words are looked up there.
    """
    reader = StateReader(model.to("cuda" if torch.cuda.is_available() else "cpu").eval())
    folder.mkdir(parents=True, exist_ok=True)
    writers, n_units, spare, twins = [], 0, [], Twins(encoded)
    # one chunk is written while the model is at the next, so two are held
    with ThreadPoolExecutor(1) as disk:
        written: Future | None = None
        for rows in chunks_of(encoded, unit, 4 * model.config.hidden_size * (reader.n_blocks + 1)):
            chunk = fill(reader, encoded, unit, rows, batch_size, spare)
            twins.settle(chunk)
            if not writers:
                about = about | {"unit": unit}
                writers = [
                    LayerWriter(layer_file(folder, layer), vectors.shape[1], dtype, about | {"layer": layer})
                    for layer, vectors in enumerate(chunk.vectors)
                ]
            spare = written.result() if written else []
            written = disk.submit(chunk.write, writers)
            n_units += int(chunk.counts.sum())
        if written:
            written.result()
    for writer in writers:
        writer.close()
    if unit == "token" and encoded.word_of:
        write_words(folder, *words_of_tokens(encoded))
    return n_units
