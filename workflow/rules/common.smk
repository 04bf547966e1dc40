"""What rules ask of the config: names of models, their inputs, the list of artifacts. No rules here."""

import csv

import yaml
from snakemake.exceptions import WorkflowError
from workflow.lib.config import check_config, training_of
from workflow.lib.errors import UserError
from workflow.lib.machine import has_gpu
from workflow.lib.modules import digest_of

with open(os.path.join(workflow.basedir, "config/datasets.yaml")) as registry_file:
    REGISTRY = yaml.safe_load(registry_file)["registry"]

try:
    config = check_config(config, REGISTRY)
except UserError as error:
    # one line on the terminal, before any job
    raise WorkflowError(str(error)) from None

# GPU rules ask for this many: 1 on a cluster or a machine with a GPU; 0 on a CPU, where all cores should work at once.
GPU = int(has_gpu()) if config["gpu"] == "auto" else config["gpu"]


def data_file(place):
    """`imdb/train` -> its file."""
    return f"<results>/data/{place}.parquet"


def folder_name(place):
    """`imdb/train` -> the folder of its activations."""
    return "-".join(place.split("/"))


def is_source(source):
    """Names of the encoders that come from `source`."""
    return [name for name, entry in config["encoders"].items() if entry["source"] == source]


def pretrained(encoder):
    """The model that an encoder is before any fine-tuning."""
    return f"{encoder}/pretrained"


def tuned(encoder, task, recipe="full", fraction=1, seed=0):
    return f"{encoder}/{task}.{recipe}.f{fraction}.s{seed}"


def model_folder(model):
    """An encoder is a model too: the one that nothing was done to."""
    encoder, _, adapted = model.partition("/")
    return (
        f"<results>/encoders/{encoder}" if adapted == "pretrained" else f"<results>/models/{model}"
    )


def matton_runs():
    """Encoder and fine-tuning seed of every repetition: the spread of every curve is over these."""
    section = config["matton2019"]
    return [(encoder, seed) for encoder in section["encoders"] for seed in section["seeds"]]


def matton_settings(*keys):
    """The smallest piece of the section, so that a change reruns only what depends on it."""
    return {key: config["matton2019"][key] for key in keys}


def matton_models(state, task=None):
    """Models that matton2019's analyses look at: `pretrained` or `tuned` (on one task, or on all)."""
    if state == "pretrained":
        return [pretrained(encoder) for encoder in config["matton2019"]["encoders"]]
    tasks = [task] if task else config["matton2019"]["tasks"]
    return [tuned(encoder, of, seed=seed) for of in tasks for encoder, seed in matton_runs()]


def tasks_of(model):
    """Tasks whose data a model is looked at with: its own, or, before fine-tuning, all of the paper."""
    adapted = model.partition("/")[2]
    return config["matton2019"]["tasks"] if adapted == "pretrained" else [adapted.split(".")[0]]


def inputs_of(model, unit):
    """Datasets that one pass of a model covers for a unit, as `<dataset>/<split>`."""
    if unit != "cls":
        return []
    return [
        config["matton2019"]["general"],
        *(place for task in tasks_of(model) for place in task_places(task)),
    ]


def task_places(task):
    """Where a task's training and evaluation rows are, as `<dataset>/<split>`."""
    settings = training_of(config, task)
    return [f"{settings['dataset']}/{settings[split]}" for split in ("train_split", "evaluate")]


def task_data(task):
    """Folder names of a task's training and evaluation activations."""
    train, test = (folder_name(place) for place in task_places(task))
    return {"train": train, "test": test}


def metrics_of(models):
    return [f"<results>/models/{model}.metrics.parquet" for model in models]


with open(os.path.join(workflow.basedir, "config/artifacts.tsv")) as artifacts_file:
    ARTIFACTS = list(csv.DictReader(artifacts_file, delimiter="\t"))


def artifacts(paper=None):
    """Files of all artifacts, or of one paper's."""
    endings = {"figure": ("pdf", "png"), "table": ("csv", "md")}
    return [
        f"<results>/{row['kind']}s/{row['paper']}/{row['id']}.{ending}"
        for row in ARTIFACTS
        if paper in (None, row["paper"])
        for ending in endings[row["kind"]]
    ]


def published(paper):
    return os.path.join(workflow.basedir, f"config/published/{paper}.csv")


def analysis_of(models, method, table):
    return [f"<results>/analysis/{method}/{model}/{table}.parquet" for model in models]


def matton_task(number):
    """Figures 1, 2, 3 show the first, second and third task."""
    return config["matton2019"]["tasks"][int(number) - 1]


def matton_middle_task():
    """Figure 5 shows AG-news, or, where it is not among the tasks, the middle one."""
    tasks = config["matton2019"]["tasks"]
    return "ag_news" if "ag_news" in tasks else tasks[len(tasks) // 2]


def matton_inputs(artifact):
    """What an artifact of matton2019 is made from."""
    before, after = matton_models("pretrained"), matton_models("tuned")
    both = before + after
    places = [place for task in config["matton2019"]["tasks"] for place in task_places(task)]
    of_shown = matton_models("tuned", matton_middle_task())[:1]
    greedy = analysis_of(both, "neurons", "greedy")
    return {
        "table1": {"data": [data_file(place) for place in places]},
        "table2": {
            "greedy": greedy,
            "metrics": metrics_of(after),
            "published": published("matton2019"),
        },
        "table3": {"greedy": greedy},
        "table_components": {
            "accuracy": analysis_of(after, "pca", "accuracy"),
            "published": published("matton2019"),
        },
        "pca_sample_size": {"samples": analysis_of(before, "pca", "samples")},
        "fig4": {
            "variance": analysis_of(both, "pca", "variance"),
            "published": published("matton2019"),
        },
        "fig5": {
            "best": analysis_of(of_shown, "neurons", "best"),
            "greedy": analysis_of(of_shown, "neurons", "greedy"),
        },
        "fig6": {"alone": analysis_of(after, "neurons", "alone")},
    }[artifact]


def matton_parameters(artifact):
    """The piece of config an artifact itself depends on."""
    if artifact == "fig5":
        return {"task": matton_middle_task()}
    if artifact == "fig4":
        return {"published": config["figures"]["published"]}
    if artifact == "table1":
        return matton_settings("tasks")
    return matton_settings("sample_components") if artifact == "pca_sample_size" else {}


def gain_models():
    """Models of the control: every task on trained and on untrained encoders."""
    section = config["pretraining_gain"]
    return [
        tuned(encoder, task, seed=seed)
        for encoder in section["trained"] + section["untrained"]
        for task in section["tasks"]
        for seed in section["seeds"]
    ]


def notes_on_run():
    """What a reader must know before comparing numbers: stand-in data, and what is said of the encoders."""
    notes = [
        f"{name}: {entry['note']}"
        for name, entry in config["encoders"].items()
        if entry.get("note")
    ]
    embedded = [name for name, entry in config["datasets"].items() if entry["source"] == "embedded"]
    if embedded:
        notes.append(
            f"Stand-in data from the embedded corpus ({', '.join(embedded)}): published numbers are no target here."
        )
    return notes
