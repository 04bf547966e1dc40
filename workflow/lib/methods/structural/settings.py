"""Settings of the structural probes; defaults are Hewitt and Manning's, the rank is Merchant et al.'s."""

from dataclasses import asdict, dataclass

from workflow.lib.base.errors import UserError
from workflow.lib.base.settings import settings_of


@dataclass(frozen=True)
class StructuralSettings:
    rank: int = 512  # of the projection, as in Merchant et al.; Hewitt and Manning's runs by layer use the full width
    max_epochs: int = 40
    batch_size: int = 20  # sentences
    learning_rate: float = 1e-3
    patience: int = 5  # epochs without improvement on dev, after which a probe stops
    min_length: int = 5  # in words, of the sentences that Spearman's correlation is averaged over
    max_length: int = 50


def settings_from(given: dict) -> StructuralSettings:
    settings = settings_of(StructuralSettings, given, "structural probes")
    for name, value in asdict(settings).items():
        if not value > 0:
            raise UserError(f"structural probes: {name} must be above 0, not {value}")
    if settings.min_length < 2:
        raise UserError("structural probes: min_length must be at least 2: one word has no order")
    return settings
