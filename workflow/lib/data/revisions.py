"""Commits of Hub repositories that the config does not pin: the first fetch records them, later ones keep to them.

`revisions.lock.json`, in the folder that Snakemake runs in, belongs into the user's repository: with it another machine
fetches the same files.
"""

import fcntl
import json
import os
import tempfile
from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.base.files import whole_file

LOCK = Path("revisions.lock.json")


def recorded(repository: str, lock: Path = LOCK) -> str | None:
    """The commit that an earlier fetch recorded."""
    if not lock.is_file():
        return None
    try:
        return json.loads(lock.read_text()).get(repository)
    except (ValueError, AttributeError) as error:
        raise UserError(f"{lock} is no JSON object of repositories and commits: restore it, or delete it") from error


def record(repository: str, commit: str, lock: Path = LOCK) -> str:
    """Record a commit, unless another job was faster; returns the one that counts."""
    path = Path(tempfile.gettempdir()) / f"tunescope-{os.getuid()}-revisions.guard"
    # not through a link, which anybody could have put there to have another file emptied
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)) as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)  # jobs that fetch side by side, all on the submitting node
        known = recorded(repository, lock)
        if known:
            return known
        commits = json.loads(lock.read_text()) if lock.is_file() else {}
        with whole_file(lock) as beside:
            Path(beside).write_text(json.dumps(commits | {repository: commit}, indent=1, sort_keys=True) + "\n")
    return commit
