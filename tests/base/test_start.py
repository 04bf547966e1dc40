"""What a start leaves to its jobs."""

import os

import pytest
import yaml

from workflow.lib.base.digests import ROOT
from workflow.lib.base.start import start


@pytest.mark.parametrize("on_node, expected", [(False, None), (True, "1")])
def test_only_jobs_on_a_clusters_nodes_run_with_the_hub_switched_off(monkeypatch, on_node, expected):
    monkeypatch.setattr(os, "environ", {"PYTHONPATH": "theirs"})
    start(yaml.safe_load((ROOT / "config/config.yaml").read_text()), on_node=on_node)
    assert os.environ.get("HF_HUB_OFFLINE") == expected
    assert os.environ["PYTHONPATH"] == os.pathsep.join([str(ROOT), "theirs"])
