"""Downloads from a stand-in for the Hub on this machine, by the client that talks to the real one.

In a process of its own, because the client reads the Hub's address when it is imported.
"""

import json
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizer

from tests.rehearsal.hub import COMMIT, Hub, environment
from workflow.lib.encoders.loading import load_encoder, load_tokenizer


def start(code: str, environment: dict[str, str]) -> subprocess.Popen:
    words = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, **words)


def run(code: str, environment: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)


FETCH = f"""
from workflow.lib.encoders.fetching import download
from workflow.lib.base.errors import UserError
try:
    print(download("org/tiny", "{COMMIT}"))
except UserError as error:
    print("UserError", error)
"""


def loaded(folder: Path) -> tuple[int, int]:
    return load_encoder(folder).config.hidden_size, len(load_tokenizer(folder))


@pytest.fixture
def encoder(tmp_path) -> Path:
    folder = tmp_path / "encoder"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]))
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    BertModel(BertConfig(vocab_size=7, **shape)).save_pretrained(folder)
    (folder / "modeling_evil.py").write_text("raise SystemExit('code of a repository ran')")
    (folder / "README.md").write_text("not needed")
    return folder


def test_an_encoder_comes_from_the_hub_without_its_code_and_is_kept(tmp_path, encoder):
    hub = Hub({"models/org/tiny": encoder})
    done = run(FETCH, hub.environment(tmp_path / "home"))
    folder = Path(done.stdout.strip())
    assert (folder / "model.safetensors").is_file(), done.stdout + done.stderr
    assert not list(folder.glob("*.py")) + list(folder.glob("README*")) and loaded(folder) == (8, 7)
    assert set(hub.sent) >= {"config.json", "model.safetensors"}
    assert not {"modeling_evil.py", "README.md"} & set(hub.sent)
    hub.stop()
    for offline in ("1", "0"):
        again = run(FETCH, hub.environment(tmp_path / "home") | {"HF_HUB_OFFLINE": offline})
        assert again.stdout.strip() == str(folder), again.stdout + again.stderr


def test_older_weights_are_fetched_where_there_are_no_safe_ones(tmp_path, encoder):
    from safetensors.torch import load_file

    torch.save(load_file(encoder / "model.safetensors"), encoder / "pytorch_model.bin")
    (encoder / "model.safetensors").unlink()
    hub = Hub({"models/org/tiny": encoder})
    done = run(FETCH, hub.environment(tmp_path / "home"))
    assert loaded(Path(done.stdout.strip())) == (8, 7), done.stdout + done.stderr
    hub.stop()


def test_the_first_fetch_records_a_commit_that_later_ones_keep_to(tmp_path, encoder):
    """In a folder of its own, as a user's repository is."""
    hub = Hub({"models/org/tiny": encoder})
    code = FETCH.replace(f', "{COMMIT}"', "")
    done = run(f"import os; os.chdir({str(tmp_path)!r})\n{code}", hub.environment(tmp_path / "home"))
    assert Path(done.stdout.strip()).name == COMMIT, done.stdout + done.stderr
    lock = tmp_path / "revisions.lock.json"
    assert json.loads(lock.read_text()) == {"org/tiny": COMMIT}
    other = "f" * 40  # the record counts, not the newest
    lock.write_text(json.dumps({"org/tiny": other}))
    done = run(f"import os; os.chdir({str(tmp_path)!r})\n{code}", hub.environment(tmp_path / "home"))
    assert Path(done.stdout.strip()).name == other, done.stdout + done.stderr
    lock.write_text("no json")
    done = run(f"import os; os.chdir({str(tmp_path)!r})\n{code}", hub.environment(tmp_path / "home"))
    assert "revisions.lock.json is no JSON object" in done.stdout
    hub.stop()


# ---- a Hub that does not answer: said within seconds, by one line


@pytest.fixture(params=["refuses", "never answers", "lacks it"])
def unhelpful(request):
    """Environments in which the Hub is of no use. A real one may take ten seconds to answer; here it has one."""
    if request.param == "lacks it":
        hub = Hub({})
        yield hub.environment
        hub.stop()
        return
    with socket.create_server(("127.0.0.1", 0)) as listening:  # takes connections in, and leaves it at that
        address = listening.getsockname()[1]
        if request.param == "refuses":
            listening.close()
        yield lambda home: environment(address, home) | {"HF_HUB_ETAG_TIMEOUT": "1"}


def test_an_encoder_that_cannot_be_had_is_an_error_that_says_what_to_do(tmp_path, unhelpful):
    start = time.monotonic()
    done = run(FETCH, unhelpful(tmp_path / "home"))
    assert done.stdout.startswith("UserError encoder org/tiny at revision"), done.stdout + done.stderr
    assert "`path: <folder>`" in done.stdout and time.monotonic() - start < 10


@pytest.mark.parametrize("adapter", ["text", "sentences"])
def test_a_dataset_that_cannot_be_had_is_an_error_that_says_what_to_do(tmp_path, unhelpful, adapter):
    start = time.monotonic()
    done = run(fetching(entry(adapter), **{str(tmp_path / "out"): 4}), unhelpful(tmp_path / "home"))
    message = "UserError dataset toy, split train: not found; looked for cfg/train-*.parquet or "
    assert done.stdout.startswith(message), done.stdout + done.stderr
    assert f"in the Hub's org/name at {COMMIT} (" in done.stdout and done.stdout.count("\n") == 1
    assert "set `mirror: <folder>` in the config, with <folder>/org/name/cfg/train-*.parquet" in done.stdout
    assert time.monotonic() - start < 10 and not (tmp_path / "out").exists()


# ---- datasets


def entry(adapter: str) -> dict:
    options = {
        "text": {"text": "text", "label": "label"},
        "sentences": {"id": "id", "text": "text", "min_words": 2, "max_words": 9, "per_article": None},
    }
    splits = {"train": {"from": "train"}, "test": {"from": "test"}}
    source = {"hub": "org/name", "config": "cfg", "revision": COMMIT}
    labels = [] if adapter == "sentences" else ["no", "yes"]
    entry = {"kind": "text", "labels": labels, "splits": splits, "sources": [source]}
    return entry | {"adapter": adapter, "options": options[adapter]}


def fetching(entry: dict, **rows_of: int) -> str:
    """Code that writes files of so many rows, one after the other."""
    words = {"entry": entry, "dataset": "toy", "split": "train", "seed": 1, "mirror": None}
    return f"""
from workflow.scripts.fetch_dataset import fetch
from workflow.lib.base.errors import UserError
try:
    for path, rows in {rows_of!r}.items():
        print(fetch(path, rows=rows, **{words!r})["source"])
except UserError as error:
    print("UserError", error)
"""


@pytest.fixture
def dataset(tmp_path) -> Path:
    folder = tmp_path / "dataset"
    (folder / "cfg").mkdir(parents=True)
    for name in ["test-00000-of-00001", *(f"train-0000{n}-of-00003" for n in range(3))]:
        texts = [f"Sentence {n} of {name}." for n in range(9)]
        columns = {"id": [f"{name}-{n}" for n in range(9)], "text": texts, "label": [0, 1, 1] * 3}
        pq.write_table(pa.table(columns), folder / f"cfg/{name}.parquet")
    (folder / "name.py").write_text("raise SystemExit('code of a repository ran')")
    return folder


ORIGIN = f"org/name, train, revision {COMMIT}"


def test_a_datasets_files_come_from_the_hub_without_its_code_and_are_kept(tmp_path, dataset):
    hub = Hub({"datasets/org/name": dataset})
    home = tmp_path / "home"

    def two_at_once(**offline: str) -> None:
        jobs = {name: start(fetching(entry("text"), **{str(tmp_path / name): 4}), hub.environment(home) |
                            {"HF_HUB_OFFLINE": value}) for name, value in offline.items()}  # fmt: skip
        for job in jobs.values():
            out, errors = job.communicate(timeout=120)
            assert out.strip() == ORIGIN, out + errors

    two_at_once(one="0", two="0")
    assert set(hub.sent) == {f"train-0000{n}-of-00003.parquet" for n in range(3)}
    assert not (home / "datasets").exists()  # no second copy in Arrow's format
    hub.stop()
    two_at_once(three="0", four="1")
    written = {(tmp_path / name).read_bytes() for name in ("one", "two", "three", "four")}
    assert len(written) == 1 and str(tmp_path).encode() not in written.pop()


def test_shards_to_be_streamed_are_fetched_as_they_are_needed(tmp_path, dataset):
    hub = Hub({"datasets/org/name": dataset})

    def fetched(offline: str = "0", **rows_of: int) -> list[str]:
        code = fetching(entry("sentences"), **{str(tmp_path / name): rows for name, rows in rows_of.items()})
        return run(code, hub.environment(tmp_path / "home") | {"HF_HUB_OFFLINE": offline}).stdout.splitlines()

    assert fetched(one=9) == [ORIGIN] and len(set(hub.sent)) == 1
    assert fetched(two=10) == [ORIGIN] and len(set(hub.sent)) == 2
    hub.stop()
    origin, message = fetched("1", three=10, four=19)
    assert origin == ORIGIN and (tmp_path / "three").read_bytes() == (tmp_path / "two").read_bytes()
    assert re.match(rf"UserError cfg/train-0000\d-of-00003.parquet was not fetched from .* at {COMMIT} ", message)
