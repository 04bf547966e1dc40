"""Full and read-only disks, results that are moved, clocks that jump, files that are damaged behind one's back."""

import os
import shutil
import time

import pytest

from tests.small_disk import remount, small_file_system
from tests.workflow.conftest import Workspace, measured_tables

QUIET = ("--rerun-triggers", "mtime", "input", "params")  # docs/running.md, for results from elsewhere


@pytest.fixture
def small_disk(tmp_path):
    """A workspace whose results lie on a small file system."""
    workspace = Workspace(tmp_path / "workspace")
    with small_file_system(workspace.folder / "results", "300k"):
        yield workspace


def errors_in(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("Error: ")]


def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(small_disk):
    target = "results/tiny/encoders/base.0"
    output = small_disk.snakemake("--", target, check=False)
    assert any("No space left on device" in line for line in errors_in(output)), output[-3000:]
    assert "Traceback" not in output
    made = small_disk.folder / "results"
    assert not list(made.rglob("*.part")) and not (small_disk.folder / target).exists()
    remount(made, "size=100m")
    small_disk.snakemake("--", target)
    assert (small_disk.folder / target / "model.safetensors").exists()


def test_a_read_only_folder_is_one_line_before_any_job(small_disk):
    made = small_disk.folder / "results"
    remount(made, "ro")
    output = small_disk.snakemake("--", "results/tiny/data/imdb/train.parquet", check=False)
    assert "results/tiny cannot be written (Read-only file system)" in output
    assert "Error in rule" not in output


def moved(finished: Workspace, folder, with_history: bool) -> Workspace:
    finished.snakemake()  # other tests force single rules
    workspace = Workspace(folder)
    shutil.copytree(finished.folder / "results", folder / "results", copy_function=shutil.copy2)
    if with_history:
        shutil.copytree(finished.folder / ".snakemake", folder / ".snakemake", copy_function=shutil.copy2)
    return workspace


@pytest.mark.parametrize("with_history", [True, False])
def test_results_moved_elsewhere_are_not_made_again(finished, tmp_path, with_history):
    """As `rsync -a` does it, with Snakemake's own history or without."""
    assert moved(finished, tmp_path / "elsewhere", with_history).planned(*QUIET) == {}


@pytest.mark.parametrize("days", [-400, 400])
def test_a_clock_that_jumps_reruns_nothing(finished, tmp_path, days):
    """All results from the far past, or from the future: only the order of their times counts."""
    workspace = moved(finished, tmp_path / "other", with_history=True)
    for path in (workspace.folder / "results").rglob("*"):
        at = path.stat()
        os.utime(path, ns=tuple(time + days * 86_400 * 10**9 for time in (at.st_atime_ns, at.st_mtime_ns)))
    assert workspace.planned(*QUIET) == {}


def test_a_file_from_the_future_makes_the_same_tables_again(finished, tmp_path):
    """A job that ran while the clock was ahead: what depends on it is made again, and is the same."""
    workspace = moved(finished, tmp_path / "ahead", with_history=True)
    run = workspace.folder / "results/tiny"
    before = measured_tables(run)
    ahead = time.time() + 86_400
    greedy = run / "analysis/neurons/base.0/pretrained/imdb/greedy.parquet"
    os.utime(greedy, (ahead, ahead))
    workspace.snakemake(*QUIET, "--", "matton2019")
    assert measured_tables(run) == before


@pytest.fixture(scope="module")
def copied(finished, tmp_path_factory) -> Workspace:
    """A job that fails loses its outputs, which other tests look at."""
    return moved(finished, tmp_path_factory.mktemp("copied") / "workspace", with_history=True)


def with_a_flipped_bit(content: bytes) -> bytes:
    at = len(content) // 3
    return content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :]


def cut_off(content: bytes) -> bytes:
    return content[: len(content) // 2]


TRAINED = ("finetune_model_matton2019", "models/base.0/imdb.full.f1.s0.metrics.parquet")
SEARCHED = ("neurons", "analysis/neurons/base.0/pretrained/imdb/greedy.parquet")
VECTORS = "activations/base.0/pretrained/cls/imdb-train/layer-02.parquet"


@pytest.mark.parametrize(
    ("damage", "damaged", "forced", "target"),
    [
        (with_a_flipped_bit, "data/imdb/train.parquet", *TRAINED),
        (with_a_flipped_bit, "encoders/base.0/model.safetensors", *TRAINED),
        (with_a_flipped_bit, "models/base.0/imdb.full.f1.s0/model.safetensors", "cache_activations_matton2019",
         "activations/base.0/imdb.full.f1.s0/cls/imdb-test"),
        (with_a_flipped_bit, VECTORS, *SEARCHED),
        (cut_off, VECTORS, *SEARCHED),
        (cut_off, SEARCHED[1], "tabulate", "tables/matton2019/table3.csv"),  # it reads some columns, not every bit
    ],
    ids=["dataset", "encoder", "model", "activations", "activations cut off", "table"],
)  # fmt: skip
def test_damage_is_named_with_what_to_delete(copied, damage, damaged, forced, target):
    path = copied.folder / "results/tiny" / damaged
    content, times = path.read_bytes(), path.stat()
    path.write_bytes(damage(content))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    try:
        output = copied.snakemake(*QUIET, "--forcerun", forced, "--", f"results/tiny/{target}", check=False)
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert any(path.name in line and "delete" in line for line in errors_in(output)), output[-3000:]
    copied.snakemake(*QUIET, "--", f"results/tiny/{target}")
