"""RSA of two layers against the plain formula, side by side: seconds, peak memory, digits.

python -m tests.benchmarks.bench_rsa
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from workflow.lib.activations.cache import LayerWriter, layer_file
from workflow.lib.methods.rsa.layers import compare
from workflow.lib.methods.rsa.similarity import similarity

TOKENS, WIDTH = 5_000, 768


def layers(cone: float, n: int = TOKENS, width: int = WIDTH) -> tuple[np.ndarray, np.ndarray]:
    """A layer before and after tuning; the larger `cone`, the narrower the cone that all vectors lie in."""
    rng = np.random.default_rng(0)
    spectrum = np.arange(1, width + 1) ** -0.5
    base = rng.normal(size=(n, width)) * spectrum + cone * rng.normal(size=width)
    tuned = base + 0.3 * rng.normal(size=(n, width)) * spectrum
    return base.astype(np.float32), tuned.astype(np.float32)


def plain(base: np.ndarray, tuned: np.ndarray) -> float:
    upper = np.triu_indices(len(base), k=1)
    units = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (base, tuned)]
    return float(np.corrcoef(*((unit @ unit.T)[upper] for unit in units))[0, 1])


def plain_in_float64(base: np.ndarray, tuned: np.ndarray) -> float:
    return plain(base.astype(np.float64), tuned.astype(np.float64))


METHODS = {"ours": similarity, "plain, float32": plain, "plain, float64": plain_in_float64}


def alone(method: str, cone: float) -> None:
    """In a process of its own, because the peak of memory is the process's."""
    base, tuned = layers(cone)
    METHODS[method](base[:100], tuned[:100])  # start-up is not timed
    wall, cpu = time.perf_counter(), time.process_time()
    score = METHODS[method](base, tuned)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(wall, cpu, peak / 1024, score)


def run_alone(method: str, cone: float) -> list[float]:
    code = f"from tests.benchmarks.bench_rsa import alone; alone({method!r}, {cone})"
    return [float(n) for n in subprocess.check_output([sys.executable, "-c", code], text=True).split()]


def compare_methods() -> None:
    print(f"{TOKENS:,} tokens x {WIDTH}, one pair of layers (targets: 1.5 s, 1,024 MiB, 1e-6)")
    print(f"{'':30s}    wall     CPU       peak   from float64")
    for cone in (0.0, 0.5, 3.0):
        results = {method: run_alone(method, cone) for method in METHODS}
        for method, (wall, cpu, peak, score) in results.items():
            off = abs(score - results["plain, float64"][-1])
            name = f"cone {cone:3.1f}  {method}"
            print(f"  {name:28s} {wall:6.2f} s {cpu:5.2f} s {peak:6.0f} MiB   {off:.0e}", flush=True)


def from_caches(n_rows: int = 10_000) -> None:
    """All that the rule does for one text, one layer and three samples; the cache holds two tokens of each row."""
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder) / model for model in ("base", "tuned")]
        for path, vectors in zip(folders, layers(0.5, n_rows)):
            path.mkdir()
            writer = LayerWriter(layer_file(path, 0), WIDTH, "float32", {})
            for start in range(0, n_rows, 2048):
                part = vectors[start : start + 2048]
                writer.write((start + np.arange(len(part))) // 2, np.arange(len(part)), part)
            writer.close()
        start = time.perf_counter()
        rows = list(compare(*folders, tokens=TOKENS, samples=3, per_example=2, seed=0))
        seconds = (time.perf_counter() - start) / len(rows)
        scores = ", ".join(f"{row['similarity']:.4f}" for row in rows)
        print(f"from caches of {n_rows:,} tokens: {seconds:.2f} s a layer and sample (scores {scores})")


if __name__ == "__main__":
    compare_methods()
    from_caches()
