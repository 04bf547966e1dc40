"""Estimates against what is counted or measured otherwise: torch's own counter, real encoders, planted speeds."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
import yaml
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel

from tests.licensed import provide
from tests.papers.test_plans import REGISTRY, plan_of
from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.costs import analyses, fit, table
from workflow.lib.costs.encoders import Shape, encoder_shape
from workflow.lib.costs.estimates import LONGEST, Costs, core_seconds, memory_mb, speeds
from workflow.lib.costs.forecast import forecast, mismatches
from workflow.lib.costs.planned import downloads, planned_jobs, work_of
from workflow.lib.costs.sizes import size_of, twins_in
from workflow.lib.costs.work import Work
from workflow.lib.data.licences import is_licensed

SHAPES = [Shape(2, 32, 64, 2, 100), Shape(3, 64, 256, 4, 500)]


def bert(shape: Shape) -> BertModel:
    config = BertConfig(vocab_size=shape.vocabulary, hidden_size=shape.width, num_hidden_layers=shape.layers,
                        num_attention_heads=shape.heads, intermediate_size=shape.feed_forward)  # fmt: skip
    return BertModel(config, add_pooling_layer=False)


@pytest.fixture(scope="module")
def paper():
    plan = plan_of("config/paper.yaml")
    plan.config["gpu"] = 1
    return plan


@pytest.fixture(scope="module")
def demo():
    plan = plan_of()
    plan.config["gpu"] = 0
    return plan


# ---- encoders


@pytest.mark.parametrize("shape", SHAPES)
def test_operations_are_those_that_torch_counts(shape):
    ids = torch.zeros(5, 20, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        bert(shape)(ids)
    assert counter.get_total_flops() == pytest.approx(shape.forward(100, 20), rel=0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_are_the_model_s(shape):
    assert sum(weight.numel() for weight in bert(shape).parameters()) == pytest.approx(shape.parameters, rel=0.05)


def test_shapes_come_from_the_config(paper, demo):
    assert encoder_shape(paper.config, "bert.0").parameters == pytest.approx(109e6, rel=0.01)
    assert encoder_shape(paper.config, "untrained.0") == encoder_shape(paper.config, "bert.0")
    small = encoder_shape(demo.config, "base.0")
    assert (small.layers, small.width, small.feed_forward, small.heads) == (4, 64, 128, 4)


# ---- sizes


def test_rows_are_the_config_s_or_all_that_are_published(paper, demo):
    assert size_of(paper.config, "mnli/train").rows == 392_702
    assert size_of(paper.config, "wikipedia/sentences").rows == 1_000_000
    assert size_of(demo.config, "imdb/train").rows == demo.config["datasets"]["imdb"]["rows"]["train"]


def test_texts_that_are_cut_have_fewer_tokens(paper):
    whole, cut = (size_of(paper.config, "imdb/train", longest) for longest in (512, 128))
    assert 200 < whole.tokens < 512 and 100 < cut.tokens <= 128 == cut.longest


# ---- estimates


def test_every_planned_job_has_an_estimate(paper, demo):
    for plan in (paper, demo):
        for job in planned_jobs(plan):
            assert core_seconds(job.rule, job.work) > 0 and memory_mb(job.rule, job.work) > 50, job
            assert job.work.calls > 0 and job.work.flops > 0 and job.work.held > 0, job


@pytest.mark.parametrize("rule, item", [
    ("pca", "pretrained/imdb"), ("neurons", "pretrained/imdb"), ("finetune_model", "imdb.full.f1.s0"),
    ("layer_probes", "pretrained/imdb"), ("mlp", "pretrained/imdb"), ("directprobe", "pretrained/trec50"),
    ("cache_activations", "pretrained/cls/imdb-train")])  # fmt: skip
def test_more_rows_and_wider_encoders_take_more(demo, rule, item):
    few = work_of(demo, rule, f"base.0/{item}")
    many = plan_of(datasets={name: {"rows": {"train": 80_000}} for name in ("imdb", "trec50")})
    many.config["gpu"] = 0
    more, narrow = work_of(many, rule, f"base.0/{item}"), work_of(demo, rule, f"demo_tiny.0/{item}")
    assert more.flops > few.flops > narrow.flops and more.held > few.held > narrow.held


def test_a_model_that_nobody_follows_has_no_trajectory(demo):
    with pytest.raises(UserError, match=r"trec50\.full\.f1\.s0 is not followed .*: base\.0/dep\.full"):
        work_of(demo, "paths", "base.0/trec50.full.f1.s0/trec50")


def test_a_second_attempt_asks_for_twice_as_much_up_to_a_day(paper):
    costs, wildcards = Costs(paper), SimpleNamespace(encoder="bert.0", item="pretrained/dbpedia")
    items_of = lambda w: [f"{w.encoder}/{w.item}"]  # noqa: E731
    for ask in (costs.memory("pca", items_of), costs.minutes("neurons", items_of)):
        assert ask(wildcards, 2) == 2 * ask(wildcards, 1)
    assert costs.minutes("pca", items_of)(wildcards, 9) == LONGEST


def test_jobs_on_a_gpu_are_given_a_gpu_s_time(paper):
    on_gpu, items_of = Costs(paper), lambda w: ["bert.0/imdb.full.f1.s0"]
    on_cpu = plan_of("config/paper.yaml")
    on_cpu.config["gpu"] = 0
    asked = [costs.minutes("finetune_model", items_of)(None, 1) for costs in (on_gpu, Costs(on_cpu))]
    assert asked[0] < asked[1]


# ---- analyses against what was measured on one core; random data, so that factors count


@pytest.mark.parametrize(("rows", "width", "seconds"), [
    (4000, 96, 0.6), (16_000, 96, 1.8), (64_000, 96, 6.8), (16_000, 768, 11.3)])  # fmt: skip
def test_a_step_of_the_search_for_neurons_takes_what_was_measured(demo, monkeypatch, rows, width, seconds):
    """14 classes, 5 folds."""
    monkeypatch.setattr(analyses, "points", lambda config, task: (rows, 0, 14))
    monkeypatch.setattr(analyses, "_shape", lambda config, item: Shape(12, width, 4 * width, 1, 100))
    settings = demo.config | {"neurons": {"neurons": 14, "folds": 5, "rows": None}}
    work = analyses.neurons(settings, "base.0/pretrained/dbpedia")
    assert seconds / 2 < work.flops / 14 / speeds()["core"]["neurons"]["speed"] < 2 * seconds


@pytest.mark.parametrize(("n_points", "width", "labels", "clusters", "seconds"), [
    (2000, 32, 10, 41, 5.4), (4000, 32, 10, 60, 13.6), (4000, 64, 10, 39, 19.7), (8000, 64, 17, 67, 53.7),
    (16_000, 64, 17, 63, 54.6)])  # fmt: skip
def test_clustering_takes_what_was_measured(n_points, width, labels, clusters, seconds):
    flops = analyses._clustering(n_points, clusters - labels, width)
    assert seconds / 2.5 < flops / speeds()["core"]["directprobe"]["speed"] < 2.5 * seconds


def test_labels_overlap_where_points_are_many_for_the_width_or_a_text_has_two(paper):
    """As in zhou2022's table 7: parts of speech in the narrowest encoders before tuning, TREC-50 always."""

    def extra(item, n):
        return analyses.extra_clusters(paper.config, item, n)

    assert [extra(f"{name}.0/pretrained/pos", 16_854) > 500 for name in ("tiny", "mini", "small", "bert")] == [
        True, True, False, False]  # fmt: skip
    assert extra("tiny.0/pos.full.f1.s0/pos", 16_854) == 0
    assert extra("bert.0/pretrained/trec50", 5452) == extra("bert.0/trec50.full.f1.s0/trec50", 5452) == 2
    before, after = (
        work_of(paper, "directprobe", f"tiny.0/{model}/pos").flops for model in ("pretrained", "pos.full.f1.s0")
    )
    assert before > 10 * after


def test_texts_with_two_labels_are_counted_in_lower_case():
    texts = ["An elephant?", "an elephant?", "an elephant?", "Another"]
    rows = pa.table({"text": texts, "text_pair": [None] * 4, "label": [0, 1, 1, 0]})
    assert twins_in(rows) == 1 and twins_in(rows.slice(1)) == 0


# ---- targets of the paper preset


@pytest.fixture(scope="module")
def licensed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("licensed")
    provide(folder, REGISTRY, [name for name in REGISTRY if name.startswith("ep_") and is_licensed(REGISTRY[name])])
    plan = plan_of("config/paper.yaml", licensed=str(folder))
    plan.config["gpu"] = 1
    return plan


@pytest.mark.parametrize(("kind", "most"), [("paper", 100), ("licensed", 300)])
def test_the_paper_preset_fits_the_disk_and_memory_that_docs_promise(kind, most, request):
    """One job at a time; more at once hold more."""
    plan = request.getfixturevalue(kind)
    rows = table.rows_of(plan)
    one, four, sixteen = (table.disk(plan, rows, n)["peak"] for n in (1, 4, 16))
    assert most / 2 < one < most < four < sixteen and rows["memory"].max() < 24


def test_the_licensed_run_has_all_eight_edge_tasks(licensed):
    assert len(licensed.config["merchant2020"]["edge_tasks"]) == 8 and not licensed.config["without_licence"]


def test_without_temporary_caches_it_would_not(paper):
    changed = plan_of("config/paper.yaml", activations={"temporary": [], "dtype": "float32"})
    changed.config["gpu"] = 1
    assert table.disk(changed, table.rows_of(changed))["peak"] > 300


def test_disk_counts_what_can_be_there_at_a_time(paper, monkeypatch):
    rows = pd.DataFrame({"model": ["bert.0/pretrained", "bert.0/a"], "kept": [0, 2.0], "scratch": [1.0, 0.5]})
    vectors = pd.DataFrame([("sampled", "bert.0/pretrained", 8.0), ("span", "bert.0/a", 4.0), ("span", "bert.0/a", 3.0),
                            ("span", "bert.0/b", 5.0), ("span", "bert.0/c", 1.0)],
                           columns=["entry", "model", "gigabytes"])  # fmt: skip
    monkeypatch.setattr(table, "passing_vectors", lambda plan: vectors)
    stays = 2 + sum(downloads(paper).values()) / 1e9 + 4 * encoder_shape(paper.config, "bert.0").parameters / 1e9
    found = table.disk(paper, rows, jobs_at_once=1)
    # the encoder's sampled tokens, the spans of the two largest models, and what one job writes for itself
    assert found["stays"] == pytest.approx(stays) and found["peak"] == pytest.approx(stays + 8 + 7 + 5 + 1)
    monkeypatch.setattr(table, "passing_vectors", lambda plan: vectors.assign(entry="steps"))
    assert table.disk(paper, rows, jobs_at_once=1)["peak"] == pytest.approx(stays + 21 + 1)


def test_temporary_vectors_of_the_paper_preset(paper):
    found = table.passing_vectors(paper).groupby("entry")["gigabytes"].sum()
    assert set(found.index) == set(paper.config["activations"]["temporary"]) and 80 < found["span"] < 100


def test_wall_time_is_no_less_than_a_chain_and_than_the_share_of_each():
    rows = pd.DataFrame({"rule": ["finetune_model"] * 4 + ["cache_activations", "pca"],
                         "gpu_hours": [2.0, 1.0, 1.0, 1.0, 0.5, 0.0], "core_hours": [0.0] * 5 + [3.0]})  # fmt: skip
    assert table.wall_hours(rows, 1, 8) == 5.5  # one GPU, 5.5 hours of work
    assert table.wall_hours(rows, 16, 128) == 5.5  # 2 + 0.5 + 3, one after the other
    assert table.wall_hours(pd.concat([rows] * 10), 4, 8) == 13.75


@pytest.mark.parametrize("preset", [None, "config/laptop.yaml", "config/paper.yaml"])
def test_the_page_of_every_preset_says_what_people_ask(preset, capsys):
    page = table.page(table.plan_of([str(table.ROOT / preset)] if preset else []))
    for part in ("GPU hours", "core hours", "Largest memory", "Disk:", "Downloads:", "Wall time:"):
        assert part in page
    assert "bert-base-uncased" in page or preset != "config/paper.yaml"


# ---- fitting


def test_planted_speeds_are_found():
    rng = np.random.default_rng(0)
    jobs = pd.DataFrame({"calls": rng.uniform(1e3, 1e5, 30), "flops": rng.uniform(1e9, 1e12, 30)})
    jobs["starts"] = np.arange(30) > 5.0  # the others are bare functions
    jobs["core_seconds"] = 5 * jobs["starts"] + 2e-4 * jobs["calls"] + jobs["flops"] / 2e10
    found = fit.fitted_speed(jobs)
    assert (
        fit.fitted_speed(jobs.assign(core_seconds=5.0, starts=1.0))["speed"] == fit.FASTEST
    )  # where operations take no time
    assert [found["start"], found["call"], found["speed"]] == pytest.approx([5, 2e-4, 2e10], rel=1e-3)


def test_no_measured_job_takes_more_memory_than_fitted():
    rng = np.random.default_rng(1)
    jobs = pd.DataFrame({"held": rng.uniform(1, 5000, 40)})
    jobs["mb"] = 600 + 1.4 * jobs["held"] + rng.uniform(0, 80, 40)
    found = fit.fitted_memory(jobs)
    predicted = found["base_mb"] + found["per_byte"] * jobs["held"]
    assert (predicted >= jobs["mb"] - 1e-6).all() and (predicted < 1.3 * jobs["mb"] + 300).all()


def test_work_of_items_one_after_the_other():
    both = Work(1, 2, 3, 4, 50, 6, 7, 80) + Work(10, 20, 30, 40, 5, 60, 70, 8)
    assert both == Work(11, 22, 33, 44, 50, 66, 77, 80)


def test_every_rule_has_a_measured_speed(paper):
    rules = {"cache_activations" if rule == "cache_temporarily" else rule for rule in paper.items}
    assert rules == speeds()["core"].keys()


def test_every_speed_says_what_it_rests_on(paper):
    for rule, of in speeds()["core"].items():
        assert of["basis"] == fit.basis(rule, of["jobs"], of["speed"]), rule
    assert fit.basis("new", 50, fit.FASTEST) == "assumed" and fit.basis("new", 2, 1e9) == "two small jobs"
    on_cpu = table.plan_of(["config/laptop.yaml"], {"gpu": 0})
    assert "two small jobs (edges description_length structural mlp)" in table.bases(table.rows_of(on_cpu))
    assert not [said for said in table.bases(table.rows_of(paper)) if not said.startswith("full size")]


def test_work_at_full_size_takes_what_was_measured():
    for rule, (calls, flops, seconds) in fit.LARGE.items():
        of = speeds()["core"][rule]
        assert 0.5 < (of["call"] * calls + flops / of["speed"]) / seconds < 2, rule


def test_what_a_run_takes_is_said_before_it():
    said = forecast(table.plan_of([]))
    assert re.fullmatch(r"the whole run takes about \d+ minutes of a core, 1\.\d GB of disk, .*", said)
    assert "hours of a GPU" in forecast(table.plan_of(["config/paper.yaml"], {"gpu": 1}))


def test_data_in_a_language_that_the_encoder_does_not_know_are_named():
    assert not mismatches(table.plan_of([])) and not mismatches(table.plan_of(["config/laptop.yaml"]))
    hub = {"encoders": {"mine": {"source": "hub", "id": "a/b", "layers": 12}}, "papers": ["matton2019"]}
    (said,) = mismatches(table.plan_of([], hub | {"matton2019": {"encoders": ["mine.0"]}}))
    assert said.startswith("generated data (ag_news, dbpedia, imdb, wikipedia) under an encoder of real text (mine)")
    shipped = yaml.safe_load((ROOT / "config/config.yaml").read_text())["encoders"]["base"]
    changed = {"encoders": {"base": shipped}, "papers": ["matton2019"], "matton2019": {"encoders": ["base.0"]}}
    changed |= {"pca": {"components": [1, 5]}}
    (said,) = mismatches(table.plan_of(["config/laptop.yaml"], changed))
    assert said.startswith("real data (ag_news, dbpedia, imdb, wikipedia) under an encoder of the generated language")
