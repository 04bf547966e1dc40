"""Activation extraction against the bare forward pass, cache reads against numpy.load, memory against examples.

python -m tests.benchmarks.bench_activations
"""

import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from transformers import BertConfig, BertModel

from workflow.lib.activations.cache import LayerWriter, layer_file, read_vectors
from workflow.lib.activations.extraction import extract
from workflow.lib.activations.units import units_of
from workflow.lib.encoders.batches import sorted_batches
from workflow.lib.encoders.states import model_inputs
from workflow.lib.encoders.tokenization import Encoded

# layers, width, heads, rows, batch size (the config's), rounds (the machine's speed drifts)
SHAPES = {"demo, 4 x 64": (4, 64, 4, 12_000, 64, 9), "BERT-base, 12 x 768": (12, 768, 12, 130, 64, 3)}


def make(layers: int, width: int, heads: int, n_rows: int) -> tuple[BertModel, Encoded]:
    torch.manual_seed(0)
    config = BertConfig(vocab_size=900, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
                        intermediate_size=4 * width, max_position_embeddings=128)  # fmt: skip
    rng = np.random.default_rng(0)
    lengths = rng.integers(12, 40, n_rows)
    ids = [rng.integers(5, 900, n, dtype=np.int32) for n in lengths]
    inputs = {"input_ids": ids, "attention_mask": [np.ones(n, np.int8) for n in lengths]}
    special = [np.array([1] + [0] * (n - 2) + [1], np.int8) for n in lengths]
    return BertModel(config, add_pooling_layer=False).eval(), Encoded(
        inputs, lengths, 0, {"input_ids": 0, "attention_mask": 0}, [], special
    )


@torch.inference_mode()
def bare(model: BertModel, encoded: Encoded, batch_size: int) -> None:
    for rows in sorted_batches(encoded.lengths, batch_size):
        model(**model_inputs(model, encoded.batch(rows)))


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare_extraction() -> None:
    print("extraction, all layers to disk, against the bare forward pass (tokens/s; target: ratio at least 0.85)")
    for name, (layers, width, heads, n_rows, batch_size, rounds) in SHAPES.items():
        model, encoded = make(layers, width, heads, n_rows)
        for unit in ("cls", "token"):
            pairs = [compare_once(model, encoded, unit, batch_size, turn) for turn in range(rounds + 1)][1:]
            ratio = statistics.median(before / after for before, after in pairs)
            rate = encoded.lengths.sum() / min(after for _, after in pairs)
            print(f"  {name:20s} {unit:6s} {rate:9,.0f} tokens/s   ratio {ratio:.2f}", flush=True)


def compare_once(model: BertModel, encoded: Encoded, unit: str, batch_size: int, turn: int) -> list[float]:
    """(bare, extraction): one after the other, now this one first and now that, because the machine's speed drifts."""
    with tempfile.TemporaryDirectory() as folder:
        works = [
            partial(bare, model, encoded, batch_size),
            partial(extract_all, model, encoded, unit, Path(folder), batch_size),
        ]
        return [seconds(work) for work in works] if turn % 2 else [seconds(work) for work in works[::-1]][::-1]


def extract_all(model: BertModel, encoded: Encoded, unit: str, folder: Path, batch_size: int) -> None:
    extract(model, encoded, units_of(unit, encoded), folder, {"unit": unit}, batch_size=batch_size)


def compare_reads(n: int = 60_000, width: int = 768) -> None:
    vectors = np.random.default_rng(0).standard_normal((n, width), dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "x.npy", vectors)
        path = layer_file(folder, 0)
        writer = LayerWriter(path, width, "float32", {})
        for start in range(0, n, 16_384):
            part = vectors[start : start + 16_384]
            writer.write(np.arange(len(part)), np.zeros(len(part)), part)
        writer.close()
        works = [lambda: np.load(Path(folder) / "x.npy"), lambda: read_vectors(path)]
        pairs = [
            [seconds(work) for work in works] if turn % 2 else [seconds(work) for work in works[::-1]][::-1]
            for turn in range(10)
        ]
        assert np.array_equal(read_vectors(path), vectors)
    ratio = statistics.median(load / read for load, read in pairs)
    print(f"cache read against numpy.load, {vectors.nbytes / 1e6:.0f} MB: ratio {ratio:.2f} (target: at least 0.15)")


def measure_memory() -> None:
    print("peak memory of extraction by number of examples (tokens, demo size)")
    for n_rows in (10_000, 40_000):
        code = f"from tests.benchmarks.bench_activations import peak; peak({n_rows})"
        print(
            "  "
            + subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        )


def high_water() -> int:
    """Of this process, in KiB. (getrusage's maximum would include that of the process which started it.)"""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def peak(n_rows: int) -> None:
    """In a process of its own: what extraction adds to the peak, beyond the token ids that it is given."""
    model, encoded = make(4, 64, 4, n_rows)
    before = high_water()
    with tempfile.TemporaryDirectory() as folder:
        extract_all(model, encoded, "token", Path(folder), 64)
    added = high_water() - before
    print(f"{n_rows:7,d} examples: {added / 1024:.0f} MiB more than before")


if __name__ == "__main__":
    torch.set_num_threads(1)  # as the rule has it: a thread for the model, beside which another one writes
    compare_extraction()
    compare_reads()
    measure_memory()
