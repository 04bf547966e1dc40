"""Checksums of a model's files and of downloads, in the format of `sha256sum`, so that damage is noticed before it is
computed with.

`sha256sum -c tunescope.sha256` in a model's folder says the same; a download `x` has its own in `x.sha256`.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.base.files import whole_folder

SEAL = "tunescope.sha256"


@contextmanager
def sealed_folder(path: str | Path) -> Iterator[Path]:
    """A folder that appears whole or not at all, with the checksums of its files."""
    with whole_folder(path) as folder:
        yield folder
        seal(folder)


def seal(folder: Path) -> None:
    """Write the checksums of all files of a folder that is finished."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SEAL)
    (folder / SEAL).write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in files))


def check_seal(folder: str | Path) -> None:
    """Stop at a file that is not as it was when the folder was finished. A folder without a seal is none of ours."""
    path = Path(folder) / SEAL
    if not path.is_file():
        return
    for line in path.read_text(errors="replace").splitlines():
        wanted, _, name = line.partition("  ")
        file = Path(folder) / name
        if not name or "/" in name or not file.is_file() or _digest(file) != wanted:
            raise UserError(f"{file if name else path} is damaged (it does not fit {SEAL}); delete {folder}, run again")


def seal_file(path: Path) -> None:
    """Write the checksum of a single file beside it."""
    _beside(path).write_text(f"{_sha256(path)}  {path.name}\n")


def check_file(path: Path) -> None:
    """Stop at a file that is not as it was when it was sealed. One without a seal was put there by somebody else."""
    if _beside(path).is_file() and _beside(path).read_text(errors="replace") != f"{_sha256(path)}  {path.name}\n":
        raise UserError(f"{path} is damaged (it does not fit {_beside(path).name}); delete both, run again")


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _digest(path: Path) -> str:
    at = path.stat()
    return _known(path, at.st_size, at.st_mtime_ns, at.st_ino)


@lru_cache(maxsize=256)  # sweeps load the same encoder hundreds of times
def _known(path: Path, *_: int) -> str:
    return _sha256(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
