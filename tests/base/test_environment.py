"""One list of pins, written twice: for pip and for conda. It holds what is imported and what is run, nothing else."""

import ast
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
NAMES = {
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "huggingface_hub": "huggingface-hub",
    "snakemake_interface_logger_plugins": "snakemake-interface-logger-plugins",
}  # where they differ
# commands, plugins, what the report needs; what only tests import dynamically
RUN = {"ruff", "snakefmt", "pygments", "snakemake-executor-plugin-slurm"}


def pins() -> list[str]:
    lines = (ROOT / "envs/requirements.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


OURS = {"workflow", "tests", "snakemake_logger_plugin_tunescope"}


def imported() -> set[str]:
    """Packages that the workflow or its tests import, wherever in a file."""
    found = set()
    for folder in ("workflow", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    found.update(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.add(node.module)
    modules = {name.split(".")[0] for name in found} - sys.stdlib_module_names - OURS
    return {NAMES.get(name, name) for name in modules}


def test_conda_and_pip_pin_the_same():
    (by_conda,) = (
        entry["pip"]
        for entry in yaml.safe_load((ROOT / "envs/environment.yaml").read_text())["dependencies"]
        if isinstance(entry, dict)
    )
    assert by_conda == pins() and all("==" in pin for pin in pins()) and "torch==2.13.0" in pins()


def test_everything_imported_is_pinned_and_nothing_else():
    assert {pin.split("==")[0] for pin in pins()} - RUN == imported()
