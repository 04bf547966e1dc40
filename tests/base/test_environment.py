"""One list of pins, written twice: for pip and for conda."""

from pathlib import Path

import yaml

ENVS = Path(__file__).resolve().parents[2] / "envs"


def test_conda_and_pip_pin_the_same():
    lines = (ENVS / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    (by_conda,) = (
        entry["pip"]
        for entry in yaml.safe_load((ENVS / "environment.yaml").read_text())["dependencies"]
        if isinstance(entry, dict)
    )
    assert by_conda == pins and all("==" in pin for pin in pins) and "torch==2.13.0" in pins
