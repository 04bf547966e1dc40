"""Downloads from a stand-in for the Hub on this machine, by the client that talks to the real one.

In a process of its own, because the client reads the Hub's address when it is imported.
"""

import json
import os
import subprocess
import sys
import threading
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizer

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Serves folders as repositories at one commit and notes which files were asked for."""

    def __init__(self, repositories: dict[str, Path]):
        super().__init__(("127.0.0.1", 0), Answer)
        self.repositories, self.sent = repositories, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def environment(self, home: Path) -> dict[str, str]:
        address = f"http://127.0.0.1:{self.server_address[1]}"
        ours = {"HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
        return os.environ | ours | {"PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.partition("?")[0].strip("/")
        for name, folder in self.server.repositories.items():
            if path.startswith(f"api/{name}/tree/{COMMIT}"):
                files = [{"type": "file", "path": file, "oid": sum_of(folder / file), "size": size}
                         for file, size in listing(folder).items()]  # fmt: skip
                return self.say(json.dumps(files).encode())
            if path.startswith(f"api/{name}"):
                about = {
                    "id": name.split("/", 1)[1],
                    "sha": COMMIT,
                    "siblings": [{"rfilename": f} for f in listing(folder)],
                }
                return self.say(json.dumps(about).encode())
            place = f"{name.removeprefix('models/')}/resolve/{COMMIT}/"
            if path.startswith(place) and (file := folder / path.removeprefix(place)).is_file():
                if self.command == "GET":
                    self.server.sent.append(file.name)
                return self.say(file.read_bytes(), ETag=f'"{sum_of(file)}"', **{"X-Repo-Commit": COMMIT})
        self.say(b"", status=404, **{"X-Error-Code": "RepoNotFound"})

    do_HEAD = do_GET

    def say(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


def listing(folder: Path) -> dict[str, int]:
    return {str(file.relative_to(folder)): file.stat().st_size for file in sorted(folder.rglob("*")) if file.is_file()}


def sum_of(file: Path) -> str:
    return sha1(file.read_bytes()).hexdigest()


def run(code: str, environment: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)


FETCH = f"""
from workflow.scripts.fetch_encoder import download
from workflow.lib.base.errors import UserError
try:
    folder = download("org/tiny", "{COMMIT}")
    print(sorted(file.name for file in folder.iterdir()))
except UserError as error:
    print("UserError", error)
"""
LOAD = """
from workflow.lib.encoders.loading import load_encoder, load_tokenizer
print(load_encoder(folder).config.hidden_size, len(load_tokenizer(folder)))
"""


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
    done = run(FETCH + LOAD, hub.environment(tmp_path / "home"))
    names, loaded = done.stdout.strip().splitlines()
    assert "model.safetensors" in names and ".py" not in names and "README" not in names, done.stderr
    assert loaded == "8 7"
    assert set(hub.sent) >= {"config.json", "model.safetensors"}
    assert not {"modeling_evil.py", "README.md"} & set(hub.sent)
    hub.shutdown()
    hub.server_close()
    again = run(FETCH, hub.environment(tmp_path / "home") | {"HF_HUB_OFFLINE": "1"})
    assert again.stdout.strip() == names, again.stdout + again.stderr


def test_older_weights_are_fetched_where_there_are_no_safe_ones(tmp_path, encoder):
    from safetensors.torch import load_file

    torch.save(load_file(encoder / "model.safetensors"), encoder / "pytorch_model.bin")
    (encoder / "model.safetensors").unlink()
    hub = Hub({"models/org/tiny": encoder})
    done = run(FETCH + LOAD, hub.environment(tmp_path / "home"))
    assert done.stdout.splitlines()[-1] == "8 7", done.stdout + done.stderr
    hub.shutdown()


@pytest.mark.parametrize("there", [True, False])
def test_a_hub_that_lacks_the_encoder_or_does_not_answer_is_an_error_that_says_what_to_do(tmp_path, there):
    hub = Hub({})
    if not there:
        hub.shutdown()
        hub.server_close()
    done = run(FETCH, hub.environment(tmp_path / "home"))
    assert done.stdout.startswith("UserError encoder org/tiny at revision"), done.stdout + done.stderr
    assert "source: folder" in done.stdout
    hub.shutdown() if there else None


def test_a_datasets_files_come_from_the_hub(tmp_path):
    folder = tmp_path / "dataset"
    (folder / "cfg").mkdir(parents=True)
    for split in ("train", "test"):
        pq.write_table(pa.table({"text": [split], "label": [0]}), folder / f"cfg/{split}-00000-of-00001.parquet")
    (folder / "loader.py").write_text("raise SystemExit('code of a repository ran')")
    hub = Hub({"datasets/org/name": folder})
    entry = {"sources": [{"hub": "org/name", "config": "cfg", "revision": COMMIT}],
             "splits": {"train": {"from": "train"}, "test": {"from": "test"}}}  # fmt: skip
    code = f"""
import pyarrow.parquet as pq
from workflow.lib.data.sources import locate_with_origin
files, origin = locate_with_origin({entry!r}, "train", dataset="toy")
print(pq.ParquetFile(files[0]).read()["text"].to_pylist(), origin)
"""
    done = run(code, hub.environment(tmp_path / "home"))
    assert done.stdout.strip() == f"['train'] org/name, train, revision {COMMIT}", done.stdout + done.stderr
    assert hub.sent == ["train-00000-of-00001.parquet"]
    hub.shutdown()
