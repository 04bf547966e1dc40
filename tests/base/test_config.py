"""The config contract: schema, config.yaml and README agree, and each mistake is one line that helps."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from workflow.lib.base.config import check_config, training_of
from workflow.lib.base.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
DEMO = yaml.safe_load((ROOT / "config/config.yaml").read_text())
REGISTRY = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
SECTIONS = [key for key, entry in SCHEMA["properties"].items() if isinstance(DEMO[key], dict)]
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
  imdb: {dataset: imdb, holdout: 0.1, keep_best: true}
  sst2: {dataset: sst2}
  ag_news: {dataset: imdb}
  qnli: {dataset: imdb}
  pos: {dataset: pud, head: word}
  dep: {dataset: pud, head: word_pair}
  tag: {dataset: pud, head: word}
  parse: {dataset: pud, head: parser}
  spare: {dataset: sst2}
matton2019:
  {encoders: [base.0], tasks: [imdb, ag_news, qnli], general: wikipedia/sentences, components: [1, 64],
   sample_sizes: [50, 100], search_rows: null}
merchant2020:
  {encoders: [base.0], randomised: [untrained.0], tasks: [parse, qnli], general: wikipedia/sentences, in_domain: [qnli],
   structural_dataset: pud, structural_rank: 8, edge_tasks: [pud], edge_projection: 8, edge_hidden: 8,
   edge_learning_rate: 0.1, edge_learning_rate_patience: 1, edge_validate_every: 1, edge_max_validations: 1,
   edge_patience: 1, mdl_portions: [50, 100], mdl_validate_every: 1, mdl_max_validations: 1, mdl_patience: 1}
singh2020:
  {encoders: [base.0], fractions: {sst2: [1, 0.5], imdb: [1]}, small: {sst2: 0.5}, last_task: imdb, compared: [sst2],
   probe_learning_rate: 0.1, probe_epochs: 1}
zhou2022:
  {encoders: [base.0], tasks: [imdb], table2: base.0, table3: base.0, path_encoder: base.0, cross_tasks: {pos: [dep]},
   path_tasks: [imdb, tag, pos, dep], probe_sizes: [8], probe_alphas: [0.1], probe_max_epochs: 9}
depth_of_change: {encoders: [base.0], tasks: [pos], general: wikipedia/sentences}
pretraining_gain: {trained: [base.0], untrained: [untrained.0], tasks: [imdb]}
""")
TOY_REGISTRY = {name: {"splits": {"train": {}, "test": {}}} for name in ("wikipedia", "imdb", "sst2", "pud")}


def merged(base: dict, changes: dict) -> dict:
    """As Snakemake merges a config file over another: mappings key by key, all else replaced."""
    base = copy.deepcopy(base)
    for key, value in changes.items():
        known = base.get(key)
        base[key] = merged(known if isinstance(known, dict) else {}, value) if isinstance(value, dict) else value
    return base


def checked(changes: dict, base: dict = TOY, registry: dict = TOY_REGISTRY) -> dict:
    return check_config(merged(base, changes), registry)


def schema_tables() -> dict[str, dict[str, dict]]:
    """Section -> key -> its schema, for every table of the README."""
    defs = SCHEMA["$defs"]
    tables = {"top level": {key: entry for key, entry in SCHEMA["properties"].items() if key not in SECTIONS}}
    entries = {"datasets": ["dataset"], "tasks": ["task"], "encoders": ["encoder", *(
        f"{source}_encoder" for source in defs["encoder"]["properties"]["source"]["enum"])]}  # fmt: skip
    for section in SECTIONS:
        name = f"{section}.<name>" if section in entries else section
        tables[name] = {}
        for definition in entries.get(section, [section]):
            for key, entry in defs[definition]["properties"].items():
                tables[name][key] = tables[name].get(key, {}) | (entry if isinstance(entry, dict) else {})
    return tables


def readme_tables() -> dict[str, dict[str, str]]:
    """Section -> key -> what the README gives as its default."""
    tables = {}
    for part in re.split(r"^## ", (ROOT / "config/README.md").read_text(), flags=re.MULTILINE)[1:]:
        heading = part.partition("\n")[0].replace("&lt;", "<").replace("&gt;", ">")
        rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| [^|]+ \|$", part, re.MULTILINE)
        assert len(rows) == len(dict(rows)) == part.count("\n| `"), f"a broken or repeated row in {heading}"
        tables[heading] = dict(rows)
    return tables


def test_readme_lists_exactly_the_schema_s_keys():
    assert {name: set(keys) for name, keys in readme_tables().items()} == {
        name: set(keys) for name, keys in schema_tables().items()
    }


def test_readme_gives_the_schema_s_defaults():
    readme = readme_tables()
    for section, keys in schema_tables().items():
        for key, entry in keys.items():
            told = readme[section][key]
            if "default" in entry:
                assert yaml.safe_load(told.strip("`")) == entry["default"], (section, key)
            else:
                assert told in ("required", "optional"), (section, key)


def test_schema_s_defaults_are_the_demo_s_values():
    tables = schema_tables()
    assert {key: entry["default"] for key, entry in tables["training"].items()} == DEMO["training"]
    for section in (name for name in SECTIONS if name in tables):
        defaults = {key: entry["default"] for key, entry in tables[section].items() if "default" in entry}
        assert defaults == {key: DEMO[section][key] for key in defaults}, section


def test_every_closed_part_of_the_schema_is_closed():
    def objects(part, path="schema"):
        if isinstance(part, dict):
            if part.get("type") == "object" and "properties" in part:
                yield path, part
            for key, inner in part.items():
                yield from objects(inner, f"{path}.{key}")

    # an encoder is closed by the list of its source
    open_ones = [
        path for path, part in objects(SCHEMA) if not {"additionalProperties", "unevaluatedProperties"} & part.keys()
    ]
    assert open_ones == ["schema.$defs.encoder"]
    assert not any(
        SCHEMA["$defs"][f"{s}_encoder"]["additionalProperties"] for s in ("pretrain", "random", "hub", "folder")
    )


def test_demo_passes_unchanged_but_for_splits():
    before = copy.deepcopy(DEMO)
    after = checked({}, DEMO, REGISTRY)
    assert before == DEMO
    splits = {"train_split": "train", "evaluate": "test"}
    assert after == DEMO | {"tasks": {name: task | splits for name, task in DEMO["tasks"].items()}}
    assert check_config(after, REGISTRY) == after


@pytest.mark.parametrize(
    "preset", sorted(p.name for p in (ROOT / "config").glob("*.yaml") if p.name != "datasets.yaml")
)
def test_presets_pass(preset):
    config = checked(yaml.safe_load((ROOT / "config" / preset).read_text()), DEMO, REGISTRY)
    assert all(training_of(config, task)["epochs"] for task in config["tasks"])


def test_defaults_are_filled_in():
    config = checked({})
    assert config.keys() == DEMO.keys()
    assert config["training"] == DEMO["training"] | {"epochs": 2}
    assert config["figures"] == DEMO["figures"] and config["activations"] == DEMO["activations"]
    assert config["matton2019"].keys() == DEMO["matton2019"].keys()


def test_training_of_overlays_the_task_s_own_keys():
    config = checked({"training": {"epochs": 3, "warmup": 0.2}, "tasks": {"imdb": {"epochs": 9, "evaluate": "train"}}})
    own = {"dataset": "imdb", "train_split": "train", "evaluate": "train", "epochs": 9, "holdout": 0.1}
    own |= {"keep_best": True}
    assert training_of(config, "imdb") == DEMO["training"] | {"warmup": 0.2} | own
    assert training_of(config, "sst2")["epochs"] == 3


def test_null_drops_entries_and_0_drops_splits():
    rows = {"pretrain": 0, "sentences": 0, "train": None}
    bert = {"source": "hub", "id": "a/b", "revision": COMMIT}
    config = checked({
        "datasets": {"sst2": None, "wikipedia": {"source": "real", "rows": rows}},
        "encoders": {"base": None, "untrained": {"like": "bert", "seeds": [0]}, "bert": bert},
        "tasks": {"sst2": None, "spare": None},
        "matton2019": {"encoders": ["bert.0"], "general": "wikipedia/train"},
        "merchant2020": {"encoders": ["bert.0"], "general": "wikipedia/train"},
        "singh2020": {"encoders": ["bert.0"], "fractions": {"sst2": None, "qnli": [1, 0.5]},
                      "small": {"sst2": None, "qnli": 0.5}, "compared": ["qnli"]},
        "zhou2022": dict.fromkeys(("table2", "table3", "path_encoder"), "bert.0")
        | {"encoders": ["bert.0"], "cross_tasks": {"pos": None, "tag": ["dep"]}},
        "depth_of_change": {"encoders": ["bert.0"], "general": "wikipedia/train"},
        "pretraining_gain": {"trained": ["bert.0"]},
    })  # fmt: skip
    assert "sst2" not in config["datasets"] and "sst2" not in config["tasks"] and "base" not in config["encoders"]
    assert config["datasets"]["wikipedia"]["rows"] == {"train": None}
    assert config["zhou2022"]["cross_tasks"] == {"tag": ["dep"]}
    assert config["encoders"]["bert"]["seeds"] == [0]


def test_texts_of_the_command_line_become_what_they_stand_for():
    config = checked({
        "mirror": "null",
        "training": {"epochs": "3", "learning_rate": "5e-4", "keep_best": "false", "head_learning_rate": "null"},
        "matton2019": {"components": ["1", "2"], "search_rows": "100"},
        "datasets": {"imdb": {"rows": {"train": "50"}}},
        "tasks": {"spare": "null", "imdb": {"warmup": "0.5"}},
    })  # fmt: skip
    assert config["mirror"] is None and "spare" not in config["tasks"]
    assert config["training"]["learning_rate"] == 5e-4 and config["training"]["epochs"] == 3
    assert config["training"]["keep_best"] is False and config["training"]["head_learning_rate"] is None
    assert config["matton2019"]["components"] == [1, 2] and config["matton2019"]["search_rows"] == 100
    assert config["datasets"]["imdb"]["rows"] == {"train": 50, "test": 20}
    assert config["tasks"]["imdb"]["warmup"] == 0.5


MISTAKES = [
    ({"training": {"lerning_rate": 1}}, "unknown key 'training.lerning_rate' (did you mean 'learning_rate'?)"),
    ({"tasks": {"imdb": {"epoch": 1}}}, "unknown key 'tasks.imdb.epoch' (did you mean 'epochs'?)"),
    ({"zhou2022": {"table2": "base.1"}},
     "zhou2022.table2 is 'base.1': no such encoder in zhou2022.encoders (did you mean 'base.0'?)"),
    ({"zhou2022": {"cross_tasks": {"pos": ["deb"]}}},
     "zhou2022.cross_tasks.pos[0] is 'deb': no such task (did you mean 'dep'?)"),
    ({"zhou2022": {"path_tasks": ["pos", "dep"]}},
     "zhou2022.path_tasks is [\"pos\", \"dep\"]; must be a list of 4 or more"),
    ({"traning": {}}, "unknown key 'traning' (did you mean 'training'?)"),
    ({"figures": {"dpi": 1}}, "unknown key 'figures.dpi' (one of: published)"),
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
    ({"run": "../x"}, "run is '../x'; must be letters, digits, . _ and -, beginning with a letter or digit"),
    ({"run": None}, "run is null; must be a text"),
    ({"matton2019": {"seeds": [0, 0]}}, "matton2019.seeds is [0, 0]; must be without repeats"),
    ({"matton2019": {"tasks": []}}, "matton2019.tasks is []; must be a list of 3 or more"),
    ({"matton2019": {"tasks": ["imdb", "sst2", "pos"]}},
     "matton2019.tasks[2] is 'pos'; must be a task whose head is 'sequence'"),
    ({"pretraining_gain": {"tasks": []}}, "pretraining_gain.tasks is []; must be not empty"),
    ({"matton2019": {"components": [1, "x"]}}, "matton2019.components[1] is 'x'; must be a whole number"),
    ({"matton2019": {"components": [5, 3]}}, "matton2019.components is [5, 3]; must be sorted, without repeats"),
    ({"matton2019": {"components": [1, 65]}},
     "matton2019.components is [1, 65]; must be at most 64, the width of encoder 'base'"),
    ({"matton2019": {"sample_sizes": [999999]}},
     "matton2019.sample_sizes is [999999]; must be some of them at most 100, the rows of wikipedia/sentences"),
    ({"matton2019": {"variance_components": 100}},
     "matton2019.variance_components is 100; must be at most 64, the width of encoder 'base'"),
    ({"matton2019": {"encoders": ["base.0", "bse.0"]}},
     "matton2019.encoders[1] is 'bse.0': no such encoder (did you mean 'base.0'?)"),
    ({"matton2019": {"encoders": ["base"]}},
     "matton2019.encoders[0] is 'base'; must be <encoder>.<seed>, such as base.0"),
    ({"matton2019": {"general": "wikipedia/sentence"}},
     "matton2019.general is 'wikipedia/sentence': no such dataset/split (did you mean 'wikipedia/sentences'?)"),
    ({"matton2019": {"tasks": ["imbd", "sst2", "qnli"]}},
     "matton2019.tasks[0] is 'imbd': no such task (did you mean 'imdb'?)"),
    ({"merchant2020": {"edge_tasks": ["pdu"]}}, "merchant2020.edge_tasks[0] is 'pdu': no such dataset (did you mean "
     "'pud'?)"),
    ({"merchant2020": {"edge_tasks": ["imdb"]}}, "datasets.imdb.rows is 'dev': no such split, which a probe needs "
     "(one of: train, test)"),
    ({"merchant2020": {"randomised": ["base.0"]}}, "merchant2020.randomised[0] is 'base.0': no such random encoder "
     "(one of: untrained.0)"),
    ({"merchant2020": {"in_domain": ["imdb"]}}, "merchant2020.in_domain[0] is 'imdb': no such task in "
     "merchant2020.tasks (one of: parse, qnli)"),
    ({"merchant2020": {"tasks": ["imdb", "qnli"]}}, "merchant2020.tasks is [\"imdb\", \"qnli\"]; must be tasks of "
     "which one has head 'parser'"),
    ({"merchant2020": {"mdl_portions": [10, 50]}}, "merchant2020.mdl_portions is [10, 50]; must be rising, up to 100"),
    ({"merchant2020": {"structural_max_length": 4}}, "merchant2020.structural_max_length is 4; must be at least 5"),
    ({"singh2020": {"small": {"imbd": 0.5}}}, "singh2020.small is 'imbd': no such task in singh2020.fractions (did you "
     "mean 'imdb'?)"),
    ({"singh2020": {"fractions": {"sst2": [2]}}}, "singh2020.fractions.sst2[0] is 2; must be at most 1"),
    ({"singh2020": {"fractions": {"pos": [1]}}}, "singh2020.fractions.pos is 'pos'; must be a task whose head is "
     "'sequence'"),
    ({"singh2020": {"initialiser": "nearzer"}}, "singh2020.initialiser is 'nearzer'; must be one of reinit, nearzero "
     "(did you mean 'nearzero'?)"),
    ({"pretraining_gain": {"trained": ["bas.0"]}},
     "pretraining_gain.trained[0] is 'bas.0': no such trained encoder (did you mean 'base.0'?)"),
    ({"pretraining_gain": {"untrained": ["base.0"]}}, "pretraining_gain.untrained[0] is 'base.0': "
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
     "datasets.imdb.source is 'rael'; must be one of embedded, real (did you mean 'real'?)"),
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
     "unknown key 'encoders.base.layers' (one of: source, path, seeds, published_as, note)"),
]  # fmt: skip


@pytest.mark.parametrize("changes, message", MISTAKES, ids=[message[:60] for _, message in MISTAKES])
def test_a_mistake_is_one_helpful_line(changes, message):
    with pytest.raises(UserError) as caught:
        checked(changes)
    assert str(caught.value) == f"config: {message}"


def test_a_missing_section_is_named():
    with pytest.raises(UserError, match=r"^config: tasks is missing$"):
        check_config({key: value for key, value in TOY.items() if key != "tasks"}, TOY_REGISTRY)


def test_embedded_names_are_the_corpus_s():
    """They are read from its source, so that a change of its form must be noticed."""
    from workflow.lib.corpus.tasks import DATASETS

    rows = {"source": "embedded", "rows": {"train": 1}}
    assert checked({"datasets": {name: rows for name in DATASETS}})["datasets"].keys() == DATASETS.keys()


@pytest.mark.parametrize("preset", ["laptop", "paper"])
def test_what_suits_the_demo_s_small_encoders_does_not_leak_into_other_presets(preset):
    """Presets lie over the demo: what a task there sets and a preset leaves alone must be the paper's choice."""
    demo, over = (yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())["tasks"] for name in ("config", preset))
    kept = {key for task, entry in demo.items() for key in entry.keys() - (over.get(task) or {}).keys()}
    assert kept == {"dataset", "head", "holdout", "keep_best", "layer_decay", "weight_decay"}
