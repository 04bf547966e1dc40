"""Downloads files from the Hub at a pinned revision, data only, after one short request that checks the connection.

Without a network the Hub's client would retry for minutes. If the request fails, or with HF_HUB_OFFLINE=1, files come
from the client's cache. The request's timeout is the client's: HF_HUB_ETAG_TIMEOUT in seconds (default 10).
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workflow.lib.base.errors import UserError


def snapshot(repository: str, revision: str, patterns: list[str], kind: str) -> Path:
    """The local folder of a repository, with all its files that match the patterns; only these are fetched."""
    from huggingface_hub import snapshot_download  # takes half a second, which a run with a mirror can save
    from huggingface_hub.errors import LocalEntryNotFoundError

    words = {"repo_type": kind, "revision": revision, "allow_patterns": patterns}
    try:
        _ask(repository, revision, kind)
    except Exception as no_answer:
        try:
            folder = Path(snapshot_download(repository, **words, local_files_only=True))
        except LocalEntryNotFoundError:
            raise no_answer from None
        if not first_match(folder, patterns):  # for example, only another split's files are cached
            raise no_answer
        return folder
    return Path(snapshot_download(repository, **words))


def newest_commit(repository: str, kind: str) -> str:
    """Of the main branch, now."""
    return _ask(repository, "main", kind).sha


@dataclass(frozen=True)
class Shard:
    """A file of a dataset on the Hub that is fetched only when it is read."""

    repository: str
    revision: str
    name: str

    def fetch(self) -> Path:
        try:
            return snapshot(self.repository, self.revision, [self.name], "dataset") / self.name
        except Exception as error:  # any failure of the network or the Hub
            where = f"the Hub's {self.repository} at {self.revision}"
            raise UserError(f"{self.name} was not fetched from {where} ({one_line(error)}); run again") from error


def shards(repository: str, revision: str, patterns: list[str]) -> list[Shard]:
    """A dataset's files that match the first pattern with a match, none of them fetched yet."""
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    try:
        names = [file.rfilename for file in _ask(repository, revision, "dataset").siblings]
    except Exception as no_answer:
        try:  # all names, not only those of the cached files: without a network the rows must be the same
            names = [file.path for file in get_cached_repo_tree(repository, repo_type="dataset", revision=revision)]
        except CachedRepoTreeNotFoundError:
            raise no_answer from None
    for pattern in patterns:  # as in a file system, * does not match a slash
        of_depth = (name for name in sorted(names) if name.count("/") == pattern.count("/"))
        if found := [Shard(repository, revision, name) for name in of_depth if PurePosixPath(name).match(pattern)]:
            return found
    return []


def first_match(folder: Path, patterns: list[str]) -> list[Path]:
    """Files of the first pattern with a match: a folder that holds two layouts must not give every row twice."""
    return next((found for pattern in patterns if (found := sorted(folder.glob(pattern)))), [])


def one_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


def _ask(repository: str, revision: str, kind: str):
    from huggingface_hub import HfApi
    from huggingface_hub.constants import HF_HUB_ETAG_TIMEOUT

    return HfApi().repo_info(repository, repo_type=kind, revision=revision, timeout=HF_HUB_ETAG_TIMEOUT)
