import pytest

from workflow.lib.training import state


@pytest.fixture(autouse=True)
def every_state_is_saved(monkeypatch):
    """Trainings of tests are so short that most states would not be saved; but what follows a kill must be tested."""
    monkeypatch.setattr(state, "SHARE", float("inf"))
