"""Errors that the user can fix: one line that says what is wrong and what to do about it."""

from difflib import get_close_matches


class UserError(Exception):
    """Shown without a traceback, so its message alone must say what to do."""


def brief(text: object, most: int = 300) -> str:
    """What a damaged file holds, or what another library says of it, may have any number of lines and characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 4]} ..."


def nearest(name: object, valid: list[str]) -> str:
    """A hint: ' (did you mean X?)' if a valid name is close, else the valid names if there are few, else ''."""
    close = get_close_matches(str(name), [str(v) for v in valid], n=1, cutoff=0.65)
    if close:
        return f" (did you mean '{brief(close[0])}'?)"
    return f" (one of: {brief(', '.join(map(str, valid)), 600)})" if 0 < len(valid) <= 20 else ""
