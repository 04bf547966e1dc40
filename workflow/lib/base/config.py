"""The config, checked before any job starts: the first thing wrong is said in one line, with the nearest valid name."""

import contextlib
import copy
import json
import math
import re
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator, validators

from workflow.lib.base.errors import UserError, nearest

WORKFLOW = Path(__file__).resolve().parents[2]
UNKNOWN = ("additionalProperties", "unevaluatedProperties")
KINDS = {"object": "a mapping", "array": "a list", "string": "a text", "integer": "a whole number",
         "number": "a number", "boolean": "true or false"}  # fmt: skip
MUST_BE = {
    "type": lambda kinds: " or ".join(KINDS.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)),
    "enum": lambda values: f"one of {', '.join(map(str, values))}",
    "minimum": "at least {}".format,
    "maximum": "at most {}".format,
    "exclusiveMinimum": "above {}".format,
    "exclusiveMaximum": "below {}".format,
    "uniqueItems": lambda _: "without repeats",
    "minItems": lambda n: "not empty" if n == 1 else f"a list of {n} or more",
    "maxItems": "a list of at most {}".format,
} | dict.fromkeys(("minProperties", "minLength"), lambda _: "not empty")


def check_config(config: dict, registry: dict) -> dict:
    """A checked copy with all defaults. `registry`: entries by name, what config/datasets.yaml has under that key."""
    config = json.loads(json.dumps(config, default=str))  # also makes texts of keys such as 1 and `no`
    # presets are merged over the demo, and drop its entries by null
    holders = [(config, "datasets"), (config, "encoders"), (config, "tasks"), (config.get("zhou2022"), "cross_tasks")]
    holders += [(config.get("singh2020"), key) for key in ("fractions", "small")]
    for holder, section in holders:
        if isinstance(holder, dict) and isinstance(holder.get(section), dict):
            holder[section] = {name: e for name, e in holder[section].items() if e is not None and e != "null"}
    schema = yaml.load((WORKFLOW / "schemas/config.schema.yaml").read_bytes(), yaml.CSafeLoader)
    # unknown keys first: a mistyped key is the likely reason why a required one is missing
    for error in sorted(Checker(schema).iter_errors(config), key=lambda error: error.validator not in UNKNOWN):
        raise UserError(" ".join(f"config: {_message(error, schema)}".split()))
    for entry in config["datasets"].values():
        entry["rows"] = {split: rows for split, rows in entry["rows"].items() if rows != 0}
    for key, name, valid, what in _names(config, registry):
        if name not in valid:
            raise UserError(f"config: {key} is {_show(name)}: no such {what}{nearest(name, list(valid))}")
    for key, value, holds, must in _relations(config):
        if not holds:
            raise UserError(f"config: {key} is {_show(value)}; must be {must}")
    return config


def training_of(config: dict, task: str) -> dict:
    """How a task is trained: the training section, overlaid with the task's own keys (dataset and splits included)."""
    return config["training"] | config["tasks"][task]


def _names(config: dict, registry: dict):
    """Names that must exist elsewhere: key, name, valid names, what they are. Later ones rely on earlier ones."""
    datasets, encoders, tasks = config["datasets"], config["encoders"], config["tasks"]
    # read, because importing the corpus would take longer than all that is done here
    source = (WORKFLOW / "lib/corpus/tasks/generate.py").read_text().partition("\nDATASETS = {")[2].partition("\n}")[0]
    known = {"real": registry, "embedded": re.findall(r'^    "(\w+)":', source, re.MULTILINE)}
    for name, entry in datasets.items():
        yield f"datasets.{name}", name, known[entry["source"]], f"{entry['source']} dataset"
        for split in entry["rows"] if entry["source"] == "real" else ():
            yield f"datasets.{name}.rows.{split}", split, registry[name]["splits"], "split in config/datasets.yaml"
    random = [name for name, entry in encoders.items() if entry["source"] == "random"]
    trained = [name for name in encoders if name not in random]
    for name in random:
        like = encoders[name]["like"]
        yield f"encoders.{name}.like", like, trained, "trained encoder"
        for at, seed in enumerate(encoders[name]["seeds"]):  # each is drawn beside the instance of the same seed
            yield f"encoders.{name}.seeds[{at}]", seed, encoders[like]["seeds"], f"seed of encoder '{like}'"
    readers = {f"tasks.{name}": (task, "train_split", "evaluate") for name, task in tasks.items()}
    if any(entry["source"] == "pretrain" for entry in encoders.values()):
        readers["pretraining"] = (config["pretraining"], "split")
    for key, (entry, *splits) in readers.items():
        yield f"{key}.dataset", entry["dataset"], datasets, "dataset"
        for split in splits:
            yield f"{key}.{split}", entry[split], datasets[entry["dataset"]]["rows"], f"split of '{entry['dataset']}'"
    places = [f"{name}/{split}" for name, entry in datasets.items() for split in entry["rows"]]
    yield "matton2019.general", config["matton2019"]["general"], places, "dataset/split"
    merchant = config["merchant2020"]
    yield "merchant2020.general", merchant["general"], places, "dataset/split"
    yield "merchant2020.structural_dataset", merchant["structural_dataset"], datasets, "dataset"
    for name in [merchant["structural_dataset"], *(name for name in merchant["edge_tasks"] if name in datasets)]:
        for split in ("train", "dev", "test"):
            yield f"datasets.{name}.rows", split, datasets[name]["rows"], "split, which a probe needs"
    lists = [("matton2019", "encoders", encoders, "encoder"), ("matton2019", "tasks", tasks, "task")]
    zhou = config["zhou2022"]
    lists += [("zhou2022", "encoders", encoders, "encoder"), ("zhou2022", "tasks", tasks, "task")]
    lists += [("zhou2022", "path_tasks", tasks, "task")]
    lists += [("merchant2020", "encoders", trained, "trained encoder"), ("merchant2020", "tasks", tasks, "task")]
    lists += [("merchant2020", "randomised", random, "random encoder")]
    lists += [("merchant2020", "edge_tasks", datasets, "dataset")]
    lists += [("singh2020", "encoders", trained, "trained encoder")]
    lists += [("depth_of_change", "encoders", trained, "trained encoder"), ("depth_of_change", "tasks", tasks, "task")]
    yield "depth_of_change.general", config["depth_of_change"]["general"], places, "dataset/split"
    singh = config["singh2020"]
    for task in singh["fractions"]:
        yield f"singh2020.fractions.{task}", task, tasks, "task"
    asked = [("small", task) for task in singh["small"]] + [("compared", task) for task in singh["compared"]]
    for key, task in [*asked, ("last_task", singh["last_task"])]:
        yield f"singh2020.{key}", task, singh["fractions"], "task in singh2020.fractions"
    lists += [("pretraining_gain", "trained", trained, "trained encoder")]
    lists += [("pretraining_gain", "untrained", random, "random encoder"), ("pretraining_gain", "tasks", tasks, "task")]
    for section, key, valid, what in lists:
        if what not in ("task", "dataset"):
            valid = [f"{name}.{seed}" for name in valid for seed in encoders[name]["seeds"]]
        for at, name in enumerate(config[section][key]):
            yield f"{section}.{key}[{at}]", name, valid, what
    for at, name in enumerate(merchant["in_domain"]):
        yield f"merchant2020.in_domain[{at}]", name, merchant["tasks"], "task in merchant2020.tasks"
    for key in ("table2", "table3"):
        yield f"zhou2022.{key}", zhou[key], zhou["encoders"], "encoder in zhou2022.encoders"
    instances = [f"{name}.{seed}" for name, entry in encoders.items() for seed in entry["seeds"]]
    yield "zhou2022.path_encoder", zhou["path_encoder"], instances, "encoder"
    for probed, others in zhou["cross_tasks"].items():
        yield f"zhou2022.cross_tasks.{probed}", probed, tasks, "task"
        for at, name in enumerate(others):
            yield f"zhou2022.cross_tasks.{probed}[{at}]", name, tasks, "task"


def _width_of(encoder: dict) -> float:
    """Of vectors; infinite where nothing is known before the encoder is fetched."""
    shape = {}
    if "path" in encoder:
        with contextlib.suppress(OSError, ValueError):  # whoever needs the folder will say what is wrong with it
            shape = json.loads((Path(encoder["path"]).expanduser() / "config.json").read_text())
    return encoder.get("width") or shape.get("hidden_size") or shape.get("dim") or math.inf


def _relations(config: dict):
    """Values that must suit each other: key, value, whether it does, what it must be."""
    encoders, matton = config["encoders"], config["matton2019"]
    for key in ("components", "sample_sizes"):
        yield f"matton2019.{key}", matton[key], sorted(set(matton[key])) == matton[key], "sorted, without repeats"
    dataset, split = matton["general"].split("/")
    n_general = config["datasets"][dataset]["rows"].get(split) or math.inf
    sizes, must = matton["sample_sizes"], f"some of them at most {n_general}, the rows of {dataset}/{split}"
    yield "matton2019.sample_sizes", sizes, min(sizes) <= n_general, must
    for name in dict.fromkeys(instance.split(".")[0] for instance in matton["encoders"]):
        width = _width_of(encoders[encoders[name].get("like", name)])
        for key in ("components", "sample_components", "variance_components", "search_neurons"):
            fits = max([matton[key]] if isinstance(matton[key], int) else matton[key]) <= width
            yield f"matton2019.{key}", matton[key], fits, f"at most {width}, the width of encoder '{name}'"
    for name, entry in encoders.items():
        if "width" in entry:
            holds, must = entry["width"] % entry["heads"] == 0, f"a divisor of the width, {entry['width']}"
            yield f"encoders.{name}.heads", entry["heads"], holds, must
    sequences = [(f"matton2019.tasks[{at}]", name) for at, name in enumerate(matton["tasks"])]
    sequences += [(f"singh2020.fractions.{name}", name) for name in config["singh2020"]["fractions"]]
    for key, name in sequences:
        yield key, name, training_of(config, name)["head"] == "sequence", "a task whose head is 'sequence'"
    for at, name in enumerate(config["depth_of_change"]["tasks"]):
        holds = training_of(config, name)["head"] in ("sequence", "word", "word_pair")
        yield f"depth_of_change.tasks[{at}]", name, holds, "a task whose head is 'sequence', 'word' or 'word_pair'"
    merchant = config["merchant2020"]
    heads = [training_of(config, name)["head"] for name in merchant["tasks"]]
    yield "merchant2020.tasks", merchant["tasks"], heads.count("parser") == 1, "tasks of which one has head 'parser'"
    lengths = [merchant[f"structural_{end}_length"] for end in ("min", "max")]
    yield "merchant2020.structural_max_length", lengths[1], lengths[0] <= lengths[1], f"at least {lengths[0]}"
    portions = merchant["mdl_portions"]
    rises = sorted(portions) == portions and portions[-1] == 100
    yield "merchant2020.mdl_portions", portions, rises, "rising, up to 100"
    for name in config["tasks"]:
        task = training_of(config, name)
        holds, must = task["holdout"] > 0 or not task["keep_best"], "above 0 where keep_best is true"
        yield f"tasks.{name}.holdout", task["holdout"], holds, must


def _read(value):
    """Texts as the numbers and nulls they stand for: `--config` makes texts of all inner values, and YAML of 5e-4."""
    if isinstance(value, dict):
        return {key: _read(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_read(inner) for inner in value]
    try:
        number = re.fullmatch(r"-?[\d.]+[eE][-+]?\d+", value)
        read = float(value) if number else yaml.safe_load(value)
        return value if isinstance(read, dict | list) else read
    except (TypeError, ValueError, yaml.YAMLError):  # no text, or none that stands for anything else
        return value


def _fill(validator, properties, instance, schema):
    for key, inner in properties.items() if isinstance(instance, dict) else ():
        if isinstance(inner, dict) and "default" in inner:
            instance.setdefault(key, copy.deepcopy(inner["default"]))
        fits = validator.evolve(schema=inner).is_valid
        if key in instance and not fits(value := instance[key]):
            read = _read(value)
            if fits(read) or not isinstance(value, dict):  # the values inside a mapping get their own turn
                instance[key] = read
    yield from Draft202012Validator.VALIDATORS["properties"](validator, properties, instance, schema)


# stricter than JSON: 2.0 is no number of epochs, and no range catches .nan
TYPES = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, x: type(x) is int and abs(x) < 2**63)
TYPES = TYPES.redefine("number", lambda _, x: type(x) in (int, float) and abs(x) < 1e300)
Checker = validators.extend(Draft202012Validator, {"properties": _fill}, type_checker=TYPES)


def _show(value) -> str:
    text = f"'{value}'" if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _message(error, schema: dict) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)[1:]
    rule, limit, before = error.validator, error.validator_value, path and f"{path}."
    if rule == "required":
        return f"{before}{next(key for key in limit if key not in error.instance)} is missing"
    if rule in UNKNOWN:
        behind = schema["$defs"].get(error.schema.get("$ref", "").removeprefix("#/$defs/"), {})
        valid = dict.fromkeys([*error.schema.get("properties", ()), *behind.get("properties", ())])
        names = list(error.schema.get("patternProperties", ()))
        wrong = next(key for key in error.instance if key not in valid and not any(re.search(n, key) for n in names))
        if names:
            return f"'{wrong}' is no name for {path}; must be {schema['$defs']['name']['description']}"
        return f"unknown key '{before}{wrong}'{nearest(wrong, list(valid))}"
    hint = nearest(error.instance, limit) if rule == "enum" else ""
    must = MUST_BE[rule](limit) if rule in MUST_BE else error.schema["description"]
    return f"{path} is {_show(error.instance)}; must be {must}{hint if 'did you mean' in hint else ''}"
