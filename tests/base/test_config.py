"""The config contract: schema, config.yaml and README agree, and each mistake is one line that helps."""

import copy
from pathlib import Path

import pytest
import yaml

from workflow.lib.base.config import check_config, composed, config_schema
from workflow.lib.base.config_docs import README, generated, resolved
from workflow.lib.base.errors import UserError
from workflow.papers import all_papers

ROOT = Path(__file__).resolve().parents[2]
DEMO = yaml.safe_load((ROOT / "config/config.yaml").read_text())
REGISTRY = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
PAPERS = all_papers()
SCHEMA = config_schema(PAPERS)
COMMIT = "0123456789" * 4
# The mistakes are made in this one, so that the demo's numbers may change.
TOY = yaml.safe_load("""
run: toy
datasets:
  wikipedia: {source: embedded, rows: {pretrain: 100, sentences: 100}}
  imdb: {source: embedded, rows: {train: 20, test: 20}}
  sst2: {source: embedded, rows: {train: 20, test: 20}}
  pud: {source: embedded, rows: {train: 20, dev: 20, test: 20}}
encoders:
  base: {source: pretrain, layers: 2, width: 64, heads: 4, seeds: [0, 1]}
  untrained: {source: random, like: base, seeds: [0]}
pretraining: {dataset: wikipedia, split: pretrain}
training: {epochs: 2}
tasks:
  imdb: {dataset: imdb, holdout: 0.1}
  sst2: {dataset: sst2}
  ag_news: {dataset: imdb}
  qnli: {dataset: imdb}
  pos: {dataset: pud, head: word}
  dep: {dataset: pud, head: word_pair}
  tag: {dataset: pud, head: word}
  parse: {dataset: pud, head: parser}
  spare: {dataset: sst2}
pca: {general: wikipedia/sentences, components: [1, 64], sample_sizes: [50, 100]}
neurons: {rows: null}
structural: {rank: 8}
edges: {projection: 8, hidden: 8, learning_rate: 0.1, learning_rate_patience: 1, validate_every: 1, max_validations: 1,
  patience: 1}
description_length: {portions: [50, 100], validate_every: 1, max_validations: 1, patience: 1}
layer_probes: {learning_rate: 0.1, epochs: 1}
mlp: {sizes: [8], alphas: [0.1], max_epochs: 9}
matton2019: {encoders: [base.0], tasks: [imdb, ag_news], training: {holdout: 0.05, keep_best: true}}
merchant2020:
  {encoders: [base.0], randomised: [untrained.0], tasks: [parse, qnli], general: wikipedia/sentences, in_domain: [qnli],
   treebank: pud, edge_tasks: [pud]}
singh2020:
  {encoders: [base.0], fractions: {sst2: [1, 0.5], spare: [1]}, small: {sst2: 0.5}, last_task: spare, compared: [sst2]}
zhou2022:
  {encoders: [base.0], tasks: [pos], table2: base.0, table3: base.0, tracked_encoder: base.0, cross_tasks: {pos: [dep]},
   tracked_tasks: [tag, pos, dep], training: {weight_decay: 0.0}}
beyond:
  {encoders: [base.0], tasks: [pos], general: wikipedia/sentences,
   pretraining_gain: {trained: [base.0], untrained: [untrained.0], tasks: [imdb]}}
""")
ENTRY = {"kind": "text", "labels": [], "sources": [], "adapter": "text", "options": {}}
TOY_REGISTRY = {name: ENTRY | {"splits": {"train": {}, "test": {}}} for name in ("wikipedia", "imdb", "sst2", "pud")}


def merged(base: dict, changes: dict) -> dict:
    """As Snakemake merges a config file over another: mappings key by key, all else replaced."""
    base = copy.deepcopy(base)
    for key, value in changes.items():
        known = base.get(key)
        base[key] = merged(known if isinstance(known, dict) else {}, value) if isinstance(value, dict) else value
    return base


def checked(changes: dict, base: dict = TOY, registry: dict = TOY_REGISTRY) -> dict:
    return check_config(merged(base, changes), registry, PAPERS)[0]


def test_readme_is_made_from_the_schemas():
    text = README.read_text()
    assert text == generated(text, PAPERS), "run `make docs`"


def keys_of(part: dict, path: str = "") -> list[tuple[str, dict]]:
    """All keys that a section describes, with their schemas."""
    found = []
    for name, entry in part.get("properties", {}).items():
        if isinstance(entry, dict):
            found += [(f"{path}{name}", entry), *keys_of(entry, f"{path}{name}.")]
    return found


def test_every_key_of_methods_and_papers_is_described_once():
    sections = [path.parent.name for path in (ROOT / "workflow/lib/methods").glob("*/schema.yaml")] + list(PAPERS)
    for section in sections:
        for name, entry in keys_of(SCHEMA["properties"][section], f"{section}."):
            assert "description" in entry or ".pretraining_gain." in name, name
            assert f"`{name.rpartition('.')[2]}`" in README.read_text(), name


def test_schema_s_defaults_are_the_demo_s_values():
    training = {key: entry["default"] for key, entry in SCHEMA["$defs"]["training"]["properties"].items()}
    assert training == DEMO["training"]
    for section, entry in SCHEMA["properties"].items():
        for key, inner in resolved(entry, SCHEMA).get("properties", {}).items():
            if "default" in inner and section not in ("training", *PAPERS):
                assert DEMO[section][key] == inner["default"], (section, key)


def test_every_closed_part_of_the_schema_is_closed():
    def objects(part, path="schema"):
        if isinstance(part, dict):
            if part.get("type") == "object" and "properties" in part:
                yield path, part
            for key, inner in part.items():
                yield from objects(inner, f"{path}.{key}")

    # a dataset and an encoder are closed by the list of their source
    closed = {"additionalProperties", "unevaluatedProperties"}
    open_ones = [path for path, part in objects(SCHEMA) if not closed & part.keys()]
    assert open_ones == ["schema.$defs.dataset", "schema.$defs.encoder"]
    assert not any(
        SCHEMA["$defs"][f"{s}_encoder"]["additionalProperties"] for s in ("pretrain", "random", "hub", "folder")
    )


def test_demo_passes_unchanged_but_for_tasks():
    before = copy.deepcopy(DEMO)
    after = checked({}, DEMO, REGISTRY)
    assert before == DEMO
    assert {key: value for key, value in after.items() if key not in ("tasks", "papers", "without_licence")} == {
        key: value for key, value in DEMO.items() if key != "tasks"
    }


@pytest.mark.parametrize(
    "preset",
    sorted(p.name for p in (ROOT / "config").glob("*.yaml") if p.name not in ("datasets.yaml", "mine.example.yaml")),
)
def test_presets_pass(preset):
    config = checked(yaml.safe_load((ROOT / "config" / preset).read_text()), DEMO, REGISTRY)
    assert all(config["tasks"][task]["epochs"] for task in config["tasks"])


def test_defaults_are_filled_in():
    config = checked({})
    assert config.keys() == DEMO.keys() | {"papers", "without_licence"}
    assert config["training"] == DEMO["training"] | {"epochs": 2}
    assert config["figures"] == DEMO["figures"] and config["activations"] == DEMO["activations"]
    assert config["pca"].keys() == DEMO["pca"].keys() and config["share"] == DEMO["share"]


def test_a_task_is_trained_as_its_paper_trains_unless_it_says_otherwise():
    config = checked({"training": {"epochs": 3, "warmup": 0.2}, "tasks": {"imdb": {"epochs": 9, "evaluate": "train"}}})
    own = {"dataset": "imdb", "train_split": "train", "evaluate": "train", "epochs": 9, "holdout": 0.1}
    assert config["tasks"]["imdb"] == DEMO["training"] | {"warmup": 0.2, "keep_best": True} | own
    assert config["tasks"]["ag_news"]["holdout"] == 0.05 and config["tasks"]["ag_news"]["epochs"] == 3
    assert config["tasks"]["pos"]["weight_decay"] == 0 and config["tasks"]["sst2"]["weight_decay"] == 0.01


def test_settings_for_an_encoder_are_the_most_special_of_their_level():
    general, paper = {"epochs": 4, "batch_size": 32}, {"epochs": 10, "for_encoder": {"base": {"epochs": 3}}}
    assert composed(general, paper) == {"epochs": 10, "batch_size": 32, "for_encoder": {"base": {"epochs": 3}}}
    task = {"batch_size": 16, "for_encoder": {"base": {"batch_size": 8}, "tiny": {"epochs": 10}}}
    found = composed(general, paper, task)
    assert found["for_encoder"] == {"base": {"epochs": 3, "batch_size": 8}, "tiny": {}}
    assert composed(general, paper, {"epochs": 5})["for_encoder"] == {"base": {}}  # a task's keys win over its paper's


def test_a_dataset_put_into_a_paper_is_trained_that_way_and_two_ways_need_two_tasks():
    assert checked({"matton2019": {"tasks": ["tag2"]}, "tasks": {"tag2": {"dataset": "sst2"}}})["tasks"]["tag2"][
        "keep_best"
    ]
    with pytest.raises(UserError, match=r"tasks\.qnli: matton2019 and merchant2020 train it differently"):
        checked({"matton2019": {"tasks": ["qnli"]}})


def test_only_the_sections_of_the_chosen_papers_count():
    changes = {
        "papers": ["zhou2022"],
        "matton2019": {"encoders": ["nobody.7"], "what": 1},
        "pca": {"components": [999]},
    }
    config = checked(changes)
    assert "matton2019" not in config and config["papers"] == ["zhou2022"]
    assert checked(changes | {"papers": "[zhou2022]"})["papers"] == ["zhou2022"]
    with pytest.raises(UserError, match=r"papers\[0\] is 'zhou2021': no such paper \(did you mean 'zhou2022'\?\)"):
        checked({"papers": ["zhou2021"]})


def test_a_few_lines_are_enough_for_an_encoder_of_ones_own(tmp_path):
    """One paper, one encoder, nothing of the others."""
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 3, "hidden_size": 32}')
    mine = {
        "run": "mine",
        "papers": ["matton2019"],
        "encoders": {"mine": {"source": "folder", "path": str(tmp_path)}},
        "matton2019": {"encoders": ["mine.0"], "tasks": ["imdb"]},
        "pca": {"components": [1, 2, 32]},
    }
    assert checked(mine, DEMO, REGISTRY)["encoders"]["mine"]["seeds"] == [0]


def test_all_faults_are_reported_at_once():
    with pytest.raises(UserError) as caught:
        checked({"training": {"epoks": 3, "epochs": 0}, "seed": -1})
    lines = str(caught.value).splitlines()
    assert len(lines) == 3 and all(line.startswith("config: ") for line in lines)
    with pytest.raises(UserError) as caught:
        checked({"matton2019": {"encoders": ["bse.0"]}, "zhou2022": {"tasks": ["psO"[:2]]}, "pca": {"general": "a/b"}})
    assert len(str(caught.value).splitlines()) == 3


def test_a_mirror_that_is_not_there_and_an_incomplete_entry_are_found_at_the_check(tmp_path):
    with pytest.raises(UserError, match=r"mirror is '.*nowhere': no such folder"):
        checked({"mirror": str(tmp_path / "nowhere")})
    lacking = {name: entry for name, entry in TOY_REGISTRY["imdb"].items() if name != "adapter"}
    real = {"datasets": {"imdb": {"source": "real", "rows": {"train": 5, "test": 5}}}}
    with pytest.raises(UserError, match=r"config/datasets.yaml: registry.imdb.adapter is missing"):
        checked(real, registry=TOY_REGISTRY | {"imdb": lacking})


def test_null_drops_entries_and_0_drops_splits():
    rows = {"pretrain": 0, "sentences": 0, "train": None}
    bert = {"source": "hub", "id": "a/b", "revision": COMMIT, "layers": 2}
    config = checked({
        "datasets": {"wikipedia": {"source": "real", "rows": rows}},
        "encoders": {"base": None, "untrained": {"like": "bert", "seeds": [0]}, "bert": bert},
        "tasks": {"tag": None, "dep": None},
        "pca": {"general": "wikipedia/train"},
        "matton2019": {"encoders": ["bert.0"]},
        "merchant2020": {"encoders": ["bert.0"], "general": "wikipedia/train"},
        "singh2020": {"encoders": ["bert.0"], "fractions": {"spare": None}, "last_task": None},
        "zhou2022": dict.fromkeys(("table2", "table3", "tracked_encoder"), "bert.0")
        | {"encoders": ["bert.0"], "cross_tasks": {"pos": None}, "tracked_tasks": ["pos"]},
        "beyond": {"encoders": ["bert.0"], "general": "wikipedia/train", "pretraining_gain": {"trained": ["bert.0"]}},
    })  # fmt: skip
    assert "tag" not in config["tasks"] and "base" not in config["encoders"]
    assert config["datasets"]["wikipedia"]["rows"] == {"train": None}
    assert config["zhou2022"]["cross_tasks"] == {} and list(config["singh2020"]["fractions"]) == ["sst2"]
    assert config["encoders"]["bert"]["seeds"] == [0]


def test_texts_of_the_command_line_become_what_they_stand_for():
    config = checked({
        "mirror": "null",
        "training": {"epochs": "3", "learning_rate": "5e-4", "keep_best": "false", "head_learning_rate": "null"},
        "pca": {"components": ["1", "2"]},
        "neurons": {"rows": "100"},
        "datasets": {"imdb": {"rows": {"train": "50"}}},
        "tasks": {"dep": "null", "imdb": {"warmup": "0.5"}},
        "zhou2022": {"cross_tasks": {"pos": "null"}, "tracked_tasks": ["pos"]},
    })  # fmt: skip
    assert config["mirror"] is None and "dep" not in config["tasks"]
    assert config["training"]["learning_rate"] == 5e-4 and config["training"]["epochs"] == 3
    assert config["training"]["keep_best"] is False and config["training"]["head_learning_rate"] is None
    assert config["pca"]["components"] == [1, 2] and config["neurons"]["rows"] == 100
    assert config["datasets"]["imdb"]["rows"] == {"train": 50, "test": 20}
    assert config["tasks"]["imdb"]["warmup"] == 0.5


MISTAKES = [
    ({"training": {"lerning_rate": 1}}, "unknown key 'training.lerning_rate' (did you mean 'learning_rate'?)"),
    ({"tasks": {"imdb": {"epoch": 1}}}, "unknown key 'tasks.imdb.epoch' (did you mean 'epochs'?)"),
    ({"zhou2022": {"table2": "base.1"}},
     "zhou2022.table2 is 'base.1': no such encoder in zhou2022.encoders (did you mean 'base.0'?)"),
    ({"zhou2022": {"cross_tasks": {"pos": ["deb"]}}},
     "zhou2022.cross_tasks.pos[1] is 'deb': no such task (did you mean 'dep'?)"),
    ({"zhou2022": {"tracked_tasks": []}},
     "zhou2022.tracked_tasks is []; must be not empty"),
    ({"traning": {}}, "unknown key 'traning' (did you mean 'training'?)"),
    ({"figures": {"dpi": 1}}, "unknown key 'figures.dpi' (one of: published, format, palette, style)"),
    ({"encoders": {"base": {"with": 8}}}, "unknown key 'encoders.base.with' (did you mean 'width'?)"),
    ({"training": {"epochs": 0}}, "training.epochs is 0; must be at least 1"),
    ({"training": {"epochs": "0"}}, "training.epochs is 0; must be at least 1"),
    ({"seed": 2**32}, "seed is 4294967296; must be at most 4294967295"),
    ({"training": {"epochs": 2.0}}, "training.epochs is 2.0; must be a whole number"),
    ({"training": {"epochs": "many"}}, "training.epochs is 'many'; must be a whole number"),
    ({"training": {"learning_rate": 0}}, "training.learning_rate is 0; must be above 0"),
    ({"training": {"learning_rate": float("nan")}}, "training.learning_rate is NaN; must be a number"),
    ({"training": {"head_learning_rate": "a: b: c"}},
     "training.head_learning_rate is 'a: b: c'; must be a number or null"),
    ({"training": {"dropout": 1}}, "training.dropout is 1; must be below 1"),
    ({"training": {"keep_best": 1}}, "training.keep_best is 1; must be true or false"),
    ({"training": {"schedule": "slantd"}},
     "training.schedule is 'slantd'; must be one of slanted, linear, constant (did you mean 'slanted'?)"),
    ({"training": {"schedule": "cosine"}}, "training.schedule is 'cosine'; must be one of slanted, linear, constant"),
    ({"training": None}, "training is null; must be a mapping"),
    ({"run": "../x"}, "run is '../x'; must be up to 64 letters, digits, . _ and -, beginning with a letter or digit"),
    ({"run": None}, "run is null; must be a text"),
    ({"runs": ["a" * 60, "b" * 60, "c" * 60, "d" * 60]},
     f'runs is ["{"a" * 55}...; must be fewer, or runs with shorter names'),
    ({"training": {"for_encoder": {"base": {"head": "word"}}}}, 
     "training.for_encoder.base has 'word' under a key that cannot be set there"),
    ({"matton2019": {"seeds": [0, 0]}}, "matton2019.seeds is [0, 0]; must be without repeats"),
    ({"matton2019": {"tasks": []}}, "matton2019.tasks is []; must be not empty"),
    ({"papers": ["matton2019"], "matton2019": {"tasks": ["imdb", "ag_news", "parse"]}},
     "matton2019.tasks[2] is 'parse'; must be a task whose head is 'sequence' or 'pooled'"),
    ({"training": {"for_encoder": {"base": {"epoch": 1}}}},
     "unknown key 'training.for_encoder.base.epoch' (did you mean 'epochs'?)"),
    ({"tasks": {"imdb": {"for_encoder": {"bas": {"epochs": 1}}}}},
     "tasks.imdb.for_encoder.bas is 'bas': no such encoder (did you mean 'base'?)"),
    ({"zhou2022": {"training": {"for_encoder": {"bas": {"epochs": 1}}}}},
     "zhou2022.training.for_encoder.bas is 'bas': no such encoder (did you mean 'base'?)"),
    ({"tasks": {"pos": {"for_encoder": {"base": {"keep_best": True}}}}},
     "tasks.pos.for_encoder.base.holdout is 0.0; must be above 0 where keep_best is true"),
    ({"tasks": {"imdb": {"also_evaluate": "dev"}}},
     "tasks.imdb.also_evaluate is 'dev': no such split of 'imdb' (one of: train, test)"),
    ({"pca": {"components": [1, "x"]}}, "pca.components[1] is 'x'; must be a whole number"),
    ({"pca": {"components": [5, 5]}}, "pca.components is [5, 5]; must be without repeats"),
    ({"pca": {"components": [1, 65]}},
     "pca.components is [1, 65]; must be at most 64, the width of encoder 'base'"),
    ({"pca": {"sample_sizes": [999999]}},
     "pca.sample_sizes is [999999]; must be some of them at most 100, the rows of wikipedia/sentences"),
    ({"pca": {"variance_components": 100}},
     "pca.variance_components is 100; must be at most 64, the width of encoder 'base'"),
    ({"matton2019": {"encoders": ["base.0", "bse.0"]}},
     "matton2019.encoders[1] is 'bse.0': no such encoder (did you mean 'base.0'?)"),
    ({"matton2019": {"encoders": ["base"]}},
     "matton2019.encoders[0] is 'base'; must be <encoder>.<seed>, such as base.0"),
    ({"pca": {"general": "wikipedia/sentence"}},
     "pca.general is 'wikipedia/sentence': no such dataset/split (did you mean 'wikipedia/sentences'?)"),
    ({"matton2019": {"tasks": ["imbd", "ag_news"]}},
     "matton2019.tasks[0] is 'imbd': no such task (did you mean 'imdb'?)"),
    ({"merchant2020": {"edge_tasks": ["pdu"]}}, "merchant2020.edge_tasks[0] is 'pdu': no such dataset (did you mean "
     "'pud'?)"),
    ({"merchant2020": {"edge_tasks": ["imdb"]}}, "merchant2020.edge_tasks[0] is 'imdb': datasets.imdb.rows has no "
     "split 'dev', which a probe needs"),
    ({"merchant2020": {"randomised": ["base.0"]}}, "merchant2020.randomised[0] is 'base.0': no such random encoder "
     "(one of: untrained.0)"),
    ({"merchant2020": {"in_domain": ["imdb"]}}, "merchant2020.in_domain[0] is 'imdb': no such task in "
     "merchant2020.tasks (one of: parse, qnli)"),
    ({"description_length": {"portions": [10, 50]}},
     "description_length.portions is [10, 50]; must be rising, up to 100"),
    ({"description_length": {"coded": "dev"}},
     "description_length.coded is 'dev'; must be a split that early stopping does not look at"),
    ({"structural": {"max_length": 4}}, "structural.max_length is 4; must be at least 5"),
    ({"singh2020": {"small": {"sst": 0.5}}}, "singh2020.small[1] is 'sst': no such task in singh2020.fractions (did "
     "you mean 'sst2'?)"),
    ({"singh2020": {"fractions": {"sst2": [2]}}}, "singh2020.fractions.sst2[0] is 2; must be at most 1"),
    ({"singh2020": {"fractions": {"parse": [1]}}}, "singh2020.fractions[2] is 'parse'; must be a task whose head is "
     "'sequence' or 'pooled'"),
    ({"singh2020": {"initialiser": "nearzer"}}, "singh2020.initialiser is 'nearzer'; must be one of reinit, nearzero "
     "(did you mean 'nearzero'?)"),
    ({"beyond": {"pretraining_gain": {"trained": ["bas.0"]}}},
     "beyond.pretraining_gain.trained[0] is 'bas.0': no such trained encoder (did you mean 'base.0'?)"),
    ({"beyond": {"pretraining_gain": {"untrained": ["base.0"]}}}, "beyond.pretraining_gain.untrained[0] is 'base.0': "
     "no such random encoder (one of: untrained.0)"),
    ({"encoders": {"untrained": {"seeds": [0, 7]}}},
     "encoders.untrained.seeds[1] is 7: no such seed of encoder 'base' (one of: 0, 1)"),
    ({"gpu": 2}, "gpu is 2; must be one of auto, 0, 1"),
    ({"datasets": {"sst": {"source": "real", "rows": {"train": 1}}}},
     "datasets.sst is 'sst': no such real dataset (did you mean 'sst2'?)"),
    ({"datasets": {"sqad": {"source": "embedded", "rows": {"train": 1}}}},
     "datasets.sqad is 'sqad': no such embedded dataset (did you mean 'squad'?)"),
    ({"datasets": {"imdb": {"source": "real", "rows": {"tset": 1}}}},
     "datasets.imdb.rows.tset is 'tset': no such split in config/datasets.yaml (did you mean 'test'?)"),
    ({"datasets": {"imdb": {"rows": {"train": None}}}}, "datasets.imdb.rows.train is null; must be a whole number"),
    ({"datasets": {"imdb": {"source": "rael"}}},
     "datasets.imdb.source is 'rael'; must be one of embedded, real, file (did you mean 'real'?)"),
    ({"datasets": {"IMDB": {"source": "real", "rows": {"train": 1}}}},
     "'IMDB' is no name for datasets; must be lower-case letters, digits and _, beginning with a letter"),
    ({"datasets": {1: {}}},
     "'1' is no name for datasets; must be lower-case letters, digits and _, beginning with a letter"),
    ({"datasets": {"wikipedia": {"rows": {"pretrain": 0}}}},
     "pretraining.split is 'pretrain': no such split of 'wikipedia' (one of: sentences)"),
    ({"tasks": {"imdb": {"dataset": "imbd"}}}, "tasks.imdb.dataset is 'imbd': no such dataset (did you mean 'imdb'?)"),
    ({"tasks": {"imdb": {"evaluate": "tests"}}},
     "tasks.imdb.evaluate is 'tests': no such split of 'imdb' (did you mean 'test'?)"),
    ({"tasks": {"sst2": {"keep_best": True}}}, "tasks.sst2.holdout is 0.0; must be above 0 where keep_best is true"),
    ({"tasks": {"new": {}}}, "tasks.new.dataset is missing"),
    ({"encoders": {"untrained": {"like": "bse"}}},
     "encoders.untrained.like is 'bse': no such trained encoder (did you mean 'base'?)"),
    ({"encoders": {"untrained": {"like": "untrained"}}},
     "encoders.untrained.like is 'untrained': no such trained encoder (one of: base)"),
    ({"encoders": {"base": {"heads": 3}}}, "encoders.base.heads is 3; must be a divisor of the width, 64"),
    ({"encoders": {"new": {"source": "pretrain", "layers": 1, "width": 8, "heads": 1}}},
     "encoders.new.seeds is missing"),
    ({"encoders": {"new": {"source": "hub", "id": "a/b", "revision": "main"}}},
     "encoders.new.revision is 'main'; must be a full commit hash, 40 hexadecimal digits"),
    ({"encoders": {"base": {"source": "folder", "path": "x"}}},
     "; ".join(f"unknown key 'encoders.base.{key}' (one of: source, path, seeds, published_as, note)"
               for key in ("layers", "width", "heads"))),
]  # fmt: skip


@pytest.mark.parametrize("changes, message", MISTAKES, ids=[message[:60] for _, message in MISTAKES])
def test_a_mistake_is_one_helpful_line(changes, message):
    with pytest.raises(UserError) as caught:
        checked(changes)
    assert str(caught.value) == f"config: {message}"


def test_a_missing_section_is_named():
    with pytest.raises(UserError, match=r"^config: tasks is missing$"):
        check_config({key: value for key, value in TOY.items() if key != "tasks"}, TOY_REGISTRY, PAPERS)


@pytest.mark.parametrize("preset", ["laptop", "paper"])
def test_what_suits_the_demo_s_small_encoders_does_not_leak_into_other_presets(preset):
    """Presets lie over the demo: what a task there sets and a preset leaves alone must be the paper's choice."""
    demo, over = (yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())["tasks"] for name in ("config", preset))
    kept = {key for task, entry in demo.items() for key in entry.keys() - (over.get(task) or {}).keys()}
    assert kept == {"dataset", "head", "holdout", "evaluate", "also_evaluate"}
