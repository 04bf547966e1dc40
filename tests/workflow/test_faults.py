"""Kills, wrong configs, missing data: nothing lost, and one line that says what to do."""

import os
import signal
import subprocess
import time

import pytest

MODEL = "models/base.0/imdb.full.f1.s0"


def test_killed_run_continues_and_ends_with_the_same_numbers(finished):
    """The second run also repeats data, tokenizer and pre-training: the same config gives the same bytes."""
    made = finished.folder / "results"
    asked = ("--config", "run=whole", "training={epochs: 40}")
    finished.snakemake(*asked, "--", f"results/whole/{MODEL}.metrics.parquet")

    asked = ("--config", "run=killed", "training={epochs: 40}", "--", f"results/killed/{MODEL}.metrics.parquet")
    running = subprocess.Popen(
        finished.command(*asked),
        cwd=finished.folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    state = made / f"killed/{MODEL}".replace("imdb.full", ".imdb.full")
    state = state.with_name(state.name + ".resume.pt")
    deadline = time.monotonic() + 120
    while not state.exists() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert running.poll() is None, "the run ended before it could be killed"
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert state.exists() and not (made / f"killed/{MODEL}.metrics.parquet").exists()

    finished.snakemake("--unlock", *asked[:3])
    finished.snakemake(*asked)
    [log] = (made / "killed/logs/models").glob("*.log")  # of the job that the paper's models share
    assert "continuing after epoch" in log.read_text()
    for name in (f"{MODEL}.metrics.parquet", f"{MODEL}/model.safetensors", f"{MODEL}/history.parquet"):
        assert (made / "whole" / name).read_bytes() == (made / "killed" / name).read_bytes(), name
    assert not state.exists()


def test_wrong_key_is_one_line_before_any_job(finished):
    output = finished.snakemake("--config", "training={epoks: 3}", check=False)
    assert "unknown key 'training.epoks' (did you mean 'epochs'?)" in output
    assert "Building DAG" not in output


def test_unknown_names(finished):
    output = finished.snakemake("--config", "matton2019={encoders: [bse.0]}", check=False)
    assert "'bse.0'" in output and "did you mean 'base.0'" in output


def test_missing_mirror_says_where_it_looked(finished, tmp_path):
    output = finished.snakemake(
        "--config", "run=real", f"mirror={tmp_path}", "datasets={imdb: {source: real}}",
        "--", "results/real/data/imdb/train.parquet", check=False,
    )  # fmt: skip
    assert "imdb" in output and str(tmp_path) in output and "mirror" in output


def test_missing_encoder_folder(finished, tmp_path):
    output = finished.snakemake(
        "--config", "run=real", "encoders={mine: {source: folder, path: nowhere}}",
        "--", "results/real/encoders/mine.0", check=False,
    )  # fmt: skip
    assert "encoder folder nowhere has no config.json" in output


@pytest.mark.parametrize(
    "target, hint",
    [
        ("zhuo2022", "no target is called 'zhuo2022' (did you mean 'zhou2022'?)"),
        ("zhou2022/fig4", "ask for its file, results/tiny/figures/zhou2022/fig4.pdf"),
        ("results/tiny/figures/zhou2022/fg4.png", "zhou2022 has no 'fg4' in this run (did you mean 'fig4'?)"),
        ("results/tiny/tables/zhou2021/table7.md", "no paper 'zhou2021' (did you mean 'zhou2022'?)"),
    ],
)
def test_wrong_targets_get_the_nearest(finished, target, hint):
    assert hint in finished.snakemake("--dry-run", "--", target, check=False)
