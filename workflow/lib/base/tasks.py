"""Tasks as the config describes them: their rows, and what their heads read."""

from workflow.lib.base.names import folder_name, place_of

# what a head labels; parser and answers label no single unit
UNITS = {"sequence": "cls", "pooled": "cls", "word": "word", "word_pair": "word"}
TEXT_HEADS = tuple(head for head, unit in UNITS.items() if unit == "cls")


def places_of_task(config: dict, task: str) -> tuple[str, str]:
    """Its training and evaluation rows."""
    settings = config["tasks"][task]
    return f"{settings['dataset']}/{settings['train_split']}", f"{settings['dataset']}/{settings['evaluate']}"


def unit_of_task(config: dict, task: str) -> str:
    """What a task's head reads: whole texts or words."""
    return UNITS[config["tasks"][task]["head"]]


def labelled_rows(config: dict, task: str) -> dict:
    """Where a script finds the vectors of a task's labelled units: head, unit, and folders of train and test."""
    train, test = (folder_name(place) for place in places_of_task(config, task))
    return {"head": config["tasks"][task]["head"], "unit": unit_of_task(config, task), "train": train, "test": test}


def max_tokens_of(config: dict, folder: str) -> int:
    """A task's texts are cut for analyses as they are for training: classifiers on vectors stand beside models."""
    for name in config["tasks"]:
        if place_of(folder) in places_of_task(config, name) and config["tasks"][name]["head"] in TEXT_HEADS:
            return config["tasks"][name]["max_tokens"]
    return config["activations"]["max_tokens"]
