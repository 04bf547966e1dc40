"""What several tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of real rows, where there is one: $TUNESCOPE_MIRROR, or `shared/hub` beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "hub"
    folder = Path(os.environ.get("TUNESCOPE_MIRROR") or beside)
    if not folder.is_dir():
        pytest.skip("no mirror of the real datasets (set TUNESCOPE_MIRROR to its folder)")
    return folder


@pytest.fixture(autouse=True)
def every_state_is_saved(monkeypatch):
    """Trainings of tests are so short that most states would not be saved; but what follows a kill must be tested."""
    from workflow.lib.training import state

    monkeypatch.setattr(state, "SHARE", float("inf"))
