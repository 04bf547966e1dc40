"""What reaches Snakemake: no rule has a shell command, and hostile texts of a config are only texts to it."""

import os
import re
import subprocess
import sys

import pandas as pd
import pytest
import yaml

from workflow.lib.base.digests import ROOT

RULES = sorted((ROOT / "workflow/rules").glob("*.smk"))
NOTE = "{output} {wildcards.name} { <results>/../x $(touch mark) `touch mark` '; touch mark #\n\n<script>"
STARTS_PROGRAMS = r"\b(shell\s*=\s*True|os\.(system|popen|exec\w*|spawn\w*)|subprocess\.getoutput|pty\.|__import__)"
RUNS_TEXT = r"(?<![\w.])(eval|exec|compile)\((?!\))|pickle\.loads?\(|yaml\.(unsafe_load|full_load)|allow_pickle=True"
TRUSTS = r"trust_remote_code=(?!False)|weights_only=(?!True)"


@pytest.mark.parametrize("path", [ROOT / "Snakefile", *RULES], ids=lambda path: path.name)
def test_no_rule_has_a_shell_command(path):
    text = path.read_text()
    assert not re.search(r"^\s*(shell|run|wrapper|cwl|notebook)\s*:|\bshell\(", text, re.MULTILINE)
    for each in re.findall(r'^\s*script:\s*"([^"]+)"', text, re.MULTILINE):
        # wildcards of papers, whose names are of folders, and of their artifacts.yaml
        assert re.fullmatch(r"\.\./scripts/\w+\.py|\.\./papers/\{wildcards\.paper\}/(\{params\.script\}|\w+\.py)", each)


def test_no_module_starts_a_shell_or_runs_a_text():
    for path in [*(ROOT / "workflow").rglob("*.py"), *RULES]:
        for forbidden in (STARTS_PROGRAMS, RUNS_TEXT, TRUSTS):
            assert not (found := re.search(forbidden, path.read_text())), (path, found)
        loaders = set(re.findall(r"yaml\.(\w*Loader)", path.read_text()))
        assert loaders <= {"CSafeLoader", "SafeLoader"}, path


def test_hostile_texts_reach_no_shell_and_no_wildcard(tmp_path):
    """A run of one rule on a file with such a name, and the plan of everything."""
    name = "a $(touch mark) '; touch mark; '.csv"
    pd.DataFrame({"$(touch mark)": [f"text {n}" for n in range(20)], "{label}": ["<b>", "$x"] * 10}).to_csv(
        tmp_path / name, index=False
    )
    own = {"source": "file", "path": name, "text": "$(touch mark)", "label": "{label}"}
    hub = {"source": "hub", "id": "org/name", "layers": 2, "note": NOTE, "published_as": NOTE}
    config = {"run": "own", "papers": ["matton2019"], "datasets": {"mine": own}, "encoders": {"hub": hub},
              "tasks": {"mine": {"dataset": "mine"}},
              "matton2019": {"encoders": ["hub.0"], "tasks": ["mine"]}}  # fmt: skip
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(config))
    before = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--configfile", "own.yaml"]
    for more in (["results/own/data/mine/test.parquet"], ["all", "results/own/scorecard.md", "--dry-run"]):
        done = subprocess.run([*before, "--cores", "1", *more], cwd=tmp_path, capture_output=True, text=True,
                              env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert {path.name for path in tmp_path.iterdir()} == {name, "own.yaml", "results", ".snakemake"}
    assert {path.parts[0] for path in (made.relative_to(tmp_path / "results") for made in
            (tmp_path / "results").rglob("*"))} == {"own"}  # fmt: skip
