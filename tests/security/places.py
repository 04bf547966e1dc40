"""Where a config takes a name or a text, and what a run would write if it were accepted."""

import copy
import re
from pathlib import Path

import yaml

from workflow.lib.base.config import check_config
from workflow.lib.base.errors import UserError
from workflow.lib.base.names import cache_folder, data_file, metrics_file, model_folder, sweep_file
from workflow.lib.base.plan import Plan
from workflow.lib.costs.estimates import Costs
from workflow.lib.costs.planned import places_of
from workflow.lib.data.requests import datasets_from
from workflow.lib.encoders.requests import encoders_from
from workflow.papers import all_papers

PAPERS = {key: paper for key, paper in all_papers().items() if key in ("matton2019", "singh2020", "given")}
ENTRY = {"kind": "text", "labels": [], "sources": [], "adapter": "text", "options": {}, "licence": "none"}
REGISTRY = {name: ENTRY | {"splits": {"train": {}, "test": {}}} for name in ("wikipedia", "imdb", "sst2")}
CONFIG = """
run: toy
runs: [one]
datasets:
  wikipedia: {source: embedded, rows: {pretrain: 100, sentences: 100}}
  imdb: {source: embedded, rows: {train: 20, test: 20}}
  mine: {source: file, path: FOLDER/mine.csv, text: text, label: label}
encoders:
  base: {source: pretrain, layers: 2, width: 64, heads: 4, seeds: [0]}
  hub: {source: hub, id: org/name, layers: 2, note: a note}
  own: {source: folder, path: FOLDER/encoder, note: a note}
pretraining: {dataset: wikipedia, split: pretrain}
tasks: {imdb: {dataset: imdb}, mine: {dataset: mine}}
tuned: {theirs: {encoder: own.0, path: FOLDER/encoder}}
pca: {general: wikipedia/sentences, components: [1], sample_sizes: [50]}
neurons: {rows: null}
structural: {rank: 8}
edges: {projection: 8, hidden: 8, learning_rate: 0.1, learning_rate_patience: 1, validate_every: 1, max_validations: 1,
  patience: 1}
description_length: {portions: [50, 100], validate_every: 1, max_validations: 1, patience: 1}
layer_probes: {learning_rate: 0.1, epochs: 1}
mlp: {sizes: [8], alphas: [0.1], max_epochs: 9}
matton2019: {encoders: [base.0, hub.0], tasks: [imdb, mine]}
singh2020: {encoders: [own.0], fractions: {imdb: [1]}, small: {imdb: 0.5}, last_task: imdb, compared: [imdb]}
given: {text: wikipedia/sentences}
"""
# a place: keys that lead to a value, or to a key (`KEY`: the value becomes the name of what stands there)
KEY = object()
NAMES = [
    ("run",), ("runs", 0), ("datasets", "mine", KEY), ("datasets", "imdb", "rows", "test", KEY),
    ("encoders", "hub", KEY), ("encoders", "base", "seeds", 0), ("encoders", "hub", "id"),
    ("encoders", "hub", "revision"), ("tasks", "mine", KEY), ("tasks", "mine", "dataset"),
    ("tasks", "mine", "train_split"), ("tasks", "imdb", "for_encoder", "own", KEY), ("tuned", "theirs", KEY),
    ("tuned", "theirs", "encoder"), ("pretraining", "dataset"), ("pretraining", "split"), ("pca", "general"),
    ("activations", "temporary", 0), ("figures", "palette", 0), ("figures", "format"), ("matton2019", "encoders", 0),
    ("matton2019", "tasks", 0), ("singh2020", "fractions", "imdb", KEY), ("given", "text"), ("given", "treebank"),
    ("description_length", "coded"),
]  # fmt: skip
TEXTS = [
    ("encoders", "hub", "note"), ("encoders", "own", "note"), ("encoders", "own", "path"), ("encoders", "hub", "path"),
    ("encoders", "own", "published_as"), ("datasets", "mine", "path"), ("datasets", "mine", "path", "train"),
    ("datasets", "mine", "text"), ("datasets", "mine", "text_pair"), ("datasets", "mine", "label"), ("mirror",),
    ("licensed",), ("tuned", "theirs", "path"), ("figures", "style", "font.family"),
    ("figures", "style", "lines.linewidth", KEY), ("papers",), ("papers", 0), ("singh2020", "last_task"),
    ("weights", "projections", 0), ("edges", "for_dataset", "imdb", KEY),
]  # fmt: skip
PRESENT = {"for_encoder": {}, "palette": ["#000000"] * 6, "train": "x.csv"}
SHOWN = re.compile(r"[A-Za-z0-9_.+/-]+")  # all that a path of ours is made of


def config_in(folder: Path) -> dict:
    """Of a folder with one small dataset and the shape of an encoder."""
    (folder / "encoder").mkdir(exist_ok=True)
    (folder / "encoder/config.json").write_text('{"num_hidden_layers": 2, "hidden_size": 64}')
    (folder / "mine.csv").write_text("text,label\n" + "one,a\ntwo,b\n" * 10)
    return yaml.safe_load(CONFIG.replace("FOLDER", str(folder)))


def put(config: dict, place: tuple, value: object) -> None:
    """In place; whatever is missing on the way there is made."""
    *way, last = place
    is_key = last is KEY
    *way, last = way if is_key else place
    part = config
    for at, step in enumerate(way):
        following = (*way, last)[at + 1]
        if isinstance(part, dict) and not isinstance(part.get(step), dict | list):
            part[step] = [] if isinstance(following, int) else {}
        part = part[step]
    if is_key:
        part[value] = part.pop(last, {})
    elif isinstance(part, list):
        part[last : last + 1] = [value]
    else:
        part[last] = value


def with_value(config: dict, value: object, *places: tuple) -> dict:
    config = copy.deepcopy(config)
    for place in places:
        put(config, place, value)
    return config


def named(place: tuple) -> str:
    """How a fault names the place."""
    *way, last = place
    way = way[:-1] if last is KEY else place
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)[1:]


def outcome(config: dict) -> str | None:
    """The faults of a config, each in one line of what can be read; None if it is accepted, and then writes nothing
    outside its folder."""
    try:
        checked, papers = check_config(config, REGISTRY, PAPERS)
        plan = Plan(checked | {"registry": REGISTRY, "gpu": 0}, papers)
    except UserError as error:
        lines = str(error).split("\n")
        assert all(line.startswith("config: ") and line.isprintable() for line in lines), lines
        return str(error)
    stays_inside(plan)
    return None


def stays_inside(plan: Plan) -> None:
    results = f"results/{plan.config['run']}"
    for written in written_by(plan):
        path = written.replace("<results>", results)
        assert SHOWN.fullmatch(path), path
        assert Path(path).resolve().is_relative_to(Path(results).resolve()), path
        assert all(len(part) < 200 for part in Path(path).parts), path
    assert Path(results).resolve().parent == Path("results").resolve()
    compared = Path(f"results/compare/{'+'.join(plan.config['runs'])}.html")
    assert compared.resolve().parent == Path("results/compare").resolve() and len(compared.name) < 255
    # patterns of rules match names, and nothing but these
    for pattern, known in (
        (encoders_from(plan.config, "hub", "folder"), plan.config["encoders"]),
        (datasets_from(plan.config, "file"), plan.config["datasets"]),
        ("|".join(plan.config["tuned"]) or "none", plan.config["tuned"]),
    ):
        assert set(pattern.split("|")) - {"none"} <= set(known) and re.fullmatch("[a-z0-9_|]+", pattern)


def written_by(plan: Plan) -> list[str]:
    """Files and folders of all that is planned, and what they cost."""
    written = [file for key in plan.papers for file in plan.paper_files(key)]
    written += [data_file(place) for place in places_of(plan)]
    costs = Costs(plan)
    for rule, items in plan.items.items():
        for item in items:
            asked = costs.memory(rule, lambda _, item=item: [item])(None, 1)
            assert type(asked) is int and asked > 0
        of_item = {
            "finetune_model": lambda item: [model_folder(item), metrics_file(item)],
            "sweep": lambda item: [sweep_file(item)],
            "cache_activations": lambda item: [cache_folder(item)],
            "cache_temporarily": lambda item: [cache_folder(item)],
        }.get(rule, lambda item, rule=rule: [f"<results>/analysis/{rule}/{item}/table.parquet"])  # fmt: skip
        written += [file for item in items for file in of_item(item)]
    return written
