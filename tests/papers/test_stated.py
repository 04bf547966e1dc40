"""The paper preset has what the papers state, setting by setting; what they leave open has a reason."""

import json
import re

import pytest

from tests.licensed import provide
from tests.papers.test_plans import REGISTRY, plan_of
from workflow.lib.base.plan import Plan
from workflow.lib.base.stated import found, stated
from workflow.lib.data.licences import is_licensed
from workflow.papers import all_papers

PAPERS = {key: paper for key, paper in all_papers().items() if stated(paper)}
# not of a paper: how a batch is split, half precision, which task has which data
TECHNICAL = {"accumulation", "precision", "for_encoder"}


@pytest.fixture(scope="module")
def plan(tmp_path_factory) -> Plan:
    """Of the preset with all licensed data, which no paper is without."""
    folder = tmp_path_factory.mktemp("licensed")
    provide(folder, REGISTRY, [name for name, entry in REGISTRY.items() if is_licensed(entry)])
    return plan_of("config/paper.yaml", licensed=str(folder))


@pytest.fixture(scope="module")
def config(plan) -> dict:
    return plan.config


def test_every_paper_with_claims_has_such_a_table():
    assert set(PAPERS) == {"matton2019", "merchant2020", "singh2020", "zhou2022"}


ENTRIES = [(key, entry) for key, paper in PAPERS.items() for entry in stated(paper)]


@pytest.mark.parametrize(("key", "entry"), ENTRIES, ids=[f"{key} {entry['setting']}" for key, entry in ENTRIES])
def test_the_preset_has_what_the_paper_states(config, key, entry):
    assert ("stated" in entry) != ("silent" in entry) and set(entry) <= {"setting", "value", "of", "stated", "silent"}
    values = [value for _, value in found(config, PAPERS[key], entry)]
    assert values and set(map(json.dumps, values)) == {json.dumps(entry["value"])}


@pytest.mark.parametrize("key", PAPERS)
def test_no_setting_of_training_is_left_out(config, key):
    """Of every task that the paper trains: each key is in the table."""
    paper = PAPERS[key]
    told = {place for entry in stated(paper) for place, _ in found(config, paper, entry)}
    for task in paper.plan.trained_tasks(config[key]):
        of_others = () if config["tasks"][task]["head"] == "parser" else ("parser_",)
        of_others += () if key == "singh2020" else ("reinit_",)
        asked = {name for name in config["training"] if name not in TECHNICAL and not name.startswith(of_others)}
        assert {f"tasks.{task}.{name}" for name in asked} <= told


def sections_of(plan: Plan, key: str) -> set[str]:
    """The paper's own and those of the methods that it asks for; sweeps measure `weights` where a figure reads them."""
    rules = {rule for rule, items in plan.items.items() for papers in items.values() if key in papers}
    files = str([needs.inputs for _, needs in plan.artifacts[key].values()])
    weights = {"weights"} if re.search(r"sweeps/\S+\.distances\.parquet", files) else set()
    return {key} | rules & plan.config.keys() | weights


@pytest.mark.parametrize("key", PAPERS)
def test_no_setting_of_the_paper_and_its_methods_is_left_out(plan, key):
    told = {entry["setting"] for entry in stated(PAPERS[key])}
    sections = sections_of(plan, key)
    assert len(sections) > 2 and ("weights" in sections) == (key == "singh2020")
    asked = {f"{section}.{name}" for section in sections for name in plan.config[section]} - {f"{key}.training"}
    assert asked <= told, sorted(asked - told)
