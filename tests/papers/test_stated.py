"""The paper preset has what the papers state, setting by setting; what they leave open has a reason."""

import pytest
import yaml
from snakemake.utils import update_config

from workflow.lib.base.config import check_config
from workflow.lib.base.digests import ROOT
from workflow.lib.base.stated import found, stated
from workflow.papers import all_papers

PAPERS = {key: paper for key, paper in all_papers().items() if stated(paper)}
# not of a paper: how a batch is split, half precision, which task has which data
TECHNICAL = {"accumulation", "precision", "for_encoder"}


@pytest.fixture(scope="module")
def config() -> dict:
    whole = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    update_config(whole, yaml.safe_load((ROOT / "config/paper.yaml").read_text()))
    registry = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
    return check_config(whole, registry, all_papers())[0]


def test_every_paper_with_claims_has_such_a_table():
    assert set(PAPERS) == {"matton2019", "merchant2020", "singh2020", "zhou2022"}


ENTRIES = [(key, entry) for key, paper in PAPERS.items() for entry in stated(paper)]


@pytest.mark.parametrize(("key", "entry"), ENTRIES, ids=[f"{key} {entry['setting']}" for key, entry in ENTRIES])
def test_the_preset_has_what_the_paper_states(config, key, entry):
    assert ("stated" in entry) != ("silent" in entry) and set(entry) <= {"setting", "value", "of", "stated", "silent"}
    values = [value for _, value in found(config, PAPERS[key], entry)]
    assert values and set(map(repr, values)) == {repr(entry["value"])}


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
