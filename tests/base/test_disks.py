"""Full disks and folders that cannot be written, in one line."""

import errno
import os
from collections import namedtuple

import pytest
import torch

from tests.small_disk import remount, small_file_system
from workflow.lib.base import disks
from workflow.lib.base.disks import disk_fault, lacks_room, unwritable


@pytest.fixture
def small_disk(tmp_path):
    with small_file_system(tmp_path / "disk", "64k") as folder:
        yield folder


def test_every_writer_tells_of_a_full_disk(small_disk):
    from safetensors.torch import save_file

    from workflow.lib.base.tables import write_table
    from workflow.lib.training.state import SavedState

    tensors = {"weight": torch.zeros(100_000)}
    for write in (
        lambda: (small_disk / "text").write_bytes(bytes(200_000)),
        lambda: write_table([{"x": os.urandom(300_000).hex()}], small_disk / "table.parquet"),
        lambda: save_file(tensors, small_disk / "model.safetensors"),
        lambda: SavedState(small_disk / "model", {}).save(model=tensors),
    ):
        with pytest.raises(Exception) as caught:
            write()
        assert disk_fault(caught.value) == "No space left on device", caught.value
        for path in small_disk.iterdir():
            path.unlink()


def test_a_folder_that_cannot_be_written_is_named(small_disk):
    assert unwritable(small_disk / "results/demo") is None
    remount(small_disk, "ro")
    folder = small_disk / "results/demo"
    assert unwritable(folder) == f"{folder} cannot be written (Read-only file system)"


def test_other_errors_are_none_of_a_disk():
    try:
        try:
            raise PermissionError(errno.EACCES, "Permission denied", "somewhere")
        except OSError as error:
            raise ValueError("wrapped") from error
    except ValueError as error:
        assert disk_fault(error) == "Permission denied"
    assert disk_fault(ValueError("a label is missing")) is None and disk_fault(FileNotFoundError(2, "no")) is None


def test_too_little_room_is_noted(tmp_path, monkeypatch):
    monkeypatch.setattr(disks.shutil, "disk_usage", lambda _: namedtuple("Usage", "free")(5e9))
    assert lacks_room(tmp_path / "results/demo", 4.0) is None
    assert lacks_room(tmp_path / "results", 8.0).startswith("the whole run needs about 8.0 GB at a time")
