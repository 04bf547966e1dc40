"""Stores the encoders that come with the workflow: trained once by its own rule, in float16, with a record.

`make encoders` trains them anew and calls this module to store them. A folder holds model.safetensors and
pretraining_heads.safetensors (what only pre-training needs), config.json, the tokenizer, pretraining.json (settings,
shape, seed, language, losses on held-out text, digest of the weights), history.csv (the loss curve) and training.log.
"""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from workflow.lib.base.errors import UserError
from workflow.lib.encoders.shipped import shipped_folder

WEIGHTS = ("model.safetensors", "pretraining_heads.safetensors")


def digest_of_files(folder: Path) -> str:
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in WEIGHTS)).hexdigest()


def checked_weights(folder: Path) -> dict[str, np.ndarray]:
    """The encoder's weights in float32, if they are those that the record was written for."""
    record = json.loads((folder / "pretraining.json").read_text())
    if digest_of_files(folder) != record["digest"]:
        raise UserError(f"{folder} is not what its record says (another digest): restore it, or `make encoders`")
    return {name: weight.astype(np.float32) for name, weight in load_file(folder / WEIGHTS[0]).items()}


def ship(trained: Path, log: Path, language: int, into: Path) -> None:
    """Store a folder of the rule `pretrain_encoder`."""
    import pandas as pd

    into.mkdir(parents=True, exist_ok=True)
    for file in trained.glob("*.json"):
        shutil.copy(file, into)
    for name in WEIGHTS:
        half = {key: weight.astype(np.float16) for key, weight in load_file(trained / name).items()}
        save_file(half, into / name, metadata={"format": "pt"})
    pd.read_parquet(trained / "history.parquet").round(4).to_csv(into / "history.csv", index=False)
    shutil.copy(log, into / "training.log")
    record = json.loads((trained / "pretraining.json").read_text())
    record |= {"language": language, "digest": digest_of_files(into)}
    (into / "pretraining.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    import sys

    run, language = Path(sys.argv[1]), int(sys.argv[2])
    for trained in sorted((run / "encoders").iterdir()):
        if (trained / "pretraining.json").is_file():
            ship(trained, run / "logs/encoders" / f"{trained.name}.log", language, shipped_folder(trained.name))
            print(f"{trained.name}: stored in {shipped_folder(trained.name)}")
