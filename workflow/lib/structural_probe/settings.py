"""What can be set of the structural probes; the defaults are Hewitt and Manning's, the rank is merchant2020's."""

from dataclasses import dataclass, fields

from workflow.lib.errors import UserError, nearest


@dataclass(frozen=True)
class StructuralSettings:
    rank: int = 512  # of the projection: merchant2020's; Hewitt and Manning's runs by layer have the vectors' width
    max_epochs: int = 40
    batch_size: int = 20  # sentences
    learning_rate: float = 1e-3
    patience: int = 5  # epochs without a better loss on dev
    min_length: int = 5  # words of the sentences that Spearman's correlation is averaged over
    max_length: int = 50


def settings_from(given: dict) -> StructuralSettings:
    known = [field.name for field in fields(StructuralSettings)]
    for name in given:
        if name not in known:
            raise UserError(f"the structural probes have no setting `{name}`{nearest(name, known)}")
    settings = StructuralSettings(**given)
    for name in known:
        if not getattr(settings, name) > 0:
            raise UserError(f"structural probes: {name} must be above 0, not {getattr(settings, name)}")
    if settings.min_length < 2:
        raise UserError("structural probes: min_length must be at least 2: one word has no order")
    return settings
