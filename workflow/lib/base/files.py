"""Atomic outputs: written under a temporary name in the same folder, then renamed.

Temporary files of killed jobs are removed by the next job: Snakemake never lets two jobs write the same output.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path


def remove_parts(path: Path) -> None:
    """Remove temporary files of exactly this output: another output's name may start with the same characters."""
    for part in path.parent.glob(f".{escape(path.name)}.*.part"):
        if not part.name.removeprefix(f".{path.name}.").removesuffix(".part").isdigit():
            continue
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; it becomes `path` only if the block ends without an error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    remove_parts(path)
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """The same for a folder. An older folder of that name is replaced at the end, not before."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    remove_parts(path)
    beside.mkdir()
    try:
        yield beside
        if path.exists():
            shutil.rmtree(path)
        os.replace(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
