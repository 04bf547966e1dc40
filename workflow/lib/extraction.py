"""One forward pass over a dataset, all layers into the activation cache."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow.lib.activations import LayerWriter, layer_file
from workflow.lib.batches import bucketed_batches
from workflow.lib.encoders.layers import blocks
from workflow.lib.encoders.states import hidden_states, read_out
from workflow.lib.encoding import Encoded

TOKENS_HELD = 1 << 18  # tokens whose vectors are in memory at once, whatever the size of the dataset


def digest_of_weights(folder: str | Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(folder).glob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def chunks_of(encoded: Encoded, unit: str, width: int) -> Iterator[np.ndarray]:
    """Consecutive examples whose units fit the memory allowance (of a BERT-base width; narrower models get more)."""
    units = np.ones_like(encoded.lengths) if unit == "cls" else encoded.lengths
    allowance = max(1, TOKENS_HELD * 768 // max(width, 64) // 16)
    cut = np.cumsum(units) // allowance
    yield from np.split(np.arange(len(units)), np.flatnonzero(np.diff(cut)) + 1)


def positions_of(encoded: Encoded, row: int, unit: str) -> list[list[int]]:
    """For each unit of an example, the tokens whose mean it is."""
    if unit == "cls":
        return [[0]]
    if unit == "word":
        words: dict[int, list[int]] = {}
        for position, word in enumerate(encoded.word_of[row]):
            if word >= 0:
                words.setdefault(word, []).append(position)
        return list(words.values())
    special = encoded.special[row]
    return [[position] for position in range(encoded.lengths[row]) if not special[position]]


@torch.inference_mode()
def extract(
    model: PreTrainedModel, encoded: Encoded, unit: str, folder: Path, about: dict, batch_size: int, dtype: str
) -> int:
    """Write layer-00.parquet … of one dataset into `folder`; returns the number of units."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).eval()
    width, n_layers = model.config.hidden_size, len(blocks(model)) + 1
    folder.mkdir(parents=True, exist_ok=True)
    writers: list[LayerWriter] = []
    n_units = 0
    for rows in chunks_of(encoded, unit, width):
        positions = [positions_of(encoded, row, unit) for row in rows]
        counts = np.array([len(of_row) for of_row in positions])
        starts = np.concatenate([[0], np.cumsum(counts)])
        held: list[np.ndarray] = []
        for batch in bucketed_batches(encoded.lengths[rows], batch_size):
            states = list(hidden_states(model, encoded.batch(rows[batch], device)))
            states[-1] = read_out(model, states[-1])
            if not held:
                held = [np.empty((starts[-1], state.shape[-1]), dtype=np.float32) for state in states]
            place = np.concatenate([np.arange(starts[at], starts[at + 1]) for at in batch])
            select = _selection([positions[at] for at in batch])
            for layer, state in enumerate(states):
                held[layer][place] = _means(state, *select).float().cpu().numpy()
        if not writers:
            writers = [
                LayerWriter(
                    layer_file(folder, layer), held[layer].shape[1], dtype, about | {"layer": layer, "unit": unit}
                )
                for layer in range(n_layers)
            ]
        example = np.repeat(rows, counts)
        unit_number = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
        for layer, writer in enumerate(writers):
            writer.write(example, unit_number, held[layer])
        n_units += int(starts[-1])
    for writer in writers:
        writer.close()
    return n_units


def _selection(
    positions: list[list[list[int]]],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """(row, token, unit, size of unit) of every token that is wanted; sizes are None where every unit is one token."""
    flat = [(row, token) for row, units in enumerate(positions) for tokens in units for token in tokens]
    sizes = np.array([len(tokens) for units in positions for tokens in units])
    at = torch.tensor(flat)
    unit = torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes))
    return at[:, 0], at[:, 1], unit, None if (sizes == 1).all() else torch.from_numpy(sizes)


def _means(state: torch.Tensor, row, token, unit, sizes) -> torch.Tensor:
    chosen = state[row, token]
    if sizes is None:
        return chosen
    sums = torch.zeros(len(sizes), state.shape[-1], device=state.device, dtype=torch.float32)
    return sums.index_add_(0, unit.to(state.device), chosen.float()) / sizes.to(state.device)[:, None]
