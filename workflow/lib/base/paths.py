"""Paths that a user gives. Asked for, never trusted: whatever text stands there, the answer is yes or no."""

import os
from pathlib import Path


def local(path: str | Path) -> Path:
    """With `~` for the user's own folder. A `~name` of nobody stays as it is, where Path.expanduser would stop."""
    return Path(os.path.expanduser(path))


def is_file(path: str | Path) -> bool:
    """No error for names that no file can have, nor in folders that may not be read, unlike Path.is_file."""
    return os.path.isfile(os.path.expanduser(path))


def is_folder(path: str | Path) -> bool:
    return os.path.isdir(os.path.expanduser(path))
