"""Files of the Hub at a pinned revision, data only. The Hub is asked once, briefly, before its client is let loose.

Without a network that client tries again for minutes. What it has fetched before is then read from its cache, and so it
is with HF_HUB_OFFLINE=1. How long an answer may take: HF_HUB_ETAG_TIMEOUT, in seconds, as for the client (else 10).
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workflow.lib.base.errors import UserError


def snapshot(repository: str, revision: str, patterns: list[str], kind: str) -> Path:
    """The local folder of a repository, with all its files of the patterns; only these are fetched."""
    from huggingface_hub import snapshot_download  # half a second that a run with a mirror need not spend
    from huggingface_hub.errors import LocalEntryNotFoundError

    words = {"repo_type": kind, "revision": revision, "allow_patterns": patterns}
    try:
        _ask(repository, revision, kind)
    except Exception as no_answer:
        try:
            folder = Path(snapshot_download(repository, **words, local_files_only=True))
        except LocalEntryNotFoundError:
            raise no_answer from None
        if not first_match(folder, patterns):  # another split's files, say
            raise no_answer
        return folder
    return Path(snapshot_download(repository, **words))


@dataclass(frozen=True)
class Shard:
    """A file of a dataset on the Hub that is fetched only when somebody comes to read it."""

    repository: str
    revision: str
    name: str

    def fetch(self) -> Path:
        try:
            return snapshot(self.repository, self.revision, [self.name], "dataset") / self.name
        except Exception as error:  # whatever the network or the Hub answers
            where = f"the Hub's {self.repository} at {self.revision}"
            raise UserError(f"{self.name} was not fetched from {where} ({one_line(error)}); run again") from error


def shards(repository: str, revision: str, patterns: list[str]) -> list[Shard]:
    """A dataset's files of the first pattern that has any, none of them fetched yet."""
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    try:
        names = [file.rfilename for file in _ask(repository, revision, "dataset").siblings]
    except Exception as no_answer:
        try:  # all names, not those of the fetched files only: without a network the rows must not be others
            names = [file.path for file in get_cached_repo_tree(repository, repo_type="dataset", revision=revision)]
        except CachedRepoTreeNotFoundError:
            raise no_answer from None
    for pattern in patterns:  # as in a folder: * does not stand for a slash
        of_depth = (name for name in sorted(names) if name.count("/") == pattern.count("/"))
        if found := [Shard(repository, revision, name) for name in of_depth if PurePosixPath(name).match(pattern)]:
            return found
    return []


def first_match(folder: Path, patterns: list[str]) -> list[Path]:
    """One layout's files only: a folder that holds two layouts must not give every row twice."""
    return next((found for pattern in patterns if (found := sorted(folder.glob(pattern)))), [])


def one_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


def _ask(repository: str, revision: str, kind: str):
    from huggingface_hub import HfApi
    from huggingface_hub.constants import HF_HUB_ETAG_TIMEOUT

    return HfApi().repo_info(repository, repo_type=kind, revision=revision, timeout=HF_HUB_ETAG_TIMEOUT)
