"""Settings of a method: a dataclass, filled from a config section."""

from dataclasses import fields
from typing import TypeVar

from workflow.lib.base.errors import UserError, nearest

Settings = TypeVar("Settings")


def settings_of(kind: type[Settings], given: dict, owner: str) -> Settings:
    """An instance of `kind` with the given values. `owner` is named in the error about an unknown key."""
    known = [field.name for field in fields(kind)]
    for name in given:
        if name not in known:
            raise UserError(f"{owner}: no setting `{name}`{nearest(name, known)}")
    return kind(**given)
