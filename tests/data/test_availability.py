"""What cannot be had is told before the first job, in one list: no network, no file in the mirror, no licence."""

import http.server
import threading
from types import SimpleNamespace

import pytest
import yaml

from workflow.lib.base.digests import ROOT
from workflow.lib.data import availability
from workflow.lib.data.availability import Fetch, fetches_among, unavailable

REGISTRY = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
CLOSED = "http://127.0.0.1:9"  # a port that nobody listens at


def config(mirror=None, licensed=None):
    names = ("imdb", "sst2", "pud", "ep_srl")
    datasets = {name: {"source": "real", "rows": dict.fromkeys(REGISTRY[name]["splits"])} for name in names}
    encoders = {"mine": {"source": "hub", "id": "a/b", "revision": "0" * 40}, "near": {"source": "folder", "path": "x"}}
    return {"registry": REGISTRY, "datasets": datasets, "encoders": encoders, "mirror": mirror, "licensed": licensed,
            "seed": 0}  # fmt: skip


def data(dataset, split="train"):
    return Fetch("fetch_dataset", (("dataset", dataset), ("split", split)))


MINE, NEAR = (Fetch("fetch_encoder", (("name", name),)) for name in ("mine", "near"))


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", CLOSED)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path))
    monkeypatch.setattr(availability, "answers", lambda address: False)


def test_without_a_network_everything_is_in_one_list_by_server(no_network):
    said = unavailable(config(), [data("imdb"), data("imdb", "test"), data("pud"), MINE, NEAR])
    first, hub, raw, remedy = said.splitlines()
    assert first == "4 of 5 datasets and encoders cannot be had."
    assert hub.endswith("imdb/train, imdb/test, encoder mine") and raw.endswith("and in no cache: pud/train")
    assert "raw.githubusercontent.com" in raw and "mirror" in remedy and "--until fetch_dataset" in remedy


def test_what_is_in_the_cache_is_no_hindrance(no_network, monkeypatch):
    monkeypatch.setattr(availability, "look_for", lambda config, fetch: None)
    assert unavailable(config(), [data("imdb"), MINE]) is None


def test_a_server_that_answers_is_enough(monkeypatch):
    class Refusing(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_error(403)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    try:
        assert unavailable(config(), [data("imdb"), MINE]) is None
    finally:
        server.shutdown()
    assert not availability.answers(CLOSED)


def test_a_mirror_is_looked_through_without_any_network(no_network, tmp_path):
    place = tmp_path / "mirror/nyu-mll/glue/sst2"
    place.mkdir(parents=True)
    (place / "train-00000-of-00001.parquet").write_bytes(b"")
    said = unavailable(config(mirror=str(tmp_path / "mirror")), [data("sst2"), data("imdb"), data("pud"), NEAR])
    first, *others = said.splitlines()
    assert first == "2 of 4 datasets and encoders cannot be had." and len(others) == 2
    assert all("set `mirror: <folder>`" in line for line in others) and "dataset imdb, split train" in others[0]


def test_licensed_data_are_looked_for_in_their_folder(no_network, tmp_path):
    said = unavailable(config(licensed=str(tmp_path)), [data("ep_srl")])
    assert "set `licensed: <folder>`" in said and "network" not in said


def test_jobs_that_fetch_are_found_once_for_all_seeds():
    jobs = [
        SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards_dict=wildcards)
        for rule, wildcards in (
            ("fetch_encoder", {"name": "mine", "seed": "0"}),
            ("fetch_encoder", {"name": "mine", "seed": "1"}),
            ("fetch_dataset", {"dataset": "imdb", "split": "train"}),
            ("draw", {"paper": "matton2019", "id": "fig1"}),
        )
    ]
    assert fetches_among(jobs) == [MINE, data("imdb")]
