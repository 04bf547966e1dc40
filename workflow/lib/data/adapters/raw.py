"""Raw official files, plain or gzipped, line by line; a fault is said with its file and its place there."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from workflow.lib.base.errors import UserError


def numbered_lines(file: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Lines without their ends, counted from 1. Read as bytes: Python's text lines also end where a text has \\r."""
    number = 0
    try:
        with gzip.open(file) if file.suffix == ".gz" else open(file, "rb") as lines:
            for number, line in enumerate(lines, 1):
                yield number, line.decode(encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise fault(file, number, f"no {encoding} text ({error.reason}); delete the file and fetch it again") from error
    except (OSError, EOFError, zlib.error) as error:
        raise fault(file, f"after line {number}", f"unreadable ({error}); delete it and fetch it again") from error


def fault(file: Path, where: int | str, what: str) -> UserError:
    return UserError(f"{file}, {f'line {where}' if isinstance(where, int) else where}: {what}")
