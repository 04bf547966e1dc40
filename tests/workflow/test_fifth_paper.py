"""A fifth paper is a folder and a config: nothing else is touched. It is the template that docs/template offers."""

import hashlib
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.conftest import PARTS, ROOT, Workspace

TEMPLATE = ROOT / "docs/template"


def digests(folder: Path) -> dict[str, str]:
    """Of all files of the project, without what runs leave."""
    files = [path for part in PARTS for path in [folder / part, *(folder / part).rglob("*")] if path.is_file()]
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if "__pycache__" not in path.parts
    }


@pytest.fixture
def with_fifth(finished) -> Workspace:
    """The finished run and one paper more; taken away again."""
    folder = finished.folder / "workflow/papers/fifth2027"
    shutil.copytree(TEMPLATE / "fifth2027", folder)
    shutil.copy2(TEMPLATE / "fifth.yaml", finished.folder)
    yield finished
    shutil.rmtree(folder)


def test_a_fifth_paper_is_a_folder_and_a_config(with_fifth):
    before = digests(with_fifth.folder)
    with_fifth.second_run("fifth")
    asked = ("--rerun-triggers", "mtime", "--configfile", "config/tiny.yaml", "fifth.yaml")
    with_fifth.snakemake("fifth2027", *asked, preset=None)
    made = with_fifth.folder / "results/fifth"
    assert (made / "figures/fifth2027/fig1.png").stat().st_size > 1000
    assert "mnli" in (made / "tables/fifth2027/table1.md").read_text()
    claims = pd.read_parquet(made / "scorecard/fifth2027.claims.parquet")
    assert claims["verdict"].isin(["holds", "does not hold", "cannot tell"]).all()
    assert "test rows" in claims["evidence"].item() and "33%" in claims["statement"].item()
    assert digests(with_fifth.folder) == before
    card = with_fifth.snakemake("--dry-run", "--configfile", "config/tiny.yaml", "fifth.yaml", preset=None)
    assert "scorecard" in card and "matton2019" not in card


def test_its_config_is_checked_like_any_other(with_fifth):
    wrong = ("--config", "fifth2027={encoders: [bse.0], task: 1}")
    output = with_fifth.snakemake(
        "fifth2027", "--configfile", "config/tiny.yaml", "fifth.yaml", *wrong, preset=None, check=False
    )
    assert "unknown key 'fifth2027.task' (did you mean 'tasks'?)" in output
