"""JSON as others wrote it: what Python's reader takes though no text can hold it, or silently drops, is an error."""

import json
import re

_HALF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def parsed(text: str):
    """The value; a ValueError says what is wrong."""
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("no JSON: nested too deeply") from None
    if _HALF_A_PAIR.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("no JSON: a \\u escape stands for half a character") from None
    return value


def _unique(pairs: list[tuple]) -> dict:
    """Python's reader would keep the last of two values."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"no JSON: the field {next(n for n in names if names.count(n) > 1)!r} stands there twice")
    return found
