"""Settings of the edge probe; the defaults are those of Tenney et al., which the paper follows."""

from dataclasses import dataclass

from workflow.lib.base.settings import settings_of


@dataclass(frozen=True)
class EdgeSettings:
    projection: int = 256  # of every token, before pooling (an early version of the paper hints at 512)
    hidden: int = 256
    input_dropout: float = 0.2  # on the frozen vectors
    dropout: float = 0.3  # on the hidden layer
    learning_rate: float = 1e-4
    min_learning_rate: float = 1e-6  # a probe stops below this
    learning_rate_patience: int = 5  # validations without improvement, after which the rate is halved
    batch_size: int = 32  # sentences
    clip_norm: float = 5.0  # maximum gradient norm
    validate_every: int = 1000  # updates
    max_validations: int = 250
    patience: int = 20  # validations without improvement, after which a probe stops


def settings_from(given: dict, dataset: str | None = None) -> EdgeSettings:
    """The settings of the section `edges`, with what it says of this dataset alone."""
    general = {name: value for name, value in given.items() if name != "for_dataset"}
    return settings_of(EdgeSettings, general | given.get("for_dataset", {}).get(dataset, {}), "edge probe")
