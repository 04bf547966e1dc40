"""Before the first job: can all that must be fetched be had? What cannot is told in one list, within seconds.

Files of a mirror or of licensed data are looked for. If a server that is needed does not answer, what came from it
before is looked for in the client's cache, as the fetching jobs would do one after the other.
"""

import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from workflow.lib.base.errors import UserError
from workflow.lib.data.requests import fetch_settings
from workflow.lib.data.sources import locate_with_origin
from workflow.lib.encoders.fetching import download
from workflow.lib.encoders.requests import fetched

TIMEOUT = 5  # seconds
ELSEWHERE = "where there is a network, by your command with `--until fetch_dataset fetch_encoder`"


@dataclass(frozen=True)
class Fetch:
    """A split of a dataset, or an encoder, that a job would fetch."""

    rule: str
    wildcards: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        of = dict(self.wildcards)
        return f"{of['dataset']}/{of['split']}" if self.rule == "fetch_dataset" else f"encoder {of['name']}"


def fetches_among(jobs: Iterable) -> list[Fetch]:
    """Of Snakemake's jobs; seeds of an encoder from the Hub are one."""
    asked = [job for job in jobs if job.rule.name in ("fetch_dataset", "fetch_encoder")]
    without = ("seed",)
    found = (
        Fetch(job.rule.name, tuple((key, value) for key, value in job.wildcards_dict.items() if key not in without))
        for job in asked
    )
    return list(dict.fromkeys(found))


def servers(config: dict, fetch: Fetch) -> list[str]:
    """Addresses that it needs; none for what lies in a folder."""
    from huggingface_hub.constants import ENDPOINT

    of = dict(fetch.wildcards)
    if fetch.rule == "fetch_encoder":
        return [] if "path" in config["encoders"][of["name"]] else [ENDPOINT]
    if config["mirror"] is not None:
        return []
    sources = [source for source in config["registry"][of["dataset"]]["sources"] if "obtain" not in source]
    return [ENDPOINT if "hub" in source else source["url"] for source in sources]


def answers(address: str) -> bool:
    """Any answer counts, also a refusal."""
    place = urlsplit(address)
    asked = urllib.request.Request(f"{place.scheme}://{place.netloc}/", method="HEAD")
    try:
        urllib.request.urlopen(asked, timeout=TIMEOUT).close()
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False
    return True


@contextmanager
def offline() -> Iterator[None]:
    """The Hub's client asks only its cache."""
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def look_for(config: dict, fetch: Fetch) -> None:
    """Raises what the job would."""
    of = dict(fetch.wildcards)
    if fetch.rule == "fetch_encoder":
        asked = fetched(config, of["name"])
        if "path" not in asked:
            download(asked["id"], asked.get("revision"))
        return
    settings = fetch_settings(config, of["dataset"], of["split"])
    folders = {key: settings[key] for key in ("mirror", "licensed")}
    locate_with_origin(settings["entry"], of["split"], dataset=of["dataset"], **folders)


def unavailable(config: dict, fetches: list[Fetch]) -> str | None:
    """A text of what cannot be had; None if nothing stands in the way."""
    from huggingface_hub.constants import HF_HUB_OFFLINE

    needed = {fetch: servers(config, fetch) for fetch in fetches}
    hosts = list(dict.fromkeys(address for addresses in needed.values() for address in addresses))
    with ThreadPoolExecutor(max_workers=8) as at_once:
        silent = [host for host, is_there in zip(hosts, at_once.map(answers, hosts)) if HF_HUB_OFFLINE or not is_there]
    in_no_cache: dict[str, list[str]] = {}
    in_no_folder = []
    with offline():
        for fetch, addresses in needed.items():
            if addresses and not all(address in silent for address in addresses):
                continue
            try:
                look_for(config, fetch)
            except UserError as error:
                if addresses:
                    in_no_cache.setdefault(urlsplit(addresses[0]).netloc, []).append(fetch.name)
                else:
                    in_no_folder.append(str(error))
    if not in_no_cache and not in_no_folder:
        return None
    n_missing = len(in_no_folder) + sum(map(len, in_no_cache.values()))
    lines = [f"{n_missing} of {len(fetches)} datasets and encoders cannot be had.", *in_no_folder]
    if in_no_cache:
        said = "HF_HUB_OFFLINE is set" if HF_HUB_OFFLINE else f"no answer within {TIMEOUT} s"
        lines += [f"From {host} ({said}), and in no cache: {', '.join(names)}" for host, names in in_no_cache.items()]
        lines.append(f"Fetch them {ELSEWHERE}, or give a `mirror: <folder>`, and a `path` to encoders")
    return "\n".join(lines)
