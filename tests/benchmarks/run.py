"""All benchmarks, one after the other, each in a process of its own: `make bench`. Ratios are measured side by side."""

import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"\n== {path.stem}", flush=True)
        subprocess.run([sys.executable, "-m", f"tests.benchmarks.{path.stem}"], check=True)
