"""What is downloaded comes by https, of a commit, and with a sum where one is known."""

import re
import urllib.response
from io import BytesIO
from pathlib import Path

import pytest
import yaml

from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.data import sources

REGISTRY = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
# files by address whose published bytes we have not seen: a download warns with the sum it found
WITHOUT_SUM = {("streusle", "train/streusle.ud_train.json")}
NAMES_OF_FORMATS = "http://www.w3.org/"  # never asked for


def texts() -> list[Path]:
    folders = [path for name in ("workflow", "config", "profiles", "envs") for path in (ROOT / name).rglob("*")]
    return [ROOT / "Snakefile", ROOT / "Makefile", *(path for path in folders if path.suffix in
            (".py", ".smk", ".yaml", ".yml", ".html", ".js", ".css", ".txt"))]  # fmt: skip


def test_every_address_is_https():
    for path in texts():
        text = path.read_text()
        found = [at[0] for at in re.finditer(r"\b(?:http|ftp)://\S*", text)]
        assert all(address.startswith(NAMES_OF_FORMATS) for address in found), (path, found)


def test_every_file_by_address_has_a_sum_or_is_listed_here():
    lacking = set()
    for entry in REGISTRY.values():
        for source in entry["sources"]:
            for split in entry["splits"].values() if "url" in source else ():
                assert source["url"].startswith("https://")
                lacking |= {(source["raw"].rpartition("/")[2], split["file"])} if split["sha256"] is None else set()
    assert lacking == WITHOUT_SUM


def test_every_hub_source_is_pinned():
    revisions = {source["revision"] for entry in REGISTRY.values() for source in entry["sources"] if "hub" in source}
    assert revisions and all(re.fullmatch("[0-9a-f]{40}|refs/convert/parquet", revision) for revision in revisions)


def test_a_download_that_is_passed_on_without_https_is_not_kept(tmp_path, monkeypatch):
    """A redirection, which urllib follows."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path))
    passed_on = urllib.response.addinfourl(BytesIO(b"NUM:count How many ?\n"), {}, "http://example.org/x")
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda url, timeout: passed_on)
    source = {"raw": "org/files", "url": "https://example.org/{revision}", "revision": "v1"}
    entry = {"splits": {"train": {"file": "x.label", "sha256": None}}, "sources": [source]}
    with pytest.raises(UserError, match=r"passed on to http://example\.org/x, which is not https"):
        sources.locate_with_origin(entry, "train")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
