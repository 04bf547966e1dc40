"""One forward pass over a dataset writes its units' vectors, from all requested layers, into the activation cache.

Rows are run chunk by chunk, so that memory is bounded for datasets of any size; within a chunk, rows of similar length
are batched together. A chunk is written while the model runs the next one.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow.lib.activations.cache import LayerWriter, layer_file, write_words
from workflow.lib.activations.plan import BYTES_HELD, SAMPLED
from workflow.lib.encoders.batches import sorted_batches
from workflow.lib.encoders.device import device
from workflow.lib.encoders.states import StateReader
from workflow.lib.encoders.tokenization import Encoded
from workflow.lib.encoders.unit_pooling import TokenRuns, mean_of_tokens

MOST_UNITS = 35_000  # per chunk, for narrow encoders: the model is idle while the last chunk is written

Vectors = dict[int, np.ndarray]  # by layer


def wanted_layers(layers: str, n_blocks: int) -> list[int]:
    """Layer numbers of `last`, `blocks` (the outputs of all blocks) or `all` (also layer 0, the embeddings)."""
    return {"last": [n_blocks], "blocks": list(range(1, n_blocks + 1)), "all": list(range(n_blocks + 1))}[layers]


def chunks_of(units: TokenRuns, bytes_per_unit: int) -> Iterator[np.ndarray]:
    """Chunks of consecutive rows that have units, as many rows as fit in memory; at least one."""
    rows = np.flatnonzero(units.counts)
    ends, most = np.cumsum(units.counts[rows]), max(1, min(MOST_UNITS, BYTES_HELD // bytes_per_unit))
    start = 0
    while start < len(rows):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield rows[start:end]
        start = end


def digest_of_arrays(arrays: Iterable[np.ndarray]) -> bytes:
    parts = (len(array).to_bytes(4) + array.tobytes() for array in arrays)
    return blake2b(b"".join(parts), digest_size=16).digest()


def first_identical_rows(encoded: Encoded, units: TokenRuns) -> np.ndarray:
    """(rows,) the first row with the same tokens and units: `a-b` may be one word in one row and three in another."""
    inputs = [values for name, values in encoded.inputs.items() if name != "attention_mask"]  # the mask is all ones
    runs = (np.split(column, units.offset[1:-1]) for column in (units.first, units.size))
    first: dict[bytes, int] = {}
    # digests as keys, because the tokens themselves would double the memory
    keys = (digest_of_arrays(of_row) for of_row in zip(*inputs, *runs))
    return np.array([first.setdefault(key, row) for row, key in enumerate(keys)], dtype=np.int64)


class Twins:
    """Gives identical rows (same tokens and units) bit-identical vectors, by running only the first of them.

    Otherwise rounding would depend on the other rows of a batch, and DirectProbe would see the same question under two
    labels as two questions that are merely close.
    """

    def __init__(self, encoded: Encoded, units: TokenRuns):
        self.first_of = first_identical_rows(encoded, units)
        self.last_of = np.zeros_like(self.first_of)
        self.last_of[self.first_of] = np.arange(len(self.first_of))  # the last assignment to a place stays
        self.kept: dict[int, Vectors] = {}  # vectors of rows with identical rows still to come

    def to_run(self, rows: np.ndarray) -> np.ndarray:
        """The rows that have to pass through the model."""
        return rows[self.first_of[rows] == rows]

    def settle(self, rows: np.ndarray, offset: np.ndarray, held: Vectors) -> None:
        """Copy vectors to the rows that were not run, and keep those that later chunks need."""
        for row in rows[self.last_of[self.first_of[rows]] != self.first_of[rows]].tolist():
            first, places = int(self.first_of[row]), slice(*(offset[row : row + 2] - offset[rows[0]]))
            if row == first:
                self.kept[row] = {layer: vectors[places].copy() for layer, vectors in held.items()}
                continue
            for layer, vectors in held.items():
                vectors[places] = self.kept[first][layer]
            if row == self.last_of[first]:
                del self.kept[first]


class Extractor:
    def __init__(self, model: PreTrainedModel, encoded: Encoded, units: TokenRuns, layers: list[int], batch_size: int):
        self.reader, self.encoded, self.units = StateReader(model), encoded, units
        self.layers, self.batch_size, self.width = layers, batch_size, model.config.hidden_size

    def run(self, rows: np.ndarray, to_run: np.ndarray) -> Vectors:
        """Vectors of the units of consecutive rows, filled in only for the rows in `to_run`."""
        begin, n_units = self.units.offset[rows[0]], int(self.units.counts[rows].sum())
        held = {layer: torch.empty(n_units, self.width) for layer in self.layers}
        for batch in sorted_batches(self.encoded.lengths[to_run], self.batch_size):
            of_batch = to_run[batch]
            line = np.repeat(np.arange(len(of_batch)), self.units.counts[of_batch])
            longest = int(self.encoded.lengths[of_batch].max())
            units = self.units.of_rows(of_batch)
            tokens = self.units.tokens(units, line, longest)

            places = torch.from_numpy(units - begin)

            def keep(layer: int, state: torch.Tensor, tokens=tokens, places=places) -> None:
                if layer not in held:
                    return
                if layer == self.reader.n_blocks:
                    state = self.reader.read_out(state)
                held[layer].index_copy_(0, places, mean_of_tokens(state, tokens).float().cpu())

            self.reader.run(self.encoded.batch(of_batch, self.reader.model.device), keep)
        return {layer: vectors.numpy() for layer, vectors in held.items()}


@torch.inference_mode()
def extract(
    model: PreTrainedModel,
    encoded: Encoded,
    units: TokenRuns,
    folder: Path,
    about: dict,
    *,
    layers: str = "all",
    batch_size: int = 64,
    dtype: str = "float32",
    example: np.ndarray | None = None,
) -> int:
    """Write the files layer-<kk>.parquet of one dataset into `folder`; returns the number of units.

    `example`: the rows' numbers in the dataset, if they are only a part of it. Where units are single tokens of rows
    made of words, words.parquet beside the layers gives the word of each token.
    """
    model = model.to(device()).eval()
    wanted = wanted_layers(layers, len(StateReader(model).blocks))
    example = np.arange(len(encoded.lengths)) if example is None else example
    extractor = Extractor(model, encoded, units, wanted, batch_size)
    twins = Twins(encoded, units)
    folder.mkdir(parents=True, exist_ok=True)
    writers = {
        layer: LayerWriter(layer_file(folder, layer), extractor.width, dtype, about | {"layer": layer})
        for layer in wanted
    }

    def write(rows: np.ndarray, held: Vectors) -> None:
        of_rows = units.of_rows(rows)
        names = np.repeat(example[rows], units.counts[rows])
        for layer, vectors in held.items():
            writers[layer].write(names, units.number[of_rows], vectors)

    with ThreadPoolExecutor(1) as disk:
        written: Future | None = None
        for rows in chunks_of(units, 4 * extractor.width * len(wanted)):
            held = extractor.run(rows, twins.to_run(rows))
            twins.settle(rows, units.offset, held)
            if written:
                written.result()
            written = disk.submit(write, rows, held)
        if written:
            written.result()
    for writer in writers.values():
        writer.close()
    if encoded.word_of and about["unit"] in ("token", "span", *SAMPLED):
        rows = np.repeat(np.arange(len(encoded.lengths)), units.counts)
        words = np.array([encoded.word_of[row][token] for row, token in zip(rows, units.first)], dtype=np.int64)
        write_words(folder, example[rows], units.number, words)
    return len(units.first)
