"""One forward pass over a dataset, all layers into the activation cache."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow.lib.activations import LayerWriter, layer_file
from workflow.lib.batches import bucketed_batches
from workflow.lib.encoders.states import hidden_states, read_out
from workflow.lib.encoding import Encoded

TOKENS_HELD = 1 << 18  # tokens whose vectors are in memory at once, whatever the size of the dataset


def digest_of_weights(folder: str | Path) -> str:
    digest = hashlib.sha256()
    for path in sorted([*Path(folder).glob("*.safetensors"), *Path(folder).glob("*.bin")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def chunks_of(encoded: Encoded, unit: str, width: int) -> Iterator[np.ndarray]:
    """Consecutive examples whose units fit the memory allowance (of a BERT-base width; narrower models get more)."""
    units = np.ones_like(encoded.lengths) if unit == "cls" else encoded.lengths
    allowance = max(1, TOKENS_HELD * 768 // max(width, 64) // 16)
    cut = np.cumsum(units) // allowance
    yield from np.split(np.arange(len(units)), np.flatnonzero(np.diff(cut)) + 1)


def counts_of(encoded: Encoded, rows: np.ndarray, unit: str) -> np.ndarray:
    """How many units each example has."""
    if unit == "cls":
        return np.ones(len(rows), dtype=np.int64)
    if unit == "word":
        return np.array([len(set(encoded.word_of[row]) - {-1}) for row in rows])
    return np.array([encoded.lengths[row] - sum(encoded.special[row]) for row in rows])


def padded(values: list[list[int]], rows: np.ndarray, width: int, filler: int) -> np.ndarray:
    out = np.full((len(rows), width), filler)
    for at, row in enumerate(rows):
        out[at, : len(values[row])] = values[row]
    return out


def selector(encoded: Encoded, rows: np.ndarray, unit: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function from a hidden state (rows, tokens, width) to its units (units, width), row by row."""
    if unit == "cls":
        return lambda state: state[:, 0]
    width = int(encoded.lengths[rows].max())
    if unit == "token":
        wanted = torch.from_numpy(np.flatnonzero(padded(encoded.special, rows, width, 1) == 0))
        return lambda state: _rows_at(state, wanted)
    words = padded(encoded.word_of, rows, width, -1)
    wanted = words >= 0
    of_row, of_word = np.nonzero(wanted)[0], words[wanted]
    begins = np.ones(len(of_word), dtype=bool)
    begins[1:] = (of_row[1:] != of_row[:-1]) | (of_word[1:] != of_word[:-1])
    unit_of = torch.from_numpy(np.cumsum(begins) - 1)
    sizes = torch.bincount(unit_of).unsqueeze(1)
    at = torch.from_numpy(np.flatnonzero(wanted))

    def means(state: torch.Tensor) -> torch.Tensor:
        sums = torch.zeros(len(sizes), state.shape[-1], device=state.device)
        sums.index_add_(0, unit_of.to(state.device), _rows_at(state, at).float())
        return sums / sizes.to(state.device)

    return means


def _rows_at(state: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return state.flatten(0, 1).index_select(0, places.to(state.device))


@torch.inference_mode()
def extract(
    model: PreTrainedModel, encoded: Encoded, unit: str, folder: Path, about: dict, batch_size: int, dtype: str
) -> int:
    """Write layer-00.parquet … of one dataset into `folder`; returns the number of units."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).eval()
    folder.mkdir(parents=True, exist_ok=True)
    writers: list[LayerWriter] = []
    n_units = 0
    for rows in chunks_of(encoded, unit, model.config.hidden_size):
        counts = counts_of(encoded, rows, unit)
        starts = np.cumsum(counts) - counts
        held: list[np.ndarray] = []
        for batch in bucketed_batches(encoded.lengths[rows], batch_size):
            states = list(hidden_states(model, encoded.batch(rows[batch], device)))
            states[-1] = read_out(model, states[-1])
            if not held:
                held = [np.empty((counts.sum(), state.shape[-1]), dtype=np.float32) for state in states]
            # batches are sorted by length, the file by example: each unit goes to its own place
            before = np.repeat(np.cumsum(counts[batch]) - counts[batch], counts[batch])
            place = np.repeat(starts[batch], counts[batch]) + np.arange(counts[batch].sum()) - before
            units_of = selector(encoded, rows[batch], unit)
            for layer, state in enumerate(states):
                held[layer][place] = units_of(state).float().cpu().numpy()
        if not writers:
            writers = [
                LayerWriter(layer_file(folder, layer), vectors.shape[1], dtype, about | {"layer": layer, "unit": unit})
                for layer, vectors in enumerate(held)
            ]
        n_here = int(counts.sum())
        unit_number = np.arange(n_here) - np.repeat(starts, counts)
        for writer, vectors in zip(writers, held) if n_here else ():
            writer.write(np.repeat(rows, counts), unit_number, vectors)
        n_units += n_here
    for writer in writers:
        writer.close()
    return n_units
