"""Where the demo's time goes: read from the benchmark files of the last `make figures`.

python -m tests.benchmarks.bench_whole_demo
"""

import csv
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

BENCHMARKS = Path("results/demo/benchmarks")
HEAVY = {"encoders", "models", "activations", "neurons", "pca"}  # stages whose jobs import torch


def import_seconds() -> float:
    """CPU-bound, so wall time of a quiet machine; the smallest of three."""
    code = "import torch, transformers.models.bert.modeling_bert"
    timings = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        timings.append(time.perf_counter() - start)
    return min(timings)


if __name__ == "__main__":
    files = sorted(BENCHMARKS.rglob("*.tsv"))
    if not files:
        print("no demo run found: `make figures` first")
        sys.exit()
    stages = defaultdict(lambda: [0, 0.0, 0.0])
    for path in files:
        row = next(csv.DictReader(path.open(), delimiter="\t"))
        stage = stages[path.relative_to(BENCHMARKS).parts[0]]
        stage[0] += 1
        stage[1] += float(row["s"])
        stage[2] += float(row["cpu_time"] or 0)
    importing = import_seconds()
    print(f"{'stage':16s} jobs   wall s    CPU s")
    for name, (jobs, wall, cpu) in stages.items():
        print(f"{name:16s} {jobs:4d} {wall:8.0f} {cpu:8.0f}")
    wall = sum(stage[1] for stage in stages.values())
    heavy_jobs = sum(stages[name][0] for name in HEAVY if name in stages)
    share = heavy_jobs * importing / wall
    print(f"job seconds {wall:.0f}; importing torch and BERT takes {importing:.1f} s a job: {share:.0%} of them")
