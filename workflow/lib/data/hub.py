"""Files of the Hub at a pinned revision, data only. The Hub is asked once, briefly, before its client is let loose.

Without a network that client tries again for minutes. What it has fetched before is then read from its cache, and so it
is with HF_HUB_OFFLINE=1. How long an answer may take: HF_HUB_ETAG_TIMEOUT, in seconds, as for the client (else 10).
"""

from pathlib import Path, PurePosixPath


def snapshot(repository: str, revision: str, patterns: list[str], kind: str) -> Path:
    """The local folder of a repository, with all its files of the patterns; only these are fetched."""
    from huggingface_hub import snapshot_download  # half a second that a run with a mirror need not spend

    try:
        _ask(repository, revision, kind)
    except Exception as no_answer:
        return _cached(repository, revision, patterns, kind, no_answer)
    return Path(snapshot_download(repository, repo_type=kind, revision=revision, allow_patterns=patterns))


def addresses(repository: str, revision: str, patterns: list[str]) -> list[Path | str]:
    """Where a dataset's files of the first pattern that has any can be streamed from: nothing is fetched yet."""
    from huggingface_hub import try_to_load_from_cache

    try:
        about = _ask(repository, revision, "dataset")
    except Exception as no_answer:
        return first_match(_cached(repository, revision, patterns, "dataset", no_answer), patterns)
    names = sorted(file.rfilename for file in about.siblings)
    found = next((some for pattern in patterns if (some := [name for name in names if _fits(name, pattern)])), [])
    words = {"repo_type": "dataset", "revision": about.sha}
    local = {name: try_to_load_from_cache(repository, name, **words) for name in found}
    return [Path(local[name]) if local[name] else f"hf://datasets/{repository}@{about.sha}/{name}" for name in found]


def first_match(folder: Path, patterns: list[str]) -> list[Path]:
    """One layout's files only: a folder that holds two layouts must not give every row twice."""
    return next((found for pattern in patterns if (found := sorted(folder.glob(pattern)))), [])


def _ask(repository: str, revision: str, kind: str):
    from huggingface_hub import HfApi
    from huggingface_hub.constants import HF_HUB_ETAG_TIMEOUT

    return HfApi().repo_info(repository, repo_type=kind, revision=revision, timeout=HF_HUB_ETAG_TIMEOUT)


def _cached(repository: str, revision: str, patterns: list[str], kind: str, no_answer: Exception) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    words = {"repo_type": kind, "revision": revision, "allow_patterns": patterns, "local_files_only": True}
    try:
        folder = Path(snapshot_download(repository, **words))
    except LocalEntryNotFoundError:
        raise no_answer from None
    if not first_match(folder, patterns):  # another split's files, say
        raise no_answer
    return folder


def _fits(name: str, pattern: str) -> bool:
    """As in a folder: * does not stand for a slash."""
    return PurePosixPath(name).match(pattern) and name.count("/") == pattern.count("/")
