"""A copy of the project to run in, so that tests may edit it and break it."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from workflow.papers import all_papers

PAPERS = list(all_papers())
ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "workflow", "config", "profiles", "envs")


class Workspace:
    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for part in PARTS:
            source = ROOT / part
            ignore = shutil.ignore_patterns("__pycache__")
            # copy2 keeps file times, which Snakemake compares
            shutil.copytree(source, folder / part, ignore=ignore) if source.is_dir() else shutil.copy2(source, folder)
        shutil.copy2(ROOT / "tests/workflow/tiny.yaml", folder / "config/tiny.yaml")

    def command(self, *arguments: str, preset: str | None = "config/tiny.yaml") -> list[str]:
        configfile = ["--configfile", preset] if preset else []
        return [sys.executable, "-m", "snakemake", "--cores", "2", *configfile, *arguments]

    def snakemake(self, *arguments: str, preset: str | None = "config/tiny.yaml", check: bool = True) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            self.command(*arguments, preset=preset), cwd=self.folder, env=environment, capture_output=True, text=True
        )
        output = done.stdout + done.stderr
        assert not check or done.returncode == 0, output[-6000:]
        assert check or done.returncode != 0, output[-2000:]
        return output

    def second_run(self, name: str) -> Path:
        """Begin another run with the data, encoders and models of the first; returns the folder of all runs."""
        made = self.folder / "results"
        for stage in ("data", "tokenizer", "encoders", "models"):
            if not (made / name / stage).exists():
                shutil.copytree(made / "tiny" / stage, made / name / stage, copy_function=shutil.copy2)
        for steps in (made / "tiny/activations").glob("*/*/steps"):  # which belong to models
            into = made / name / steps.relative_to(made / "tiny")
            if not into.exists():
                shutil.copytree(steps, into, copy_function=shutil.copy2)
        return made

    def planned(self, *arguments: str) -> dict[str, int]:
        """Rules that a run would execute, with the number of their jobs; of a rule's groups of items the sum."""
        output = self.snakemake("--dry-run", *arguments)
        if "Job stats:" not in output:
            return {}
        lines = output.split("Job stats:", 1)[1].splitlines()[3:]
        table = {}
        for line in lines:
            if not line.strip():
                break
            name, count = line.split()
            table[name] = int(count)
        counts: Counter[str] = Counter()
        for name, count in table.items():
            if name not in ("total", "all", *PAPERS):
                # jobs that share a process have rules of their own, called after the papers that ask for them
                counts[re.sub(rf"_({'|'.join(PAPERS)})(_.*)?$", "", name)] += count
        return dict(counts)


def measured_tables(run: Path) -> dict[str, bytes]:
    """What a run has measured: analyses, sweeps, scores, and the numbers of figures and tables."""
    found = [path for part in ("analysis", "sweeps", "scorecard") for path in (run / part).rglob("*.parquet")]
    found += [path for part in ("figures", "tables") for path in (run / part).rglob("*.csv")]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Workspace:
    """A workspace in which everything was made once."""
    workspace = Workspace(tmp_path_factory.mktemp("finished"))
    workspace.snakemake()
    return workspace
