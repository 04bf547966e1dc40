"""What figures and tables of models that others tuned are made from."""

from workflow.lib.base.names import analysis_files, distances_file, folder_name, given, pretrained
from workflow.lib.base.needs import Needs, picked
from workflow.lib.base.tasks import TEXT_HEADS

SPLITS = ("train", "dev", "test")


def artifacts(config: dict) -> dict[str, Needs]:
    section, models = config["given"], [given(entry["encoder"], name) for name, entry in config["tuned"].items()]
    if not models:
        return {}
    both = [*dict.fromkeys(pretrained(entry["encoder"]) for entry in config["tuned"].values()), *models]
    similarity = analysis_files("rsa", "similarity", models, [folder_name(section["text"])])
    made = {
        "rsa": Needs({"tables": similarity}, {"shows": "rsa", "text": section["text"]}),
        "weights": Needs({"tables": [distances_file(model) for model in models]}, {"shows": "weights"}),
    }
    if section["treebank"]:
        scores = analysis_files("structural", "scores", both, [section["treebank"]])
        made["structural"] = Needs({"tables": scores}, {"shows": "structural"})
    if section["edge_tasks"]:
        made["edges"] = Needs({"scores": analysis_files("edges", "scores", both, section["edge_tasks"])})
    if section["tasks"]:
        of_texts = [task for task in section["tasks"] if config["tasks"][task]["head"] in TEXT_HEADS]
        made["labels"] = Needs(
            {
                "clusters": analysis_files("directprobe", "clusters", both, section["tasks"]),
                "greedy": analysis_files("neurons", "greedy", both, of_texts),
            },
            picked(section, "tasks"),
        )
    return made


def check(config: dict, faults) -> None:
    """What the schema cannot say."""
    section = config["given"]
    for name, entry in config["tuned"].items():
        faults.instance(f"tuned.{name}.encoder", entry["encoder"], source="trained")
        faults.folder(f"tuned.{name}.path", entry["path"], "config.json")
    if not config["tuned"]:
        faults.unless(
            config["papers"] != ["given"], "tuned", {}, "a model or more, of which `given` can draw something"
        )
        return
    faults.place("given.text", section["text"])
    faults.tasks("given.tasks", section["tasks"], heads=("sequence", "pooled", "word", "word_pair"))
    if section["treebank"]:
        faults.splits("given.treebank", section["treebank"], SPLITS)
    for at, task in enumerate(section["edge_tasks"]):
        faults.splits(f"given.edge_tasks[{at}]", task, SPLITS)
