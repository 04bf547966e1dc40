"""Tasks of the config: their rows, and the units that their heads read."""

from collections.abc import Iterable

from workflow.lib.base.names import folder_name, place_of

# by head; parser and answers do not label units
UNITS = {"sequence": "cls", "pooled": "cls", "word": "word", "word_pair": "word"}
TEXT_HEADS = tuple(head for head, unit in UNITS.items() if unit == "cls")


def places_of_task(config: dict, task: str) -> tuple[str, str]:
    """`<dataset>/<split>` of a task's training and of its evaluation rows."""
    settings = config["tasks"][task]
    return f"{settings['dataset']}/{settings['train_split']}", f"{settings['dataset']}/{settings['evaluate']}"


def is_generated(config: dict, dataset: str) -> bool:
    """Is it a stand-in from the embedded corpus? Published numbers are no target for it."""
    return config["datasets"][dataset]["source"] == "embedded"


def is_real(config: dict, dataset: str) -> bool:
    """Is it what papers had, neither a stand-in nor a user's own file? Only then do published numbers compare."""
    return config["datasets"][dataset]["source"] == "real"


def on_real_data(config: dict, tasks: Iterable[str]) -> list[str]:
    return [task for task in tasks if is_real(config, config["tasks"][task]["dataset"])]


def unit_of_task(config: dict, task: str) -> str:
    """The unit that a task's head reads: `cls` for texts, `word` for words and pairs, `target` for words of which only
    some have a label."""
    unit, dataset = UNITS[config["tasks"][task]["head"]], config["tasks"][task]["dataset"]
    return "target" if unit == "word" and config["registry"].get(dataset, {}).get("kind") == "spans" else unit


def labelled_rows(config: dict, task: str) -> dict:
    """Where a script finds the vectors of a task's labelled units: head, unit, and folders of train and test."""
    train, test = (folder_name(place) for place in places_of_task(config, task))
    return {"head": config["tasks"][task]["head"], "unit": unit_of_task(config, task), "train": train, "test": test}


def max_tokens_of(config: dict, folder: str) -> int:
    """Maximum length of a dataset's texts: the task's own, because classifiers on vectors are compared with models."""
    for name in config["tasks"]:
        if place_of(folder) in places_of_task(config, name) and config["tasks"][name]["head"] in TEXT_HEADS:
            return config["tasks"][name]["max_tokens"]
    return config["activations"]["max_tokens"]
