"""Full disks and folders that cannot be written: said in one line, before a run where that can be known."""

import errno
import shutil
import tempfile
from pathlib import Path

FAULTS = {
    errno.ENOSPC: "No space left on device",
    errno.EDQUOT: "Disk quota exceeded",
    errno.EROFS: "Read-only file system",
    errno.EACCES: "Permission denied",
}


def disk_fault(error: BaseException | None) -> str | None:
    """Why a file could not be written, in the system's words, if that is what an error is about. Libraries wrap the
    system's errors in their own, so that causes and texts are looked at too."""
    while error is not None:
        number = error.errno if isinstance(error, OSError) else None
        told = next((text for fault, text in FAULTS.items() if fault == number or text in str(error)), None)
        if told:
            return told
        error = error.__cause__ or error.__context__
    return None


def existing(folder: Path) -> Path:
    """The folder, or the nearest above it that is there."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())


def unwritable(folder: Path) -> str | None:
    """Why nothing can be written into a folder; None if it can."""
    try:
        with tempfile.TemporaryFile(dir=existing(folder)) as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        return f"{folder} cannot be written ({error.strerror})"
    return None


def lacks_room(folder: Path, gigabytes: float) -> str | None:
    """A note if a run would need more than is free."""
    free = shutil.disk_usage(existing(folder)).free / 1e9
    if free > gigabytes:
        return None
    return f"the whole run needs about {gigabytes:.1f} GB at a time, and {folder} has {free:.1f} GB free"
