"""Plans: what papers need is followed from their figures to the models, once for all papers."""

import copy
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.licensed import provide
from workflow.lib.base.config import check_config
from workflow.lib.base.names import encoder_of, model_of, target_of, task_of
from workflow.lib.base.plan import Plan
from workflow.papers import FOLDER, all_papers

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
PAPERS = all_papers()


def merged(base: dict, changes: dict) -> dict:
    base = copy.deepcopy(base)
    for key, value in changes.items():
        base[key] = merged(base.get(key) or {}, value) if isinstance(value, dict) else value
    return base


def plan_of(preset: str | None = None, **changes) -> Plan:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    config = merged(config, yaml.safe_load((ROOT / preset).read_text())) if preset else config
    config, papers = check_config(merged(config, changes), REGISTRY, PAPERS)
    return Plan(config | {"registry": REGISTRY}, papers)


@pytest.fixture(scope="module")
def demo() -> Plan:
    return plan_of()


@pytest.mark.parametrize("preset", [None, "config/laptop.yaml", "config/paper.yaml", "tests/workflow/tiny.yaml"])
def test_every_artifact_of_every_paper_can_be_made_in_every_preset(preset):
    made = {key: list(of_paper) for key, of_paper in plan_of(preset).artifacts.items()}
    assert made.pop("given") == []  # no preset has a model that others tuned
    assert made == {key: [entry["id"] for entry in PAPERS[key].about["artifacts"]] for key in PAPERS if key != "given"}


def test_artifacts_have_a_script_a_kind_and_a_caption_that_can_be_filled_in(demo):
    for key, of_paper in demo.artifacts.items():
        for id, (artifact, _) in of_paper.items():
            assert (FOLDER / key / artifact.script).is_file() and artifact.kind in ("figure", "table")
            assert artifact.script.startswith(f"{artifact.kind}s/")
            caption = demo.caption(key, id)
            assert caption.endswith(".") and "{" not in caption


def test_captions_name_the_encoders_that_are_shown(demo):
    assert "Run demo: encoders base.0; fine-tuning seed 0; " in demo.caption("zhou2022", "fig4")
    assert "encoders base.0, untrained.0; fine-tuning seed 0; " in demo.caption("beyond", "pretraining_gain")
    assert demo.caption("zhou2022", "fig1").endswith("Run demo.")
    for plan in (demo, plan_of("config/laptop.yaml")):  # which has no encoder of twelve layers
        assert "Dashed" not in plan.caption("merchant2020", "fig2")
    assert "Dashed" in plan_of("config/paper.yaml").caption("merchant2020", "fig2")


def test_captions_name_the_encoders_of_the_rows_that_a_table_shows(demo):
    assert "encoders demo_tiny.0;" in demo.caption("zhou2022", "table3")
    assert "encoders base.0;" in demo.caption("zhou2022", "table2")


def test_published_numbers_stand_beside_real_data_alone():
    """The paper's encoders, on stand-in data of some tasks or of all."""
    made_up = {"source": "embedded", "rows": {"train": 20, "test": 20}}
    some, all_of = ("imdb", "ps_role"), ("imdb", "ag_news", "dbpedia", "ps_role", "ps_fxn", "pud", "trec50")
    some, none = (plan_of("config/paper.yaml", datasets=dict.fromkeys(names, made_up)) for names in (some, all_of))

    def of(plan, paper, id, key="compared"):
        return plan.needs(paper, id).settings[key]

    for id in ("table2", "table3", "table_components"):
        assert of(some, "matton2019", id) == ["ag_news", "dbpedia"] and of(none, "matton2019", id) == []
    for id in ("table5", "table7"):
        assert {"ps_fxn", "pos"} <= set(of(some, "zhou2022", id)) and "ps_role" not in of(some, "zhou2022", id)
        assert of(none, "zhou2022", id) == []
    curves = ("fig1", "fig2", "fig3", "fig4", "fig5")
    assert all(of(some, "merchant2020", id, "published") for id in curves)
    texts = plan_of("config/paper.yaml", datasets={"wikipedia": {"source": "embedded", "rows": {"sentences": 9999}}})
    assert not any(of(texts, "merchant2020", id, "published") for id in curves)
    assert some.comparable() == ["merchant2020", "singh2020"]
    for paper, id in (("matton2019", "fig4"), ("zhou2022", "fig2"), ("zhou2022", "fig4"), ("zhou2022", "fig6")):
        assert of(some, paper, id, "published") and "Crosses" in some.caption(paper, id)
        assert not of(none, paper, id, "published") and "Crosses" not in none.caption(paper, id)


def test_the_caption_explains_published_rows_where_there_are_any(demo):
    assert "published numbers" not in demo.caption("merchant2020", "table1")
    assert "published numbers" in plan_of("config/paper.yaml").caption("merchant2020", "table1")


def test_captions_say_how_many_rows_are_shown(demo):
    assert demo.caption("matton2019", "table2").endswith("; 2,000 rows of imdb/test, ag_news/test, dbpedia/test.")
    assert demo.caption("matton2019", "fig1").endswith("; 4,000 rows of wikipedia/sentences; 2,000 rows of imdb/test.")
    assert "500 rows of ps_role/train, ps_fxn/train" in demo.caption("zhou2022", "fig4")  # training points are followed
    assert "; 2,500 rows of wikipedia/sentences." in demo.caption("merchant2020", "fig2")  # `rsa.rows` of 4,000
    assert "150 rows of ep_pos/test" in demo.caption("merchant2020", "mdl")
    assert "all rows of imdb/test" in plan_of("config/paper.yaml").caption("matton2019", "fig1")


def test_captions_say_how_many_repetitions_a_band_is_over(demo):
    section, pca = demo.config["matton2019"], demo.config["pca"]
    n = f"{len(section['encoders'])} pre-trained encoders x {pca['random_draws']} samples of sentences"
    assert n in demo.caption("matton2019", "pca_sample_size") or len(section["encoders"]) == 1
    two = plan_of(beyond={"seeds": [0, 1]})
    assert "2 fine-tuning seeds" in two.caption("beyond", "depth_of_change")


def test_one_paper_needs_nothing_that_only_another_needs(demo):
    for key in demo.papers:
        alone = plan_of(papers=[key])
        for rule, items in alone.items.items():
            asked = {item for item, papers in demo.items[rule].items() if key in papers}
            assert set(items) == asked, (key, rule)


def test_scores_of_models_are_those_of_the_papers_asked_for(demo):
    scored, every = demo.metrics(*demo.scored), demo.metrics(*demo.papers)
    assert len(set(every)) == len(every) == len(demo.items["finetune_model"])
    assert [file for file in every if "/untrained.0/" in file] and not [
        file for file in scored if "/untrained.0/" in file
    ]
    assert demo.metrics("singh2020") == []  # which keeps sweeps and no models


def test_what_two_papers_ask_for_is_one_item(demo):
    shared = demo.items["cache_activations"]["base.0/pretrained/sampled/wikipedia-sentences"]
    assert shared == ["merchant2020", "beyond"]
    assert demo.items["finetune_model"]["base.0/pos.full.f1.s0"] == ["zhou2022", "beyond"]


def test_only_layers_and_units_that_some_analysis_reads_are_cached(demo):
    layers = demo.layers
    assert layers["base.0/pretrained/cls/imdb-train"] == "last"  # matton2019 reads the last layer alone
    assert layers["base.0/pretrained/cls/sst2-train"] == "all"  # singh2020 probes every layer
    assert (
        layers["base.0/pos.full.f1.s0/word/pud-train"] == "blocks"
    )  # last for DirectProbe, blocks for label distances
    units = {target_of(item).rpartition("/")[0] for item in layers}
    assert units == {"cls", "word", "sampled", "sampled_first", "span", "target"}


def test_every_cache_and_every_analysis_has_its_model(demo):
    models = demo.items["finetune_model"]
    for rule in ("cache_activations", "pca", "rsa", "edges", "mlp"):
        for item in demo.items[rule]:
            model = model_of(item)
            assert model.endswith("/pretrained") or model in models, item


def test_followed_models_save_their_steps_and_others_do_not(demo):
    assert demo.tracked == {f"base.0/{task}.full.f1.s0" for task in ("pos", "dep", "ps_fxn", "ps_role")}
    assert demo.training("base.0/pos.full.f1.s0")["save_every"] == 10
    assert demo.training("base.0/trec50.full.f1.s0")["save_every"] == 0
    assert demo.steps("base.0/trec50.full.f1.s0") is None
    assert demo.steps("base.0/ps_fxn.full.f1.s0") == {
        "dtype": "float32", "unit": "target", "layers": "blocks", "max_tokens": 128,
        "place": "ps_fxn/train"}  # fmt: skip


def test_sampled_tokens_carry_what_they_are_sampled_by(demo):
    settings = demo.cache_settings("base.0/pretrained/sampled/wikipedia-sentences")
    assert settings["rows"] == 2500 and settings["per_row"] == 6 and settings["layers"] == "all"
    of_pairs = demo.cache_settings("base.0/pretrained/sampled_first/mnli-test")
    assert of_pairs == settings | {"unit": "sampled_first", "places": ["mnli/test"]}
    assert "rows" not in demo.cache_settings("base.0/pretrained/cls/imdb-train")


def test_variants_of_a_text_are_compared_where_they_are_asked_for(demo):
    def texts(plan):
        return {target_of(item) for item in plan.items["rsa"] if task_of(item) == "mnli"}

    assert texts(demo) == {"wikipedia-sentences", "mnli-test", "mnli-train", "mnli-test.first"}
    plain = plan_of(merchant2020={"variants": False})
    assert texts(plain) == {"wikipedia-sentences", "mnli-test"}
    assert not any("sampled_first" in item for item in plain.layers)


@pytest.mark.parametrize("preset", [None, "config/laptop.yaml", "config/paper.yaml"])
def test_description_lengths_are_of_rows_that_no_model_was_tuned_on(preset):
    """The parser is tuned on EWT's train split, which is ep_dependencies' as well."""
    plan = plan_of(preset)
    for item in plan.items["description_length"]:
        coded, dev = (cache.place for cache in plan.caches("description_length", item))
        assert coded.endswith("/test") and dev.endswith("/dev")


def test_texts_are_truncated_as_in_training():
    plan = plan_of(tasks={"imdb": {"max_tokens": 48}})
    assert plan.cache_settings("base.0/pretrained/cls/imdb-test")["max_tokens"] == 48
    assert plan.cache_settings("base.0/pretrained/cls/wikipedia-sentences")["max_tokens"] == 128


def test_sweeps_are_as_deep_as_their_encoder():
    plan = plan_of("config/paper.yaml", encoders={"bert": {"layers": 26}})
    reinit = [item for item in plan.items["sweep"] if task_of(item) == "qnli" and ".reinit-26." in item]
    assert reinit and not any(".reinit-27." in item for item in plan.items["sweep"])


def test_figures_draw_the_tasks_that_they_are_given():
    """No three tasks for matton2019, no parser for an RSA curve, no edge tasks, no last task."""
    plan = plan_of(
        matton2019={"tasks": ["imdb"]},
        merchant2020={"tasks": ["mnli"], "in_domain": [], "edge_tasks": []},
        singh2020={"fractions": {"cola": None}, "last_task": None, "compared": []},
        zhou2022={"tasks": ["pos"], "tracked_tasks": ["pos"], "cross_tasks": {"ps_fxn": None}},
    )
    made = {key: set(of_paper) for key, of_paper in plan.artifacts.items()}
    assert "fig1" in made["matton2019"] and not {"fig2", "fig3"} & made["matton2019"]
    assert made["merchant2020"] == {"table_models", "fig1", "fig2", "fig3", "fig4"}
    assert made["singh2020"] == {"table1", "fig1", "fig2", "fig3"}
    assert "fig7" in made["zhou2022"] and not {"fig8", "table5"} & made["zhou2022"]


def test_a_cluster_has_a_job_for_each_item_and_one_rule(demo):
    alone = plan_of(share={"models": 1, "sweeps": 1, "activations": 1, "analyses": 1})
    assert [job.name for rule in alone.items for job in alone.jobs(rule)] == list(alone.items)


def test_shared_jobs_hold_every_item_once(demo):
    for rule, items in demo.items.items():
        jobs = [job for job in demo.jobs(rule) if job.items is not None]
        made = [item for job in jobs for item in job.items]
        assert not jobs or (sorted(made) == sorted(items) and len({job.name for job in jobs}) == len(jobs))


def test_encoders_of_the_random_baseline_are_only_edge_probed(demo):
    rules = {rule for rule, items in demo.items.items() for item in items if encoder_of(item) == "untrained.0"}
    assert rules == {"edges", "cache_activations", "finetune_model"}  # the last for the gain of pre-training


def test_nothing_outside_its_folder_names_a_paper():
    workflow = ROOT / "workflow"
    sources = [ROOT / "Snakefile", *workflow.rglob("*.smk"), *(workflow / "lib").rglob("*.py")]
    sources += [*(workflow / "scripts").glob("*.py"), FOLDER / "__init__.py"]
    papers = [key for key in PAPERS if key not in ("beyond", "given")]  # which are words, and no papers
    assert not [path.name for path in sources if any(key in path.read_text() for key in papers)]
    # descriptions may say why a default is what it is; names and rules of the config may not
    schema = yaml.safe_load((workflow / "schemas/config.schema.yaml").read_text())
    assert not set(papers) & {*schema["properties"], *schema["$defs"], *schema["required"]}


# ---- caches that are deleted once they are read


def test_what_reads_temporary_caches_goes_before_what_makes_more():
    reading = {"edges", "description_length", "structural", "rsa", "pca", "paths"}
    paper, demo = plan_of("config/paper.yaml"), plan_of()
    methods = paper.items.keys() - {"finetune_model", "sweep", "cache_activations", "cache_temporarily"}
    assert {method for method in methods if paper.priority(method)} == reading
    assert not any(demo.priority(method) for method in methods)


@pytest.mark.parametrize("temporary", [[], ["steps", "span", "word/ewt"], ["cls"], ["sampled"]])
def test_every_cache_has_exactly_one_rule(temporary):
    plan = plan_of("config/paper.yaml", activations={"temporary": temporary})
    kept = re.compile(plan.cache_pattern())
    for rule in ("cache_activations", "cache_temporarily"):
        for item in plan.items.get(rule, {}):
            assert bool(kept.fullmatch(item.partition("/")[2])) == (rule == "cache_activations"), item


def test_datasets_of_the_same_sentences_have_one_cache():
    plan = plan_of("config/paper.yaml")
    item = "multibert0.0/pretrained/span/ewt-train"
    assert plan.cache_data(item) == [f"<results>/data/{name}/train.parquet" for name in ("ep_pos", "ep_dependencies")]
    # whatever of them a run asks for
    alone = plan_of("config/paper.yaml", merchant2020={"edge_tasks": ["ep_dependencies"]})
    assert alone.cache_data(item) == plan.cache_data(item)
    assert plan.cache_settings(item)["places"] == ["ep_pos/train", "ep_dependencies/train"]
    spans = {target_of(item) for item in plan.layers if "/span/" in item}
    assert spans == {f"span/{text}-{split}" for text in ("ewt", "ep_relations") for split in ("train", "dev", "test")}
    # sentences of the embedded corpus are different in every dataset
    assert "base.0/pretrained/span/ep_pos-train" in plan_of().layers


def test_temporary_caches_of_a_model_are_one_job():
    plan = plan_of("config/paper.yaml")
    jobs = plan.jobs("cache_temporarily")
    assert sorted(item for job in jobs for item in job.items) == sorted(plan.items["cache_temporarily"])
    assert all(len({model_of(item) for item in job.items}) == 1 for job in jobs)
    assert len({model_of(job.items[0]) for job in jobs}) == len(jobs) == len({job.name for job in jobs})


def test_a_shared_cache_asks_for_no_data_that_is_missing(tmp_path):
    """Of OntoNotes only parts of speech and entities are there."""
    provide(tmp_path, REGISTRY, ["ep_pos_ontonotes", "ep_entities"])
    plan = plan_of("config/paper.yaml", licensed=str(tmp_path))
    data = plan.cache_data("multibert0.0/pretrained/span/ontonotes-train")
    assert set(data) == {f"<results>/data/{name}/train.parquet" for name in ("ep_pos_ontonotes", "ep_entities")}


def test_structural_probes_compare_with_the_published_ones_on_their_treebank_alone(tmp_path):
    """Elsewhere every row of figure 1 says what it needs."""
    provide(tmp_path, REGISTRY, ["ptb"])  # alone: edge tasks are then on public data
    published = pd.read_csv(FOLDER / "merchant2020/published.csv")
    figure1 = {f"{row.artifact}/{row.series}" for row in published.itertuples() if row.artifact.startswith("fig1")}
    on_ewt = plan_of("config/paper.yaml")
    ptb = {"source": "real", "rows": {"train": None, "dev": None, "test": None}}
    changes = {"licensed": str(tmp_path), "datasets": {"ptb": ptb}}
    on_ptb = plan_of("config/paper.yaml", **changes, merchant2020={"treebank": "ptb"})
    said = [plan.unmeasured()["merchant2020"] for plan in (on_ewt, on_ptb)]
    assert {number for number, why in said[0].items() if why == "needs PTB (`licensed`)"} == figure1
    assert not figure1 & said[1].keys()
    scored = [PAPERS["merchant2020"].plan.scored(plan.config).settings for plan in (on_ewt, on_ptb)]
    assert [settings["is_papers_treebank"] for settings in scored] == [False, True]


@pytest.mark.parametrize(("task", "epochs"), [("imdb", 4), ("sst2", 3), ("trec50", 10)])
def test_the_laptop_preset_trains_as_long_as_the_papers_say_for_such_encoders(task, epochs):
    assert plan_of("config/laptop.yaml").config["tasks"][task]["epochs"] == epochs
