"""Settings of a method: a dataclass of what it knows, filled from what it is given."""

from dataclasses import fields
from typing import TypeVar

from workflow.lib.base.errors import UserError, nearest

Settings = TypeVar("Settings")


def settings_of(kind: type[Settings], given: dict, owner: str) -> Settings:
    """`owner` is what the message names if a key is unknown."""
    known = [field.name for field in fields(kind)]
    for name in given:
        if name not in known:
            raise UserError(f"{owner}: no setting `{name}`{nearest(name, known)}")
    return kind(**given)
