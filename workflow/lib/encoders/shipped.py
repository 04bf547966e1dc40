"""Encoders that come with the workflow: where they are, and the record of their training (see shipping.py)."""

import json
import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "encoders"


def shipped_folder(encoder: str) -> Path:
    return FOLDER / encoder


def shipped_files(encoder: str) -> list[str]:
    return [os.path.relpath(path) for path in sorted(shipped_folder(encoder).iterdir())]


def record_of(encoder: str) -> dict | None:
    path = shipped_folder(encoder) / "pretraining.json"
    return json.loads(path.read_text()) if path.is_file() else None
