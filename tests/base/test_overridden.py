"""Training settings that a more special setting of an earlier file overrides are named before a run."""

import yaml

from workflow.lib.base.digests import ROOT
from workflow.lib.base.overridden import overridden, own_settings
from workflow.lib.costs.table import plan_of


def said(changes: dict) -> list[str]:
    return overridden(plan_of([], changes), {"mine.yaml": changes})


def test_a_setting_that_some_tasks_do_not_follow_is_named_with_what_they_have():
    (line,) = said({"training": {"batch_size": 32}, "papers": ["merchant2020"]})
    assert line.startswith("training.batch_size: 32 (mine.yaml) does not reach every task: squad has 16, parse has 24")
    assert "tasks.<task>.batch_size" in line and "mnli" not in line


def test_a_papers_setting_counts_for_its_own_tasks_alone():
    mine = {"merchant2020": {"training": {"learning_rate": 5e-4}}}
    (line,) = said(mine)
    assert line.startswith("merchant2020.training.learning_rate") and "sst2" not in line
    assert all(f"{task} has" in line for task in ("squad", "parse")) and "mnli" not in line


def test_what_the_user_has_set_more_specially_is_meant():
    mine = {"training": {"batch_size": 32}, "papers": ["merchant2020"]}
    assert not said(mine | {"tasks": {"squad": {"batch_size": 8}, "parse": {"batch_size": 8}}})
    assert not said({"training": {"epochs": 2}, "papers": ["matton2019"], "matton2019": {"training": {"epochs": 3}}})
    assert not said({"training": {"dropout": "1e-1"}})  # YAML's text for a number


def test_presets_are_no_ones_own_and_the_command_line_is(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(yaml.safe_dump({"training": {"epochs": 2}}))
    own = own_settings([ROOT / "config/laptop.yaml", mine, ROOT / "config/config.yaml"], {"training": "{epochs: 3}"})
    assert own == {"mine.yaml": {"training": {"epochs": 2}}, "--config": {"training": {"epochs": 3}}}
