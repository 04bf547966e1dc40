"""Checks the config before any job starts. Each fault is one line, and all are reported at once."""

import copy
import json
import re
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator, validators

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.base.faults import Faults, show
from workflow.lib.base.paths import is_file, is_folder
from workflow.lib.base.texts import faults_in, printable
from workflow.lib.data.licences import check_licences
from workflow.lib.data.own_files import READERS, columns_of, files_of
from workflow.lib.encoders.shipped import record_of

WORKFLOW = Path(__file__).resolve().parents[2]
LONGEST_NUMBER = 64  # characters of a text that may stand for one
LONGEST_FILE = 200  # characters of a name: 255 less what jobs put before and behind it
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


def config_schema(papers: dict) -> dict:
    """The schema of all sections: the general ones, one per method, and one for each of these papers."""
    schema = yaml.load((WORKFLOW / "schemas/config.schema.yaml").read_bytes(), yaml.CSafeLoader)
    sections = {
        path.parent.name: yaml.load(path.read_bytes(), yaml.CSafeLoader)
        for path in sorted((WORKFLOW / "lib/methods").glob("*/schema.yaml"))
    } | {key: paper.schema for key, paper in papers.items()}
    for name, section in sections.items():
        if "required" in section:
            schema["required"].append(name)
        schema["properties"][name] = section if "required" in section else section | {"default": {}}
    return anchored(schema)


def anchored(schema: object) -> object:
    """The schema with patterns that end where the text ends: `$` also matches before a line end that closes it, and a
    name with a line end would become part of paths and of patterns of rules."""
    if isinstance(schema, list):
        return [anchored(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: anchored(part) for key, part in schema.items()}
    if isinstance(made.get("pattern"), str):
        made["pattern"] = _to_the_end(made["pattern"])
    if "patternProperties" in made:
        made["patternProperties"] = {_to_the_end(name): part for name, part in made["patternProperties"].items()}
    return made


def _to_the_end(pattern: str) -> str:
    return rf"{pattern[:-1]}\Z" if pattern.endswith("$") and not pattern.endswith(r"\$") else pattern


def check_config(config: dict, registry: dict, papers: dict) -> tuple[dict, dict]:
    """A checked copy with all defaults, and the papers of this run. `registry`: datasets of config/datasets.yaml."""
    config = _plain(config)
    _report(list(faults_in(config)))
    chosen = _chosen(config, papers)
    for key in papers.keys() - chosen.keys():
        config.pop(key, None)
    schema = config_schema(chosen)
    _drop_nulls(config, schema, schema)
    # unknown keys first: a mistyped key is the likely reason why a required one is missing
    errors = sorted(Checker(schema).iter_errors(config), key=lambda error: error.validator not in UNKNOWN)
    _report(list(dict.fromkeys(_message(error, schema) for error in errors)))
    for entry in config["datasets"].values():
        if entry["source"] == "file":
            splits = entry["path"] if isinstance(entry["path"], dict) else ("train", "test")
            entry["rows"] = dict.fromkeys(splits) | entry["rows"]
        entry["rows"] = {split: rows for split, rows in entry["rows"].items() if rows != 0}
    faults = Faults(config)
    _check_data(config, registry, faults)
    _resolve_tasks(config, chosen, faults)
    _report(faults.found)  # the checks below rely on datasets and tasks that exist
    for paper in chosen.values():
        paper.plan.check(config, faults)
    _check_encoders(config, faults)
    _check_style(config["figures"]["style"], faults)
    together = "+".join(config["runs"])  # the name of their page
    faults.unless(len(together) <= LONGEST_FILE, "runs", config["runs"], "fewer, or runs with shorter names")
    _report(faults.found)
    return config, chosen


def _check_style(style: dict, faults: Faults) -> None:
    if not style:
        return
    import matplotlib  # half a second, for those who change the look

    from workflow.lib.plotting.look import settings_of_look

    valid = settings_of_look()
    for key, value in style.items():
        if faults.name(f"figures.style.{key}", key, valid, "setting of Matplotlib's look"):
            try:
                matplotlib.RcParams({key: value})
            except (TypeError, ValueError) as error:
                faults.add(f"figures.style.{key} is {show(value)}: {str(error).removeprefix(f'Key {key}: ')}")


def _report(faults: list[str]) -> None:
    if faults:
        raise UserError("\n".join(f"config: {printable(fault)}" for fault in faults))


def _plain(value: object) -> object:
    """A copy of JSON's types alone. Keys such as 1, `no` and dates become texts, as other values do."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else json.dumps(key, default=str).strip('"'): _plain(inner)
                for key, inner in value.items()}  # fmt: skip
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _chosen(config: dict, papers: dict) -> dict:
    asked = config.get("papers", list(papers))
    asked = _parsed(asked) if isinstance(asked, str) else asked
    if not isinstance(asked, list) or not asked or not all(isinstance(name, str) for name in asked):
        _report([f"papers is {show(asked)}; must be a list of {', '.join(papers)}"])
    _report([f"papers[{at}] is {show(name)}: no such paper{nearest(name, list(papers))}"
             for at, name in enumerate(asked) if name not in papers])  # fmt: skip
    config["papers"] = asked
    return {key: papers[key] for key in papers if key in asked}


def _drop_nulls(value: object, schema: dict, root: dict) -> None:
    """Remove entries that a preset has set to null, where the schema allows that (`nullDrops`)."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")] | schema
    if not isinstance(value, dict):
        return
    if schema.get("nullDrops"):
        for name in [name for name, entry in value.items() if entry is None or entry == "null"]:
            del value[name]
    for name, inner in schema.get("properties", {}).items():
        if name in value and isinstance(inner, dict):
            _drop_nulls(value[name], inner, root)


def _check_data(config: dict, registry: dict, faults: Faults) -> None:
    from workflow.lib.corpus.tasks import DATASETS

    known = {"real": registry, "embedded": DATASETS}
    for name, entry in config["datasets"].items():
        if entry["source"] == "file":
            _check_file(name, entry, faults)
            continue
        if not faults.name(f"datasets.{name}", name, known[entry["source"]], f"{entry['source']} dataset"):
            continue
        if entry["source"] == "real":
            lacking = [key for key in ("kind", "labels", "splits", "sources", "adapter", "options") if key not in
                       registry[name]]  # fmt: skip
            for key in lacking:
                faults.add(f"config/datasets.yaml: registry.{name}.{key} is missing")
            for split in entry["rows"] if "splits" not in lacking else ():
                valid = registry[name]["splits"]
                faults.name(f"datasets.{name}.rows.{split}", split, valid, "split in config/datasets.yaml")
    for key in ("mirror", "licensed"):
        if config[key] and not is_folder(config[key]):
            faults.add(f"{key} is '{config[key]}': no such folder")
    config["without_licence"] = check_licences(config, registry, faults)
    readers = {
        f"tasks.{name}": (task, "train_split", "evaluate", *(["also_evaluate"] if "also_evaluate" in task else []))
        for name, task in config["tasks"].items()
    }
    if any(entry["source"] == "pretrain" for entry in config["encoders"].values()):
        readers["pretraining"] = (config["pretraining"], "split", "held_out")
    for key, (entry, *splits) in readers.items():
        if faults.name(f"{key}.dataset", entry["dataset"], config["datasets"], "dataset"):
            if entry["dataset"] in config["without_licence"]:
                faults.add(f"{key}.dataset is '{entry['dataset']}': under licence, and in no folder (`licensed`)")
            for split in splits:
                valid = config["datasets"][entry["dataset"]]["rows"]
                faults.name(f"{key}.{split}", entry[split], valid, f"split of '{entry['dataset']}'")


def _check_file(name: str, entry: dict, faults: Faults) -> None:
    splits = entry["path"] if isinstance(entry["path"], dict) else ("train", "test")
    faults.names(f"datasets.{name}.rows", list(entry["rows"]), splits, "split")
    for path in files_of(entry):
        kinds = ", ".join(READERS)
        faults.unless(Path(path).suffix in READERS, f"datasets.{name}.path", path, f"one of {kinds}")
        faults.unless(is_file(path), f"datasets.{name}.path", path, "a file that exists")
        if Path(path).suffix not in READERS or not is_file(path):
            continue
        try:
            there = columns_of(Path(path))
        except UserError as error:
            faults.add(f"datasets.{name}.path: {error}")
            continue
        for key in ("text", "text_pair", "label"):
            for column in entry[key] if isinstance(entry.get(key), list) else [entry[key]] if key in entry else []:
                faults.name(f"datasets.{name}.{key}", column, there, f"column in {path}")


def _resolve_tasks(config: dict, papers: dict, faults: Faults) -> None:
    """Fill in each task's settings: `training`, overridden by its paper's `training`, overridden by the task's own."""
    written = {"training": config["training"]} | {f"tasks.{name}": task for name, task in config["tasks"].items()}
    written |= {f"{key}.training": config[key]["training"] for key in papers if "training" in config[key]}
    for place, settings in written.items():
        for name in settings.get("for_encoder", {}):
            faults.name(f"{place}.for_encoder.{name}", name, config["encoders"], "encoder")
    ways: dict[str, dict[str, dict]] = {}
    for key, paper in papers.items():
        section = config[key]
        for task in paper.plan.trained_tasks(section) if "training" in section else ():
            ways.setdefault(task, {})[key] = section["training"]
    for name, task in config["tasks"].items():
        settings = [composed(config["training"], way, task) for way in ways.get(name, {}).values()] or [
            composed(config["training"], task)
        ]
        if any(other != settings[0] for other in settings):
            both = " and ".join(ways[name])
            faults.add(f"tasks.{name}: {both} train it differently (their `training`); give one of them its own task")
        config["tasks"][name] = settings[0]
        must = "above 0 where keep_best is true"
        for encoder, own in ({"": {}} | settings[0]["for_encoder"]).items():
            of_encoder, key = settings[0] | own, f"for_encoder.{encoder}.holdout" if encoder else "holdout"
            is_possible = of_encoder["holdout"] > 0 or not of_encoder["keep_best"]
            faults.unless(is_possible, f"tasks.{name}.{key}", of_encoder["holdout"], must)


def composed(*layers: dict) -> dict:
    """Settings from the general to the special. `for_encoder` of the result has what differs for single encoders."""

    def settings_for(encoder: str | None) -> dict:
        found: dict = {}
        for layer in layers:
            found |= {key: value for key, value in layer.items() if key != "for_encoder"}
            found |= layer.get("for_encoder", {}).get(encoder, {})
        return found

    general = settings_for(None)
    named = dict.fromkeys(name for layer in layers for name in layer.get("for_encoder", {}))
    differing = {
        name: {key: value for key, value in settings_for(name).items() if value != general[key]} for name in named
    }
    return general | {"for_encoder": differing}


def _check_encoders(config: dict, faults: Faults) -> None:
    encoders = config["encoders"]
    for name, entry in encoders.items():
        if "heads" in entry:
            must = f"a divisor of the width, {entry['width']}"
            faults.unless(entry["width"] % entry["heads"] == 0, f"encoders.{name}.heads", entry["heads"], must)
        used = [instance for instance in faults.used if instance.split(".")[0] == name]
        if entry["source"] == "shipped":
            for instance in used:
                _check_shipped(config, instance, entry, faults)
        if entry["source"] == "random" and used:
            trained = [other for other, of in encoders.items() if of["source"] != "random"]
            if faults.name(f"encoders.{name}.like", entry["like"], trained, "trained encoder"):
                seeds, what = encoders[entry["like"]]["seeds"], f"seed of encoder '{entry['like']}'"
                faults.names(f"encoders.{name}.seeds", entry["seeds"], seeds, what)


def _check_shipped(config: dict, instance: str, entry: dict, faults: Faults) -> None:
    """Shipped encoders have one shape and speak one language."""
    name, record, remedy = instance.split(".")[0], record_of(instance), "`source: pretrain` trains one here"
    if record is None:
        faults.add(f"encoders.{name}: no shipped encoder is called {instance}; {remedy}")
        return
    for key, value in record["shape"].items():
        faults.unless(entry.get(key, value) == value, f"encoders.{name}.{key}", entry.get(key),
                      f"{value}, as shipped ({remedy})")  # fmt: skip
    faults.unless(config["language"] == record["language"], "language", config["language"],
                  f"{record['language']}, which encoder {instance} speaks ({remedy})")  # fmt: skip


def _read(value):
    """Parse strings that stand for numbers or null: `--config` makes all inner values strings, YAML makes 5e-4 one."""
    if isinstance(value, dict):
        return {key: _read(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_read(inner) for inner in value]
    if isinstance(value, str) and len(value) > LONGEST_NUMBER:
        return value
    try:
        number = re.fullmatch(r"-?[\d.]+[eE][-+]?\d+", value)
        read = float(value) if number else _parsed(value)
        return value if isinstance(read, dict | list) else read
    except (TypeError, ValueError):  # not a string, or just a string
        return value


class _WithoutReferences(yaml.SafeLoader):
    """YAML's `*name` may stand for a list inside itself, which has no end."""

    def fetch_alias(self):
        raise yaml.YAMLError("a reference")


def _parsed(text: str) -> object:
    """As YAML; the text itself if it is none, or is nested deeper than the parser goes."""
    try:
        return yaml.load(text, _WithoutReferences)
    except (yaml.YAMLError, RecursionError):
        return text


def _fill(validator, properties, instance, schema):
    for key, inner in properties.items() if isinstance(instance, dict) else ():
        if isinstance(inner, dict) and "default" in inner:
            instance.setdefault(key, copy.deepcopy(inner["default"]))
        fits = validator.evolve(schema=inner).is_valid
        if key in instance and not fits(value := instance[key]):
            read = _read(value)
            if fits(read) or not isinstance(value, dict):  # values inside a mapping are handled on their own
                instance[key] = read
    yield from Draft202012Validator.VALIDATORS["properties"](validator, properties, instance, schema)


# stricter than JSON Schema: 2.0 is not an integer, and NaN, which passes any range check, is not a number
TYPES = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, x: type(x) is int and abs(x) < 2**63)
TYPES = TYPES.redefine("number", lambda _, x: type(x) in (int, float) and abs(x) < 1e300)
Checker = validators.extend(Draft202012Validator, {"properties": _fill}, type_checker=TYPES)


def _message(error, schema: dict) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)[1:]
    rule, limit, before = error.validator, error.validator_value, path and f"{path}."
    if rule == "required":
        return ", ".join(f"{before}{key}" for key in limit if key not in error.instance) + " is missing"
    if rule in UNKNOWN:
        behind = schema["$defs"].get(error.schema.get("$ref", "").removeprefix("#/$defs/"), {})
        valid = dict.fromkeys([*error.schema.get("properties", ()), *behind.get("properties", ())])
        names = list(error.schema.get("patternProperties", ()))
        wrong = [key for key in error.instance if key not in valid and not any(re.search(n, key) for n in names)]
        if names:
            return f"'{wrong[0]}' is no name for {path}; must be {schema['$defs']['name']['description']}"
        return "; ".join(f"unknown key '{before}{key}'{nearest(key, list(valid))}" for key in wrong)
    if rule is None:  # `false` in the schema; jsonschema does not say which key
        return f"{path} has {show(error.instance)} under a key that cannot be set there"
    hint = nearest(error.instance, limit) if rule == "enum" else ""
    must = MUST_BE[rule](limit) if rule in MUST_BE else error.schema["description"]
    return f"{path} is {show(error.instance)}; must be {must}{hint if 'did you mean' in hint else ''}"
