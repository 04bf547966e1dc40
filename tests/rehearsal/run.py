"""`make rehearse`: the paper preset from download to scorecard, on few rows, against a stand-in Hub on loopback.

    python -m tests.rehearsal.run [--quick] [--mirror FOLDER] [--into FOLDER] [snakemake's arguments …]

Encoders have their true shapes and random weights. With a mirror its real files are what the Hub serves, else rows of
the embedded corpus in the same layouts. Prints what each rule took, which `python -m workflow.lib.costs.fit` reads too.
"""

import argparse
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import yaml

from tests.rehearsal.data import write_datasets
from tests.rehearsal.encoders import vocabulary, write_encoder
from tests.rehearsal.hub import ROOT, Hub

HERE = Path(__file__).resolve().parent
LAYOUTS = {"google-bert": "base", "google/bert_uncased": "miniature", "google/multiberts": "multibert"}


def repositories(folder: Path, home: Path, mirror: Path | None, encoders: dict[str, dict]) -> dict[str, Path]:
    found, texts = write_datasets(folder, home, mirror)
    pieces = vocabulary(texts or [path.read_text(errors="ignore")[:1_000_000] for path in home.rglob("*.conllu")])
    for at, entry in enumerate(encoders.values()):
        layout = next(layout for prefix, layout in LAYOUTS.items() if entry["id"].startswith(prefix))
        path = folder / entry["id"]
        if not path.exists():
            write_encoder(path, entry["layers"], entry["width"], layout, pieces, seed=at)
        found[f"models/{entry['id']}"] = path
    return found


class PeakOfDisk(threading.Thread):
    """The largest size of a folder, looked at every few seconds."""

    def __init__(self, folder: Path):
        super().__init__(daemon=True)
        self.folder, self.peak = folder, 0

    def run(self) -> None:
        while True:
            said = subprocess.run(["du", "-sk", self.folder], capture_output=True, text=True, check=False).stdout
            self.peak = max(self.peak, int(said.split()[0]) if said else 0)
            time.sleep(3)


def took(run: Path) -> pd.DataFrame:
    """Jobs, seconds and memory by kind of job, from its benchmark files."""
    tables = {path: pd.read_csv(path, sep="\t") for path in sorted((run / "benchmarks").rglob("*.tsv"))}
    rows = [{"stage": path.relative_to(run / "benchmarks").parts[0], "seconds": table["s"][0],
             "mb": pd.to_numeric(table["max_rss"], errors="coerce")[0]} for path, table in tables.items()]  # fmt: skip
    of_stage = pd.DataFrame(rows).groupby("stage")
    return of_stage.agg(
        jobs=("seconds", "size"), seconds=("seconds", "sum"), longest=("seconds", "max"), mb=("mb", "max")
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer encoders and repetitions: what CI runs")
    parser.add_argument("--mirror", type=Path, help="a folder of real files")
    parser.add_argument("--into", type=Path, default=ROOT / "results/rehearsal", help="where everything is made")
    given, others = parser.parse_known_args()
    paper = yaml.safe_load((ROOT / "config/paper.yaml").read_text())
    hubs = {name: entry for name, entry in paper["encoders"].items() if entry and entry["source"] == "hub"}
    folder = given.into.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    hub = Hub(repositories(folder / "hub", folder / "home", given.mirror, hubs))
    overlays = ["rows.yaml", "quick.yaml"] if given.quick else ["rows.yaml"]
    files = [ROOT / "config/paper.yaml", *(HERE / name for name in overlays)]
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder]
    command += ["--cores", "all", *others, "--configfile", *files]
    disk = PeakOfDisk(folder / "results")
    disk.start()
    begun = time.monotonic()
    done = subprocess.run(list(map(str, command)), env=hub.environment(folder / "home"), check=False)
    print(took(folder / "results/rehearsal").round(1).to_string())
    gigabytes, n_files = disk.peak / 1e6, len(hub.sent)
    print(f"{time.monotonic() - begun:.0f} s, at most {gigabytes:.2f} GB on disk, {n_files} files fetched")
    sys.exit(done.returncode)
