"""A stand-in for the Hugging Face Hub on loopback, for the client that talks to the real one."""

import json
import os
import re
import threading
from functools import lru_cache
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"  # what `main` is


class Hub(ThreadingHTTPServer):
    """Serves folders as repositories (`models/<org>/<name>`, `datasets/<org>/<name>`), the same at every commit, and
    notes which files were asked for."""

    def __init__(self, repositories: dict[str, Path]):
        super().__init__(("127.0.0.1", 0), Answer)
        self.repositories, self.sent = repositories, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def environment(self, home: Path) -> dict[str, str]:
        return environment(self.server_address[1], home)

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


def environment(port: int, home: Path) -> dict[str, str]:
    hub = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HUB_OFFLINE": "0"}
    hub |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}  # which has requests and timeouts of its own
    ours = {"HF_HOME": str(home), "PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return os.environ | hub | ours


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.partition("?")[0].strip("/")
        for name, folder in self.server.repositories.items():
            if re.match(rf"api/{re.escape(name)}/tree/[0-9a-f]{{40}}", path):
                files = [{"type": "file", "path": file, "oid": sum_of(folder / file), "size": size}
                         for file, size in listing(folder).items()]  # fmt: skip
                return self.say(json.dumps(files).encode())
            if asked := re.match(rf"api/{re.escape(name)}(?:/revision/(.+))?$", path):
                commit = asked[1] if asked[1] and re.fullmatch("[0-9a-f]{40}", asked[1]) else COMMIT
                files = [{"rfilename": file} for file in listing(folder)]
                return self.say(json.dumps({"id": name.split("/", 1)[1], "sha": commit, "siblings": files}).encode())
            place = re.match(rf"{re.escape(name.removeprefix('models/'))}/resolve/([0-9a-f]{{40}})/(.+)", path)
            if place and (file := folder / place[2]).is_file():
                if self.command == "GET":
                    self.server.sent.append(file.name)
                return self.say(file.read_bytes(), ETag=f'"{sum_of(file)}"', **{"X-Repo-Commit": place[1]})
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
    return _sum(file, file.stat().st_mtime_ns)


@lru_cache
def _sum(file: Path, changed: int) -> str:
    return sha1(file.read_bytes()).hexdigest()
