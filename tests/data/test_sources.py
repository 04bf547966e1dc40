"""Where files come from: the layouts of a mirror, exactly the right downloads, and errors that say what to do."""

import copy
import hashlib
import io
import logging
import urllib.response
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from jsonschema import Draft202012Validator

from workflow.lib.base.config import anchored
from workflow.lib.base.errors import UserError
from workflow.lib.corpus.tasks import DATASETS, generate
from workflow.lib.data import hub, sources
from workflow.lib.data.sources import locate_with_origin

ROOT = Path(__file__).resolve().parents[2]
HASH = "0123456789abcdef0123456789abcdef01234567"
CONTENT = b"NUM:count How many ?\n"
REGISTRY = yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text())
SCHEMA = yaml.safe_load((ROOT / "workflow" / "schemas" / "datasets.schema.yaml").read_text())
VALIDATOR = Draft202012Validator(anchored(SCHEMA))


def locate(*args, **options) -> list[Path | hub.Shard]:
    return locate_with_origin(*args, **options)[0]


@pytest.fixture
def hub_entry():
    return {
        "splits": {"train": {"from": "train"}, "test": {"from": "validation"}},
        "sources": [{"hub": "org/name", "config": "cfg", "revision": HASH}],
    }


@pytest.fixture
def raw_entry():
    split = {"file": "sub/train.label", "sha256": hashlib.sha256(CONTENT).hexdigest()}
    source = {"raw": "org/files", "url": "https://example.org/{revision}", "revision": "v1"}
    return {"splits": {"train": split}, "sources": [source]}


@pytest.fixture
def licensed_entry():
    split = {"file": "sub/train.json", "sha256": None}
    return {
        "splits": {"train": split},
        "sources": [{"raw": "edges/corpus", "obtain": "the Corpus (LDC) as JSON lines"}],
    }


def answer(url: str) -> urllib.response.addinfourl:
    """Of a server, as urlopen returns it."""
    return urllib.response.addinfourl(io.BytesIO(CONTENT), {}, url)


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


@pytest.mark.parametrize(
    "files",
    [
        ["cfg/validation-00000-of-00002.parquet", "cfg/validation-00001-of-00002.parquet"],
        ["cfg/validation/0000.parquet", "cfg/validation/0001.parquet"],
        ["data/validation-00000-of-00001.parquet"],
    ],
)
def test_a_mirror_may_have_any_layout_of_the_hub(tmp_path, hub_entry, files):
    decoys = ["cfg/validation_matched-00000-of-00001.parquet", "other/validation-0.parquet", "cfg/validation-script.py"]
    touch(tmp_path / "org/name", *files, *decoys)
    assert locate(hub_entry, "test", tmp_path) == [tmp_path / "org/name" / file for file in files]
    assert locate(hub_entry, "test", str(tmp_path)) == locate(hub_entry, "test", tmp_path)


def test_two_layouts_in_one_folder_do_not_double_the_rows(tmp_path, hub_entry):
    touch(tmp_path / "org/name", "cfg/train-0.parquet", "cfg/train/0.parquet", "data/train-0.parquet")
    assert [file.name for file in locate(hub_entry, "train", tmp_path)] == ["train-0.parquet"]


def test_a_mirror_is_read_in_its_own_layout_even_where_the_registry_names_the_hubs(tmp_path, hub_entry):
    hub_entry["sources"][0]["files"] = "{config}/{split}-000[0-4]0-of-00041.parquet"
    touch(tmp_path / "org/name", "cfg/train-00000-of-00001.parquet")
    files, origin = locate_with_origin(hub_entry, "train", tmp_path)
    assert len(files) == 1 and origin == f"org/name, train, from a mirror (pinned: {HASH})"


def test_missing_shards_are_mentioned(tmp_path, hub_entry, caplog):
    touch(tmp_path / "org/name", "cfg/train-00000-of-00003.parquet", "cfg/train-00002-of-00003.parquet")
    locate(hub_entry, "train", tmp_path, dataset="toy")
    assert "dataset toy, split train: 2 of 3 shards found" in caplog.text


def test_later_sources_are_asked_when_the_first_has_nothing(tmp_path, hub_entry):
    hub_entry["sources"].append({"hub": "org/second", "config": "cfg", "revision": HASH})
    touch(tmp_path / "org/second", "cfg/train-0.parquet")
    files, origin = locate_with_origin(hub_entry, "train", tmp_path)
    assert files == [tmp_path / "org/second/cfg/train-0.parquet"] and origin.startswith("org/second")


def test_what_is_not_in_the_mirror_is_named_with_all_places_and_the_remedy(tmp_path, hub_entry, monkeypatch):
    monkeypatch.setattr(hub, "_ask", lambda *_: pytest.fail("a mirror never downloads"))
    hub_entry["sources"].append({"hub": "org/second", "config": "cfg", "revision": HASH})
    touch(tmp_path / "org/name", "cfg/train-0.parquet")
    with pytest.raises(UserError) as error:
        locate(hub_entry, "test", tmp_path, dataset="toy")
    message = str(error.value)
    assert message.startswith("dataset toy, split test: not found; looked for cfg/validation-*.parquet or ")
    assert f"in {tmp_path}/org/name;" in message and f"in {tmp_path}/org/second (no such folder)" in message
    assert message.endswith("set `mirror: <folder>` in the config, with <folder>/org/name/cfg/validation-*.parquet")
    assert "\n" not in message


def test_an_unknown_split_is_named(hub_entry, tmp_path):
    with pytest.raises(UserError, match=r"dataset toy has no split 'tests' \(did you mean 'test'\?\)"):
        locate(hub_entry, "tests", tmp_path, dataset="toy")


@pytest.mark.parametrize("files", [None, "data/{split}-*.parquet"])
def test_without_a_mirror_exactly_the_splits_files_are_asked_of_the_hub(tmp_path, hub_entry, monkeypatch, files):
    asked = {}

    def download(repository, **words):
        asked.update(words, repository=repository)
        touch(tmp_path, "data/validation-00000-of-00001.parquet")
        return str(tmp_path)

    monkeypatch.setattr(hub, "_ask", lambda *_: None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    if files:
        hub_entry["sources"][0]["files"] = files
    found, origin = locate_with_origin(hub_entry, "test")
    assert found == [tmp_path / "data/validation-00000-of-00001.parquet"]
    assert origin == f"org/name, validation, revision {HASH}"
    usual = ["cfg/validation-*.parquet", "cfg/validation/*.parquet", "data/validation-*.parquet"]
    assert asked.pop("allow_patterns") == (usual[2:] if files else usual)
    assert asked == {"repository": "org/name", "repo_type": "dataset", "revision": HASH}


def test_only_names_of_shards_are_asked_of_the_hub_for_what_is_streamed(hub_entry, monkeypatch):
    names = ["cfg/sub/train-0.parquet", "train-0.parquet", "cfg/train-1.parquet", "cfg/train-0.parquet", "cfg/train.py"]
    about = SimpleNamespace(siblings=[SimpleNamespace(rfilename=name) for name in names])
    monkeypatch.setattr(hub, "_ask", lambda *_: about)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: pytest.fail("nothing is fetched yet"))
    shards = locate(hub_entry | {"adapter": "sentences"}, "train")
    assert shards == [hub.Shard("org/name", HASH, name) for name in ("cfg/train-0.parquet", "cfg/train-1.parquet")]
    with pytest.raises(UserError, match=r"in the Hub's org/name at 0123\w+ \(no such files\); to provide it, set"):
        locate(hub_entry | {"adapter": "sentences"}, "test")


@pytest.mark.parametrize("adapter", ["text", "sentences"])
def test_without_network_the_error_says_where_and_how(hub_entry, monkeypatch, tmp_path, adapter):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UserError) as error:
        locate(hub_entry | {"adapter": adapter}, "train", dataset="toy")
    message = str(error.value)
    assert "\n" not in message and "dataset toy, split train: not found" in message
    assert f"in the Hub's org/name at {HASH} (" in message and "mirror: <folder>" in message


def test_raw_files_are_found_plain_or_gzipped(tmp_path, raw_entry):
    touch(tmp_path / "org/files", "sub/train.label.gz")
    assert locate(raw_entry, "train", tmp_path) == [tmp_path / "org/files/sub/train.label.gz"]
    touch(tmp_path / "org/files", "sub/train.label")
    assert locate(raw_entry, "train", tmp_path) == [tmp_path / "org/files/sub/train.label"]


def test_raw_files_are_downloaded_once_and_checked(tmp_path, raw_entry, monkeypatch):
    asked = []
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path))
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda url, timeout: asked.append(url) or answer(url))
    for _ in range(2):
        [file] = locate(raw_entry, "train")
        assert file.read_bytes() == CONTENT
    assert asked == ["https://example.org/v1/sub/train.label"]
    file.write_bytes(CONTENT[:-1])
    with pytest.raises(UserError, match=r"train.label is damaged .* delete both"):
        locate(raw_entry, "train")
    raw_entry["splits"]["train"] = {"file": "other.label", "sha256": "0" * 64}
    with pytest.raises(UserError, match=r"other.label has sha256 .* where the registry says 000"):
        locate(raw_entry, "train")
    assert not list(tmp_path.rglob("other*"))


def test_a_raw_file_of_unknown_sum_is_kept_with_a_warning(tmp_path, raw_entry, monkeypatch, caplog):
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path))
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda url, timeout: answer(url))
    raw_entry["splits"]["train"]["sha256"] = None
    [file] = locate(raw_entry, "train")
    assert file.read_bytes() == CONTENT
    assert f"train.label has sha256 {hashlib.sha256(CONTENT).hexdigest()}, which the registry does not" in caplog.text


@pytest.mark.parametrize("left, how", [({}, "drawn"), ({"left": False}, "drawn"), ({"left": True}, "left")])
def test_the_origin_says_which_rows_were_drawn(tmp_path, raw_entry, left, how):
    raw_entry["splits"]["train"]["drawn"] = {"seed": 42, "share": 0.85} | left
    touch(tmp_path / "org/files", "sub/train.label")
    origin = f"org/files, sub/train.label rows {how} by seed 42, share 0.85, from a mirror (pinned: v1)"
    assert locate_with_origin(raw_entry, "train", tmp_path)[1] == origin


def test_the_origin_says_which_part_of_a_file_it_is(tmp_path, raw_entry):
    raw_entry["splits"]["train"]["part"] = [800, 1000]
    touch(tmp_path / "org/files", "sub/train.label")
    origin = "org/files, sub/train.label rows 801-1000, from a mirror (pinned: v1)"
    assert locate_with_origin(raw_entry, "train", tmp_path)[1] == origin


def test_raw_files_come_by_https_only_and_no_network_is_said(tmp_path, raw_entry, monkeypatch):
    def no_network(url, timeout):
        raise OSError("Name or service not known")

    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path))
    monkeypatch.setattr(sources.urllib.request, "urlopen", no_network)
    with pytest.raises(
        UserError, match=r"looked for https://example.org/v1/sub/train.label \(Name or.*<folder>/org/files/sub"
    ):
        locate(raw_entry, "train")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda *_, **__: pytest.fail("offline is offline"))
    with pytest.raises(UserError, match=r"train.label \(HF_HUB_OFFLINE is set\); to provide it"):
        locate(raw_entry, "train")
    raw_entry["sources"][0]["url"] = "file:///etc"
    with pytest.raises(UserError, match="not https"):
        locate(raw_entry, "train")


# ---- licensed files


def test_licensed_files_are_found_in_their_folder_first_and_in_a_mirror_else(tmp_path, licensed_entry):
    own, mirror = tmp_path / "own", tmp_path / "mirror"
    touch(mirror, "edges/corpus/sub/train.json.gz")
    for licensed in (None, own):  # a folder that does not exist yet is no reason to stop
        assert locate(licensed_entry, "train", mirror, licensed=licensed) == [mirror / "edges/corpus/sub/train.json.gz"]
    touch(own, "edges/corpus/sub/train.json")
    files, origin = locate_with_origin(licensed_entry, "train", mirror, licensed=str(own))
    assert files == [own / "edges/corpus/sub/train.json"]
    assert origin == "edges/corpus, sub/train.json, from a folder of licensed data"
    assert locate(licensed_entry, "train", licensed=own) == files


@pytest.mark.parametrize("set_keys", [(), ("mirror",), ("licensed",), ("mirror", "licensed")])
def test_without_licensed_files_the_error_says_what_to_put_where(tmp_path, licensed_entry, monkeypatch, set_keys):
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda *_, **__: pytest.fail("never downloaded"))
    folders = {key: tmp_path / key for key in set_keys}
    with pytest.raises(UserError) as error:
        locate(licensed_entry, "train", dataset="toy", **folders)
    message = str(error.value)
    assert message.startswith("dataset toy, split train: not found; looked for sub/train.json or sub/train.json.gz in ")
    assert all(f"{folder}/edges/corpus" in message for folder in folders.values())
    assert ("neither `licensed` nor `mirror` is set" in message) == (not folders)
    remedy = "set `licensed: <folder>` in the config, with <folder>/edges/corpus/sub/train.json; "
    assert message.endswith(f"{remedy}it is under licence: the Corpus (LDC) as JSON lines") and "\n" not in message


def test_other_sources_do_not_look_among_licensed_files(tmp_path, raw_entry, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path))
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda url, timeout: answer(url))
    touch(tmp_path / "own", "org/files/sub/train.label")
    [file] = locate(raw_entry, "train", licensed=tmp_path / "own")
    assert file.read_bytes() == CONTENT


# ---- the registry


def test_the_registry_fits_its_schema():
    assert [error.message for error in VALIDATOR.iter_errors(REGISTRY)] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.update(colour="red"),
        lambda entry: entry["options"].update(txt="x"),
        lambda entry: entry["splits"]["train"].update(size=3),
        lambda entry: entry["splits"].update(train={"rows": 3}),
        lambda entry: entry["sources"][0].update(branch="main"),
        lambda entry: entry["sources"][0].update(revision="main"),
        lambda entry: entry["sources"][0].update(hub="../../etc"),
        lambda entry: entry["sources"][0].update(files="../{split}.parquet"),
        lambda entry: entry["sources"][0].update(files="{split}.py"),
        lambda entry: entry.update(adapter="pickle"),
        lambda entry: entry.pop("labels"),
    ],
)
def test_the_schema_refuses_unknown_keys_and_unpinned_or_climbing_sources(change):
    entry = yaml.safe_load(yaml.safe_dump(REGISTRY["registry"]["imdb"]))
    change(entry)
    assert not VALIDATOR.is_valid({"registry": {"imdb": entry}})


@pytest.mark.parametrize(
    "dataset, change",
    [
        ("pud", lambda entry: entry["splits"]["train"].update(part=[800])),
        ("pud", lambda entry: entry["splits"]["train"].update(part=[-200, 0])),
        ("pud", lambda entry: entry["splits"]["train"].pop("sha256")),
        ("pud", lambda entry: entry["splits"]["train"].update(sha256="abc")),
        ("pud", lambda entry: entry["options"].update(text="x")),
        ("pud", lambda entry: entry.update(kind="text")),
        ("ps_fxn", lambda entry: entry["options"].update(label="ss3")),
        ("ps_fxn", lambda entry: entry["options"].pop("label")),
        ("trec50", lambda entry: entry["options"].update(encoding="idna")),
        ("wikipedia", lambda entry: entry["splits"]["sentences"].update(part=[0, 5])),
        ("wikipedia", lambda entry: entry["splits"]["sentences"].update(drawn={"seed": 1, "share": 0.5})),
        ("wikipedia", lambda entry: entry["splits"]["sentences"].update(rows=6_400_000)),
        ("squad", lambda entry: entry["options"].update(text="x")),
        ("squad", lambda entry: entry.update(kind="text")),
        ("ep_relations", lambda entry: entry.update(shape="span")),
        ("ep_relations", lambda entry: entry["splits"]["dev"]["drawn"].pop("seed")),
        ("ep_relations", lambda entry: entry["splits"]["dev"]["drawn"].update(share=85)),
        ("ep_relations", lambda entry: entry["splits"]["dev"]["drawn"].update(keep=True)),
        ("ep_dependencies", lambda entry: entry["options"].update(label="lemma")),
        ("ep_dependencies", lambda entry: entry["options"].pop("label")),
        ("ep_srl", lambda entry: entry.update(shape="tree")),
        ("ep_srl", lambda entry: entry["sources"][0].pop("obtain")),
        ("ep_srl", lambda entry: entry["sources"][0].update(url="https://example.org")),
        ("ep_srl", lambda entry: entry["sources"][0].update(raw="../edges")),
    ],
)
def test_the_schema_knows_the_options_of_every_adapter(dataset, change):
    entry = copy.deepcopy(REGISTRY["registry"][dataset])
    assert VALIDATOR.is_valid({"registry": {dataset: entry}})
    change(entry)
    assert not VALIDATOR.is_valid({"registry": {dataset: entry}})


def test_the_registry_and_the_embedded_corpus_agree_on_kinds():
    registry = REGISTRY["registry"]
    assert registry.keys() - DATASETS.keys() == {"ptb", "ep_pos_ontonotes"}  # licensed: an embedded one stands in
    assert DATASETS.keys() <= registry.keys()
    for name in DATASETS:
        assert DATASETS[name].kind == registry[name]["kind"], name


def test_edge_probing_has_the_same_number_of_spans_in_both_worlds():
    for name in DATASETS:
        if name.startswith("ep_"):
            [row] = generate(name, "train", {"train": 1}, 0)
            two_spans = row["targets"][0]["start2"] is not None
            assert REGISTRY["registry"][name]["shape"] == ("span-pair" if two_spans else "span"), name


def test_the_schema_takes_raw_sources(raw_entry):
    entry = REGISTRY["registry"]["imdb"] | raw_entry
    assert VALIDATOR.is_valid({"registry": {"trec50": entry}})


def is_licensed(dataset):
    return any("obtain" in source for source in REGISTRY["registry"][dataset]["sources"])


def test_what_is_licensed_says_so():
    licensed = [name for name in REGISTRY["registry"] if is_licensed(name)]
    assert set(licensed) == {
        "ep_constituents", "ep_pos_ontonotes", "ep_entities", "ep_srl", "ep_coreference", "ep_spr", "ptb"
    }  # fmt: skip
    assert {REGISTRY["registry"][name]["licence"] for name in licensed} == {"LDC"}


@pytest.mark.parametrize("dataset", [name for name in REGISTRY["registry"] if not is_licensed(name)])
def test_the_mirror_has_every_registered_split_but_one(mirror, dataset, caplog):
    entry = REGISTRY["registry"][dataset]
    caplog.set_level(logging.WARNING)
    for split in entry["splits"]:
        if (dataset, split) != ("mnli", "test_mismatched"):
            assert locate(entry, split, mirror)
    assert not caplog.records
