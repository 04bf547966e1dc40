"""Errors that are the user's to mend: one line that says what was wrong and what to do about it."""

from difflib import get_close_matches


class UserError(Exception):
    """Shown without a traceback: its text alone must tell what to do."""


def nearest(name: object, valid: list[str]) -> str:
    """' (did you mean X?)' where a valid name is close, the list of valid names where it is short, else nothing."""
    close = get_close_matches(str(name), [str(v) for v in valid], n=1, cutoff=0.65)
    if close:
        return f" (did you mean '{close[0]}'?)"
    return f" (one of: {', '.join(map(str, valid))})" if 0 < len(valid) <= 20 else ""
