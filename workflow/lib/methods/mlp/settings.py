"""Settings of the classifier probe; the defaults are the paper's where it gives them."""

from collections.abc import Sequence
from dataclasses import dataclass

from workflow.lib.base.errors import UserError
from workflow.lib.base.settings import settings_of

PAPERS_SIZES = (32, 64, 128, 256)
PAPERS_ALPHAS = tuple(10.0**power for power in range(-7, 1))


@dataclass(frozen=True)
class ProbeSettings:
    sizes: Sequence[int] = PAPERS_SIZES  # of each hidden layer: all pairs are tried
    alphas: Sequence[float] = PAPERS_ALPHAS
    holdout: float = 0.2
    n_seeds: int = 5
    max_epochs: int = 1000
    patience: int = 10  # epochs without improvement, after which a network stops
    tolerance: float = 1e-4  # smallest difference that counts as an improvement
    grid_stopping: str = "accuracy"  # on the hold-out, or "loss"
    grid_patience: int = 4  # as `patience`, for the hold-out accuracy
    grid_updates: int = 300  # minimum patience in the grid, in updates
    batch_size: int = 200
    learning_rate: float = 1e-3
    standardise: bool = False


def settings_from(given: dict) -> ProbeSettings:
    settings = settings_of(ProbeSettings, given, "classifier probe")
    if settings.grid_stopping not in ("accuracy", "loss"):
        raise UserError(f"grid_stopping is accuracy or loss, not {settings.grid_stopping!r}")
    return settings
