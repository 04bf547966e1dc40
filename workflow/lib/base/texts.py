"""What every text of a config must be, before anything reads a meaning into it: short, and of characters that show.

Names become parts of paths, and paths are asked of the system, notes stand on pages, faults on terminals: none of these
should have to think of a NUL, of an escape sequence, or of marks that turn the direction of what is read.
"""

import unicodedata
from collections.abc import Iterator

from workflow.lib.base.faults import show

LONGEST_KEY = 64  # a name: parts of file names are made of several, and 255 bytes is what a file system takes
LONGEST = 4096  # a path, a note
ALLOWED = "\t\n\r"
TURNING = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}  # right-to-left and back


def faults_in(value: object, path: str = "") -> Iterator[str]:
    """Of all texts, keys among them, in a config of JSON's types."""
    if isinstance(value, dict):
        for key, inner in value.items():
            where = f"the key {show(key)}{f' of {path}' if path else ''}"
            if fault := _fault(key, LONGEST_KEY):
                yield f"{where} {fault}"
            else:
                yield from faults_in(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from faults_in(inner, f"{path}[{at}]")
    elif isinstance(value, str) and (fault := _fault(value, LONGEST)):
        yield f"{path} is {show(value)}: it {fault}"


def _fault(text: str, longest: int) -> str | None:
    if len(text) > longest:
        return f"has {len(text):,} characters; must have at most {longest:,}"
    if hidden := next((character for character in text if _is_hidden(character)), None):
        return f"has a character that is not shown, U+{ord(hidden):04X}; leave it out"
    return None


def _is_hidden(character: str) -> bool:
    return (unicodedata.category(character) in ("Cc", "Cs") and character not in ALLOWED) or character in TURNING


def printable(text: str) -> str:
    """In one line, whatever it quotes: white space becomes single spaces, what is not shown becomes a code."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
