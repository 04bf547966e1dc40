"""What a figure, a table or a score is made from: input files and the config settings that it uses itself."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Needs:
    inputs: dict[str, list[str] | str] = field(default_factory=dict)
    settings: dict = field(default_factory=dict)

    def files(self) -> list[str]:
        return [file for files in self.inputs.values() for file in ([files] if isinstance(files, str) else files)]


def picked(section: dict, *keys: str) -> dict:
    """Only these keys of a config section, so that a change reruns only what depends on it."""
    return {key: section[key] for key in keys}
