"""Scripts of the workflow in tests: their functions, or the whole script run on a stand-in for Snakemake's object."""

import importlib
import os
import runpy
from types import ModuleType, SimpleNamespace

from workflow.lib.base.digests import ROOT
from workflow.lib.base.gpus import VISIBLE


def load_script(name: str) -> ModuleType:
    """`scripts/pca` or `papers/zhou2022/tables/probing`: the module, of which tests call functions."""
    return importlib.import_module(f"workflow.{name.replace('/', '.')}")


def run_script(name: str, job: object) -> None:
    """As Snakemake does: `job` is what the script knows as `snakemake`. Without resources of its own it has no GPU."""
    if not hasattr(job, "resources"):
        job.resources = SimpleNamespace(gpu=0)
    visible = os.environ.get(VISIBLE)
    try:
        _run(name, job)
    finally:  # a script hides GPUs from its process, which here is that of all tests
        os.environ.pop(VISIBLE, None)
        os.environ |= {VISIBLE: visible} if visible is not None else {}


def _run(name: str, job: object) -> None:
    runpy.run_path(str(ROOT / "workflow" / f"{name}.py"), init_globals={"snakemake": job}, run_name="__main__")
