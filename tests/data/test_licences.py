"""Data under licence: a run without them, a folder that has them, a folder that lacks some."""

import copy
import gzip
import re
from contextlib import nullcontext

import pytest
import yaml
from snakemake.utils import update_config

from tests.licensed import LINES, provide
from workflow.lib.base.config import check_config
from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.base.plan import Plan
from workflow.lib.data.licences import is_licensed
from workflow.papers import all_papers

REGISTRY = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
EIGHT = ["ep_pos_ontonotes", "ep_constituents", "ep_dependencies", "ep_entities", "ep_srl", "ep_coreference", "ep_spr",
         "ep_relations"]  # fmt: skip


def paper_preset(**changes) -> dict:
    whole = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    update_config(whole, yaml.safe_load((ROOT / "config/paper.yaml").read_text()) | changes)
    return whole


def checked(**changes) -> tuple[dict, dict]:
    return check_config(paper_preset(**changes), copy.deepcopy(REGISTRY), all_papers())


def test_without_a_licence_the_public_tasks_remain():
    config, papers = checked()
    assert config["merchant2020"]["edge_tasks"] == ["ep_pos", "ep_dependencies", "ep_relations"]
    plan = Plan(config | {"registry": REGISTRY, "gpu": 0}, papers)
    [note] = [note for note in plan.notes() if "licence" in note]
    assert "ep_constituents" in note and "ep_pos stands in for ep_pos_ontonotes" in note
    needed = plan.unmeasured()["merchant2020"]
    assert needed["table1/constituents"].startswith("needs OntoNotes") and needed["table1/spr"].startswith("needs SPR1")
    assert "table1/relations" not in needed
    # every figure and table is drawn
    assert {"table1", "table_top", "mdl"} <= {
        file.split("/")[-1].split(".")[0] for file in plan.artifact_files("merchant2020")
    }


def test_with_all_files_the_eight_tasks_run(tmp_path):
    provide(tmp_path, REGISTRY, [name for name in EIGHT if is_licensed(REGISTRY[name])])
    config, _ = checked(licensed=str(tmp_path))
    assert config["merchant2020"]["edge_tasks"] == EIGHT and not config["without_licence"]


def test_a_file_that_is_missing_is_named_before_any_job(tmp_path):
    provide(tmp_path, REGISTRY, [name for name in EIGHT if is_licensed(REGISTRY[name])])
    [source] = REGISTRY["ep_srl"]["sources"]
    file = tmp_path / source["raw"] / REGISTRY["ep_srl"]["splits"]["dev"]["file"]
    file.unlink()
    with pytest.raises(UserError) as told:
        checked(licensed=str(tmp_path))
    assert str(told.value).count("\n") == 0 and str(file.relative_to(tmp_path)) in str(told.value)
    file.with_name(file.name + ".gz").write_bytes(gzip.compress(LINES["span-pair"].encode()))  # compressed will do
    checked(licensed=str(tmp_path))


@pytest.mark.parametrize(("content", "said"), [
    (b"{}\n", r"line 1: a field of the edge-probing format is missing: 'text'"),
    (LINES["span"].encode(), "line 1: a target has one span where the task has another number"),
    (b"\n# text = a b\n", "line 2: no JSON"),
    (b"", "line 1: no JSON"),
    (b"\xff\xfe\x00", "line 1: unreadable")])  # fmt: skip
def test_a_file_of_another_format_is_named_before_any_job(tmp_path, content, said):
    provide(tmp_path, REGISTRY, ["ep_srl"])
    file = tmp_path / REGISTRY["ep_srl"]["sources"][0]["raw"] / REGISTRY["ep_srl"]["splits"]["dev"]["file"]
    file.write_bytes(content)
    with pytest.raises(UserError, match=f"{re.escape(str(file))}, {said}") as told:
        checked(licensed=str(tmp_path))
    assert str(told.value).count("\n") == 0


@pytest.mark.parametrize(("content", "is_fine"), [
    (f"# sent_id = 1\n{LINES['tree']}", True), (LINES["tree"], True), (LINES["span"], False)])  # fmt: skip
def test_the_first_line_of_a_treebank_has_ten_columns_or_is_a_comment(tmp_path, content, is_fine):
    provide(tmp_path, REGISTRY, ["ptb"])
    (tmp_path / "treebanks/ptb/train.conllu").write_text(content)
    changes = paper_preset(licensed=str(tmp_path), papers=["zhou2022"])
    changes["datasets"]["ptb"] = {"source": "real", "rows": {"train": None, "dev": None, "test": None}}
    with nullcontext() if is_fine else pytest.raises(UserError, match="1 columns where CoNLL-U has 10"):
        check_config(changes, copy.deepcopy(REGISTRY), all_papers())


def test_a_corpus_that_is_wholly_absent_is_left_out_but_a_folder_without_any_is_refused(tmp_path):
    provide(tmp_path, REGISTRY, ["ep_spr"])
    config, _ = checked(licensed=str(tmp_path))
    assert config["merchant2020"]["edge_tasks"] == ["ep_pos", "ep_dependencies", "ep_spr", "ep_relations"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match=r"nothing in it that merchant2020\.edge_tasks names"):
        checked(licensed=str(empty))
    config, _ = checked(licensed=str(empty), papers=["zhou2022"])  # which asks for nothing under licence
    assert set(config["without_licence"])


def test_a_task_on_data_under_licence_is_refused_without_them():
    splits = {"source": "real", "rows": {"train": 5, "dev": 5, "test": 5}}
    changes = paper_preset()
    changes["datasets"]["ptb"], changes["tasks"]["parse"]["dataset"] = splits, "ptb"
    with pytest.raises(UserError, match=r"tasks\.parse\.dataset is 'ptb': under licence"):
        check_config(changes, copy.deepcopy(REGISTRY), all_papers())


def test_an_unknown_split_is_a_fault_of_one_line():
    changes = paper_preset()
    changes["datasets"]["ep_srl"]["rows"] = {"train": 5, "validation": 5}
    with pytest.raises(UserError, match=r"datasets\.ep_srl\.rows\.validation"):
        check_config(changes, copy.deepcopy(REGISTRY), all_papers())


def test_only_real_data_stand_in():
    changes = paper_preset()
    changes["datasets"]["ep_pos"] = {"source": "embedded", "rows": {"train": 5, "dev": 5, "test": 5}}
    config, _ = check_config(changes, copy.deepcopy(REGISTRY), all_papers())
    assert config["merchant2020"]["edge_tasks"] == ["ep_dependencies", "ep_relations"]
