"""The page on the demo's time, from planted benchmark files and logs."""

import json
import os

import pytest

from workflow.lib.base.errors import UserError
from workflow.lib.base.performance import draw, jobs_of, measured, page, totals, without_pauses

# name: rule, begin, seconds, imports torch, core-seconds of imports and in all, what was counted
JOBS = {
    "data/imdb/train": ("generate_dataset", 1000, 2, False, 1.0, 2.0, {}),
    "encoders/base.0": ("pretrain_encoder", 1002, 30, True, 4.0, 30.0, {"forward_tokens": 900, "steps": 9}),
    "pca/base.0/pca": ("pca", 1002, 10, False, 2.0, 8.0, {"fits": 5}),
    "pca/base.1/pca": ("pca", 1012, 38, True, 3.0, 40.0, {"fits": 7}),
}


def planted(run, jobs=JOBS):
    for name, (rule, begin, seconds, has_torch, importing, busy, counted) in jobs.items():
        benchmark, log = run / "benchmarks" / f"{name}.tsv", run / "logs" / f"{name}.log"
        for path in (benchmark, log):
            path.parent.mkdir(parents=True, exist_ok=True)
        benchmark.write_text(f"s\th:m:s\tcpu_time\n{seconds}\t0:00:01\tNA\n")
        os.utime(benchmark, (begin + seconds, begin + seconds))
        work = {"rule": rule, "imports_torch": has_torch, "import_seconds": importing, "cpu_seconds": busy, **counted}
        log.write_text(f"12:00:00 x: begun\n12:00:01 work: {json.dumps(work)}\n")
    (run / "tables").mkdir()
    (run / "tables/a.csv").write_bytes(b"x" * 2_000_000)
    return run


def test_work_of_all_jobs_is_summed(tmp_path):
    assert totals(jobs_of(planted(tmp_path))) == {
        "processes": 4, "processes_that_import_torch": 2, "forward_tokens": 900, "steps": 9, "fits": 12,
        "probe_steps": 0, "hull_distances": 0, "linear_programmes": 0,
    }  # fmt: skip


def test_the_page_has_whole_time_use_of_cores_and_shares(tmp_path):
    jobs, numbers = measured(planted(tmp_path), cores=2)
    whole = page(numbers, "2 cores and no GPU")
    assert "with\n2 cores and no GPU" in whole and "(performance.svg)" in whole
    for line in (
        "| from the first job's begin to the last one's end | 0 min 50 s |",
        "| core-seconds of all jobs | 80 |",
        "| CPU use: core-seconds / (whole time x 2 cores) | 80% |",
        "| start and imports, share of core-seconds | 12% |",
        "| processes that import torch | 2 |",
        "| size of all results | 2 MB |",
        "| pca | 2 | 48 | 60% | 5 |",
        "| generate_dataset | 1 | 2 | 2% | 1 |",
    ):
        assert f"{line}\n" in whole, line
    draw(jobs, tmp_path / "a.svg")
    assert "</svg>" in (tmp_path / "a.svg").read_text()


def test_time_between_two_runs_does_not_count(tmp_path):
    later = {"figures/a": ("draw", 9000, 5, False, 1.0, 2.0, {})}
    jobs = without_pauses(jobs_of(planted(tmp_path, JOBS | later)))
    assert jobs["end"].max() == pytest.approx(55)
    assert jobs["begin"].tolist() == pytest.approx([0, 2, 2, 12, 50])


def test_a_job_without_work_is_named(tmp_path):
    (planted(tmp_path) / "logs/encoders/base.0.log").write_text("12:00:00 x: begun\n")
    with pytest.raises(UserError, match=r"base\.0\.log has no line of work"):
        jobs_of(tmp_path)


def test_no_run_is_one_line(tmp_path):
    with pytest.raises(UserError, match="no benchmark files"):
        jobs_of(tmp_path)
