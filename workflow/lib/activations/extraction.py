"""One forward pass over a dataset, all layers into the activation cache."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow.lib.activations.cache import LayerWriter, layer_file, write_words
from workflow.lib.activations.unit_vectors import Pick, picker
from workflow.lib.encoders.batches import sorted_batches
from workflow.lib.encoders.states import StateReader
from workflow.lib.encoders.tokenization import Encoded

# Bytes of vectors, all layers, held before they are written, whatever the size of the dataset (a single row may need
# more, and rows with a twin further down wait for it); twice, because one chunk is written while the next is filled.
# Rows are sorted by length within a chunk, so a small one pays in padding: at BERT-base's size and batches of 64, 2 %
# of the time with half of this, a quarter with a sixteenth.
BYTES_HELD = 768 << 20
MOST_UNITS = 100_000  # for narrow encoders: twice as many would save a quarter of a per cent of the time
FEWEST_BATCHES = 6  # in a chunk, unless memory allows less


def chunks_of(encoded: Encoded, unit: str, bytes_per_unit: int, batch_size: int) -> Iterator[np.ndarray]:
    """Consecutive examples whose vectors, padding included, fit the memory allowance; whole batches, for a rest costs
    nearly as much.

    Never more than three quarters of what is left: a chunk is written while the next one is run (which takes five times
    as long or more), but nothing is beside the last.
    """
    sizes = np.ones_like(encoded.lengths) if unit == "cls" else encoded.lengths
    n_rows, room = len(sizes), min(MOST_UNITS, max(1, BYTES_HELD // bytes_per_unit))
    ends, start = np.cumsum(sizes), 0
    while start < n_rows:
        before = ends[start - 1] if start else 0
        fits = int(np.searchsorted(ends, before + room, side="right")) - start
        n = min(fits, max(3 * (n_rows - start) // 4, FEWEST_BATCHES * batch_size))
        while (n := whole_batches(n, n_rows - start, batch_size)) > 1:
            taken = padded_size(sizes[start : start + n], batch_size)
            if taken <= room:
                break
            n = min(n - 1, n * room // taken)
        yield np.arange(start, start + n)
        start += n


def whole_batches(n: int, n_left: int, batch_size: int) -> int:
    """At least one row and at most what is left; of more than a batch, what fills batches."""
    n = max(1, min(n, n_left))
    return n if n <= batch_size or n == n_left else n - n % batch_size


def padded_size(lengths: np.ndarray, batch_size: int) -> int:
    return sum(len(rows) * int(lengths[rows].max()) for rows in sorted_batches(lengths, batch_size))


class Twins:
    """Rows of the same tokens get the same vectors, to the bit. Else rounding would depend on a row's company in its
    batch, and for DirectProbe one question under two labels is something else than two questions that are close."""

    def __init__(self, encoded: Encoded):
        first: dict[int, int] = {}
        inputs = [values for name, values in encoded.inputs.items() if name != "attention_mask"]  # which is all ones
        # hashes, because the tokens themselves would be in memory twice; where they agree, the tokens are compared
        hashes = (hash(tuple(part.tobytes() for part in of_row)) for of_row in zip(*inputs))
        found = [first.setdefault(hashed, row) for row, hashed in enumerate(hashes)]
        same = (
            row == other or all(np.array_equal(of_input[row], of_input[other]) for of_input in inputs)
            for row, other in enumerate(found)
        )
        self.first_of = np.array([other if is_same else row for row, (other, is_same) in enumerate(zip(found, same))])
        self.last_of = np.zeros_like(self.first_of)
        self.last_of[self.first_of] = np.arange(len(found))  # of several twins the last one is left standing
        self.vectors: dict[tuple[int, int], torch.Tensor] = {}  # of rows that have twins to come

    def settle(self, layer: int, chunk: "Chunk") -> None:
        """In the layer's vectors; called with chunks in the order of the dataset."""
        ends, held = np.cumsum(chunk.counts), chunk.held[layer]
        first, last = self.first_of[chunk.rows], self.last_of[self.first_of[chunk.rows]]
        for at in np.flatnonzero(first != last):
            here, key = chunk.order[ends[at] - chunk.counts[at] : ends[at]], (layer, first[at])
            if chunk.rows[at] == first[at]:
                self.vectors[key] = held[here]
            else:
                held[here] = self.vectors.pop(key) if chunk.rows[at] == last[at] else self.vectors[key]


@dataclass
class Chunk:
    """Consecutive examples, and the vectors of their units as the batches had them: sorted by length, not in order."""

    rows: np.ndarray
    counts: np.ndarray
    order: torch.Tensor  # where the units of the first example are in `held`, then those of the second …
    held: list[torch.Tensor]  # a layer each; more and longer ones than needed if used again

    @torch.inference_mode()  # which a thread does not inherit
    def write(self, writers: list[LayerWriter], twins: Twins) -> list[torch.Tensor]:
        """Returns the tensors, which are free again."""
        starts, n_units = np.cumsum(self.counts) - self.counts, len(self.order)
        example, unit = np.repeat(self.rows, self.counts), np.arange(n_units) - np.repeat(starts, self.counts)
        for layer, (writer, held) in enumerate(zip(writers, self.held)) if n_units else ():
            twins.settle(layer, self)
            # in pieces that stay in the processor's cache from here to the file
            for start in range(0, n_units, writer.group_rows):
                group = slice(start, start + writer.group_rows)
                writer.write(example[group], unit[group], held.index_select(0, self.order[group]).numpy())
        return self.held


def has_room(held: torch.Tensor, size: int, width: int) -> bool:
    return len(held) >= size and held.shape[1] == width


@dataclass
class Keeper:
    """Takes a batch's vectors from each layer as it comes, and holds them."""

    reader: StateReader
    held: list[torch.Tensor]
    size: int  # that there must be room for

    def take(self, pick: Pick, begin: int, layer: int, state: torch.Tensor) -> None:
        if layer == self.reader.n_blocks:
            state = self.reader.read_out(state)
        if layer == len(self.held) or not has_room(self.held[layer], self.size, state.shape[-1]):
            self.held[layer : layer + 1] = [torch.empty(self.size, state.shape[-1])]
        self.held[layer][begin : begin + pick.size].copy_(pick.of(state))


def fill(
    reader: StateReader, encoded: Encoded, unit: str, rows: np.ndarray, batch_size: int, held: list[torch.Tensor]
) -> Chunk:
    """Run the model over the rows; what an earlier chunk `held` is written over where it is large enough.

    Here only what must be done beside the model: order is made while the next chunk is run, without Python's lock.
    """
    batches, device = sorted_batches(encoded.lengths[rows], batch_size), reader.model.device
    picks = [picker(encoded, rows[batch], unit, device) for batch in batches]
    ends = np.cumsum([pick.size for pick in picks]).tolist()
    keeper = Keeper(reader, held, ends[-1])
    for batch, pick, begin in zip(batches, picks, [0, *ends]):
        reader.run(encoded.batch(rows[batch], device), partial(keeper.take, pick, begin))
    counts = np.empty(len(rows), np.int64)
    counts[np.concatenate(batches)] = np.concatenate([pick.counts for pick in picks])
    units = np.concatenate([begin + pick.units for pick, begin in zip(picks, [0, *ends])])
    return Chunk(rows, counts, torch.from_numpy(units[places(np.concatenate(batches), counts)]), held)


def places(order: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Where units stand if examples come in this order, listed in the order of examples 0, 1, 2 …"""
    starts = np.empty_like(counts)
    starts[order] = np.cumsum(counts[order]) - counts[order]
    return np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def words_of_tokens(encoded: Encoded) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(example, unit, word) of every token, in the order of the layers' rows; -1: a token of no word."""
    words = [word_of[special == 0] for word_of, special in zip(encoded.word_of, encoded.special)]
    counts = np.array([len(of_row) for of_row in words])
    unit = np.concatenate([np.arange(count) for count in counts])
    return np.repeat(np.arange(len(words)), counts), unit, np.concatenate(words)


@torch.inference_mode()
def extract(
    model: PreTrainedModel,
    encoded: Encoded,
    unit: str,
    folder: Path,
    about: dict,
    batch_size: int,
    dtype: str,
    spare: list[list[torch.Tensor]] | None = None,
) -> int:
    """Write layer-00.parquet … of one dataset into `folder`; returns the number of units.

    Beside the layers of tokens stands words.parquet, if the rows are made of words: spans of words are looked up there.
    `spare`: memory that earlier extractions held; what this one holds is put there. New memory costs more than what is
    done with it here.
    """
    spare = [] if spare is None else spare
    reader = StateReader(model.to("cuda" if torch.cuda.is_available() else "cpu").eval())
    folder.mkdir(parents=True, exist_ok=True)
    writers, n_units, twins = [], 0, Twins(encoded)
    # one chunk is written while the model is at the next, so two are held
    with ThreadPoolExecutor(1) as disk:
        written: Future | None = None
        for rows in chunks_of(encoded, unit, 4 * model.config.hidden_size * (reader.n_blocks + 1), batch_size):
            chunk = fill(reader, encoded, unit, rows, batch_size, spare.pop() if spare else [])
            if not writers:
                about = about | {"unit": unit}
                writers = [
                    LayerWriter(layer_file(folder, layer), chunk.held[layer].shape[1], dtype, about | {"layer": layer})
                    for layer in range(reader.n_blocks + 1)
                ]
            if written:
                spare.append(written.result())
            written = disk.submit(chunk.write, writers, twins)
            n_units += int(chunk.counts.sum())
        if written:
            spare.append(written.result())
    for writer in writers:
        writer.close()
    if unit == "token" and encoded.word_of:
        write_words(folder, *words_of_tokens(encoded))
    return n_units
