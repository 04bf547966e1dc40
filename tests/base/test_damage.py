"""Files with flipped bits or cut ends: a reader gives what was written, or names the file and what to delete."""

import random
import subprocess

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from workflow.lib.activations.cache import LayerWriter, layer_file, read_about, read_units, read_vectors
from workflow.lib.activations.shared_sentences import read_rows, rows_file, write_rows
from workflow.lib.base.errors import UserError
from workflow.lib.base.seals import SEAL, check_seal, sealed_folder
from workflow.lib.base.tables import read_table, write_table
from workflow.lib.data.dataset_files import read_dataset, write_dataset
from workflow.lib.training.state import SavedState, checksum

FLIPS = 400


def damaged(content: bytes):
    """With one bit flipped anywhere, and cut anywhere."""
    rng = random.Random(0)
    for _ in range(FLIPS):
        at = rng.randrange(len(content))
        yield content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
    for _ in range(FLIPS // 10):
        yield content[: rng.randrange(len(content))]


def noticed(path, read, is_same) -> float:
    """Share of damages that were named. The others did not change what is read."""
    content, n_named, n = path.read_bytes(), 0, 0
    for broken in damaged(content):
        path.write_bytes(broken)
        n += 1
        try:
            assert is_same(read()), "another content was read as if nothing had happened"
        except UserError as error:
            n_named += 1
            assert (str(path) in str(error) and "delete" in str(error)) or "no dataset of this workflow" in str(error)
    path.write_bytes(content)
    assert is_same(read())
    return n_named / n


def test_activations(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(300, 16)).astype(np.float32)
    path = layer_file(tmp_path, 1)
    writer = LayerWriter(path, 16, "float32", {"model": "a" * 16, "dataset": "b" * 16, "layer": 1, "unit": "cls"})
    writer.write(np.arange(300), np.zeros(300, int), vectors)
    writer.close()
    about = read_about(path)

    def read():
        return read_about(path), read_vectors(path), *read_units(path)

    def is_same(found):
        return found[0] == about and all(map(np.array_equal, found[1:], (vectors, np.arange(300), np.zeros(300))))

    assert noticed(path, read, is_same) > 0.9


def test_sentences_shared_by_datasets(tmp_path):
    write_rows(tmp_path, {"one": np.arange(200), "two": np.arange(100, 300)})

    def is_same(found):
        return np.array_equal(found, np.arange(100, 300))

    assert noticed(rows_file(tmp_path), lambda: read_rows(tmp_path, "two"), is_same) > 0.4


def test_datasets(tmp_path):
    path = tmp_path / "train.parquet"
    rows = [{"id": f"{n}", "text": f"text {n * n}", "text_pair": None, "label": n % 2} for n in range(200)]
    about = {"dataset": "imdb", "split": "train", "kind": "text", "labels": ["neg", "pos"], "source": "made"}
    info = write_dataset(path, rows, **about)

    def is_same(found):
        return found[0].to_pylist() == rows and found[1] == info

    assert noticed(path, lambda: read_dataset(path), is_same) > 0.5


def test_tables(tmp_path):
    path = tmp_path / "scores.parquet"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"layer": range(300), "score": rng.normal(size=300), "right": list(rng.random((300, 5)) < 0.5)}
    )
    write_table(frame, path, model="base.0/pretrained")
    wanted = read_table(path)

    def is_same(found):
        plain = [table.assign(right=[tuple(of) for of in table["right"]]) for table in (found, wanted)]
        return plain[0].equals(plain[1])

    assert noticed(path, lambda: read_table(path), is_same) > 0.5


def state_of(folder):
    return SavedState(folder / "model", {"epochs": 3})


def test_states_of_a_training(tmp_path):
    parts = {"model": {"weight": torch.randn(30, 20), "n": torch.tensor(3)}, "epoch": 2, "order": [1.5, "x"]}
    torch.manual_seed(0)
    state_of(tmp_path).save(**parts)
    wanted = checksum(parts)
    assert noticed(state_of(tmp_path).path, lambda: state_of(tmp_path).load(), lambda f: checksum(f) == wanted) > 0.5


def test_models_and_encoders(tmp_path):
    folder = tmp_path / "model"
    with sealed_folder(folder) as beside:
        save_file({"weight": torch.randn(20, 20)}, beside / "model.safetensors")
        (beside / "config.json").write_text("{}")
    wanted = load_file(folder / "model.safetensors")["weight"]
    path = folder / "model.safetensors"

    def read():
        check_seal(folder)
        return load_file(path)["weight"]

    assert noticed(path, read, wanted.equal) == 1
    assert subprocess.run(["sha256sum", "--check", "--quiet", SEAL], cwd=folder).returncode == 0
    (folder / "config.json").unlink()
    with pytest.raises(UserError, match=r"config\.json is damaged"):
        check_seal(folder)
    (folder / SEAL).write_bytes(b"\xff\x00 garbage\n")
    with pytest.raises(UserError, match="is damaged"):
        check_seal(folder)


def test_folders_of_others_have_no_seal(tmp_path):
    check_seal(tmp_path)
