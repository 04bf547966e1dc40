"""Locates a dataset's files: in a local mirror, or on the Hub at a pinned revision. Only Parquet and text are read.

With a mirror nothing is downloaded, so a cluster node without network and a laptop with one read the same rows.
Licensed data are never downloaded: the user puts them into the folder `licensed`, or into the mirror.
"""

import hashlib
import logging
import re
import urllib.request
from pathlib import Path

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.base.files import whole_file
from workflow.lib.base.paths import local
from workflow.lib.base.seals import check_file, seal_file
from workflow.lib.data import hub

log = logging.getLogger(__name__)

STREAMED = {"sentences"}  # adapters that fetch shards one by one, until they have enough rows


def locate_with_origin(
    entry: dict,
    split: str,
    mirror: str | Path | None = None,
    *,
    dataset: str | None = None,
    licensed: str | Path | None = None,
) -> tuple[list[Path | hub.Shard], str]:
    """The files of a split, from the first source that has it, and a description of their origin without local paths.

    Without a mirror, files are downloaded first, unless their adapter streams them.
    """
    sources = entry["sources"]
    dataset = dataset or " / ".join(map(_repository, sources))
    if split not in entry["splits"]:
        raise UserError(f"dataset {dataset} has no split '{split}'{nearest(split, list(entry['splits']))}")
    wanted, tried = entry["splits"][split], []
    for source in sources:
        patterns = _patterns(source, wanted, in_mirror=mirror is not None or "obtain" in source)
        try:
            if "obtain" in source:
                files, place = _in_folders(source, patterns, [licensed, mirror]), "from a folder of licensed data"
            elif mirror is not None:
                files, place = _in_folders(source, patterns, [mirror]), f"from a mirror (pinned: {source['revision']})"
            else:
                streamed = entry.get("adapter") in STREAMED
                files, place = _downloaded(source, wanted, patterns, streamed), f"revision {source['revision']}"
        except _NotThere as error:
            tried.append(str(error))
            continue
        _warn_of_missing_shards(dataset, split, files, chosen="files" in source and mirror is None)
        return files, f"{_repository(source)}, {_what(wanted)}, {place}"
    layout = f"<folder>/{_repository(sources[0])}/{_patterns(sources[0], wanted, in_mirror=True)[0]}"
    remedy = f"set `mirror: <folder>` in the config, with {layout}"
    if obtain := sources[0].get("obtain"):
        remedy = f"set `licensed: <folder>` in the config, with {layout}; it is under licence: {obtain}"
    raise UserError(
        f"dataset {dataset}, split {split}: not found; looked for {'; '.join(tried)}; to provide it, {remedy}"
    )


class _NotThere(Exception):
    """The message says what was looked for, where, and why it was not found."""


def _repository(source: dict) -> str:
    return source.get("hub") or source["raw"]


def _what(split: dict) -> str:
    """The publisher's name of a split and, if only some rows are used, which ones (counted from 1)."""
    rows = " rows {}-{}".format(split["part"][0] + 1, split["part"][1]) if "part" in split else ""
    if draw := split.get("drawn"):
        rows += f" rows {'left' if draw.get('left') else 'drawn'} by seed {draw['seed']}, share {draw['share']}"
    return (split.get("from") or split["file"]) + rows


def _patterns(source: dict, split: dict, *, in_mirror: bool) -> list[str]:
    """Path patterns inside the repository; for downloads only the exact `files`, if the registry lists them."""
    if "raw" in source:
        return [split["file"], f"{split['file']}.gz"] if in_mirror else [split["file"]]
    config, name = source["config"], split["from"]
    usual = [f"{config}/{name}-*.parquet", f"{config}/{name}/*.parquet", f"data/{name}-*.parquet"]
    exact = [source["files"].format(config=config, split=name)] if "files" in source else []
    return list(dict.fromkeys(usual + exact)) if in_mirror else exact or usual


def _in_folders(source: dict, patterns: list[str], places: list[str | Path | None]) -> list[Path]:
    folders = [local(place) / _repository(source) for place in places if place is not None]
    for folder in folders:
        if found := hub.first_match(folder, patterns):
            return found
    where = [str(folder) if folder.is_dir() else f"{folder} (no such folder)" for folder in folders]
    where = " or ".join(where) or "no folder (neither `licensed` nor `mirror` is set)"
    raise _NotThere(f"{' or '.join(patterns)} in {where}")


def _downloaded(source: dict, split: dict, patterns: list[str], streamed: bool) -> list[Path | hub.Shard]:
    if "raw" in source:
        return [_download_from_url(source, split)]
    repository, revision, why = source["hub"], source["revision"], "no such files"
    try:
        # data files only: the patterns end in .parquet, so no script of the repository is even downloaded
        if streamed:
            found = hub.shards(repository, revision, patterns)
        else:
            found = hub.first_match(hub.snapshot(repository, revision, patterns, "dataset"), patterns)
    except Exception as error:  # any failure of the network or the Hub: the user's remedy is the same
        log.info("download of %s failed", repository, exc_info=error)
        found, why = [], hub.one_line(error)
    if not found:
        raise _NotThere(f"{' or '.join(patterns)} in the Hub's {repository} at {revision} ({why})")
    return found


def _download_from_url(source: dict, split: dict) -> Path:
    """Download an official file into a folder for its revision beside the Hub's cache, and check its sha256.

    If the registry has null (we have not seen the published bytes), the file is kept and a warning gives its sha256.
    """
    from huggingface_hub.constants import HF_HOME, HF_HUB_ETAG_TIMEOUT, HF_HUB_OFFLINE

    url = f"{source['url'].format(revision=source['revision'])}/{split['file']}"
    path = Path(HF_HOME) / "tunescope" / source["raw"] / source["revision"] / split["file"]
    if path.exists():
        check_file(path)
        return path
    if not url.startswith("https://"):
        raise UserError(f"{url} is not https, so what it sends cannot be trusted")
    if HF_HUB_OFFLINE:
        raise _NotThere(f"{url} (HF_HUB_OFFLINE is set)")
    try:
        with urllib.request.urlopen(url, timeout=HF_HUB_ETAG_TIMEOUT) as answer:
            content, sender = answer.read(), answer.url
    except OSError as error:
        raise _NotThere(f"{url} ({hub.one_line(error)})") from error
    if not sender.startswith("https://"):
        raise UserError(f"{url} was passed on to {sender}, which is not https; it was not kept")
    found = hashlib.sha256(content).hexdigest()
    if split["sha256"] is None:
        log.warning("%s has sha256 %s, which the registry does not know: compare it before you trust it", url, found)
    elif found != split["sha256"]:
        raise UserError(f"{url} has sha256 {found} where the registry says {split['sha256']}; it was not kept")
    with whole_file(path) as beside:
        beside.write_bytes(content)
    seal_file(path)
    return path


def _warn_of_missing_shards(dataset: str, split: str, files: list[Path | hub.Shard], *, chosen: bool) -> None:
    """Warn if shards are missing, as 'train-00000-of-00041.parquet' implies 41, unless the registry selects some."""
    declared = re.search(r"-of-(\d+)\.parquet$", files[0].name)
    if declared and len(files) != int(declared[1]) and not chosen:
        log.warning("dataset %s, split %s: %d of %d shards found", dataset, split, len(files), int(declared[1]))
