"""Start-up of Snakemake: checks the config and plans the run, before any job."""

import os
from collections.abc import Iterable
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

from workflow.lib.base.config import check_config
from workflow.lib.base.digests import ROOT
from workflow.lib.base.disks import unwritable
from workflow.lib.base.errors import UserError
from workflow.lib.base.gpus import ACCELERATOR, has_gpu
from workflow.lib.base.plan import Plan
from workflow.lib.data.availability import fetches_among, unavailable
from workflow.papers import all_papers


def start(config: dict, on_node: bool = False) -> tuple[dict, Plan]:
    """The checked config and the plan. Sets PYTHONPATH, because jobs import `workflow.lib` too, and what kind of
    GPU they use; jobs inherit both (on a cluster they read the config again: `on_node`)."""
    others = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), others] if others else [str(ROOT)])
    os.environ.setdefault("TQDM_DISABLE", "1")  # bars of many jobs at once would only tear each other apart
    if on_node:  # what comes from the Hub was fetched where the run was started
        os.environ["HF_HUB_OFFLINE"] = "1"
    registry = yaml.load((Path(ROOT) / "config/datasets.yaml").read_bytes(), yaml.CSafeLoader)["registry"]
    try:
        config, papers = check_config(config, registry, all_papers())
        config["registry"] = registry
        # GPUs per GPU job: 1 on a cluster or a machine with a GPU; 0 on a CPU, where all cores should work
        os.environ[ACCELERATOR] = config["accelerator"]
        config["gpu"] = int(has_gpu(config["accelerator"])) if config["gpu"] == "auto" else config["gpu"]
        return config, Plan(config, papers)
    except UserError as error:
        # one line per fault on the terminal, before any job
        raise WorkflowError(str(error)) from None


def check_place(config: dict, jobs: Iterable) -> None:
    """Stops a run whose results cannot be written, or whose data cannot be had, before its first job."""
    if fault := unwritable(Path("results") / config["run"]):
        raise WorkflowError(fault)
    fetches = fetches_among(jobs)
    if fetches and (missing := unavailable(config, fetches)):
        raise WorkflowError(missing)
