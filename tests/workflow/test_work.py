"""The tiny workflow does no more work than recorded. Counts, not seconds: they are the same on a busy machine.

`RECORD_WORK=1 pytest tests/workflow/test_work.py` records them anew, for a change that is meant to do more, or less.
"""

import json
import os
from pathlib import Path

import pytest

from workflow.lib.base.performance import bytes_written, jobs_of, totals

RECORDED = Path(__file__).with_name("recorded_work.json")
# How far a number may be from the recorded one, as a share of it. What is not here must be exact: plan, rows and
# epochs decide it, not rounding.
TOLERANCE = {
    # probes stop, and hulls are merged and found separate, by comparing floats, whose last bits other processors change
    "probe_steps": 0.05,
    "hull_distances": 0.05,
    "linear_programmes": 0.05,
    # other versions of pyarrow and matplotlib write other metadata
    "bytes_written": 0.1,
}


def differences(found: dict[str, int], recorded: dict[str, int]) -> list[str]:
    """One line for each number that is not as recorded."""
    lines = []
    for what in recorded | found:
        before, now = recorded.get(what, 0), found.get(what, 0)
        # five in a hundred are also allowed where fewer than a hundred, or none, are recorded
        if abs(now - before) > TOLERANCE.get(what, 0.0) * max(before, 100):
            lines.append(f"{what}: {before:,} recorded, {now:,} now")
    return lines


def test_the_tiny_workflow_does_the_recorded_work(finished):
    run = finished.folder / "results/tiny"
    found = totals(jobs_of(run)) | {"bytes_written": bytes_written(run)}
    if os.environ.get("RECORD_WORK"):
        RECORDED.write_text(json.dumps(found, indent=1) + "\n")
    changed = differences(found, json.loads(RECORDED.read_text()))
    hint = f"if that is meant: RECORD_WORK=1 pytest tests/workflow/{Path(__file__).name}, and commit the new numbers"
    assert not changed, "\n".join(["the workflow's work has changed:", *changed, hint])


@pytest.mark.parametrize(
    "now", [{"fits": 13}, {"fits": 11}, {"fits": 12, "steps": 1}, {"fits": 12, "bytes_written": 89}]
)
def test_more_and_less_are_both_told(now):
    assert differences({"bytes_written": 100} | now, {"fits": 12, "bytes_written": 100})


def test_rounding_may_change_what_it_decides():
    recorded = {"fits": 12, "bytes_written": 100, "probe_steps": 1000, "linear_programmes": 0}
    now = {"fits": 12, "bytes_written": 109, "probe_steps": 960, "linear_programmes": 1}
    assert not differences(now, recorded)
    assert differences(now | {"linear_programmes": 6}, recorded) == ["linear_programmes: 0 recorded, 6 now"]
