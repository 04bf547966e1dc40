"""What rules ask of the config: names of models, their inputs, the list of artifacts. No rules here."""

import csv

import yaml
from snakemake.exceptions import WorkflowError
from workflow.lib.base.config import check_config, training_of
from workflow.lib.base.errors import UserError
from workflow.lib.base.machine import has_gpu
from workflow.lib.base.digests import digest_of

with open(os.path.join(workflow.basedir, "config/datasets.yaml")) as registry_file:
    REGISTRY = yaml.safe_load(registry_file)["registry"]

try:
    config = check_config(config, REGISTRY)
except UserError as error:
    # one line on the terminal, before any job
    raise WorkflowError(str(error)) from None

# GPU rules ask for this many: 1 on a cluster or a machine with a GPU; 0 on a CPU, where all cores should work at once.
GPU = int(has_gpu()) if config["gpu"] == "auto" else config["gpu"]


def model_settings(wildcards):
    """A task's training settings; a model whose way is followed saves its steps, whatever the task says."""
    settings = training_of(config, wildcards.task)
    model = tuned(
        **{key: wildcards[key] for key in ("encoder", "task", "recipe", "fraction", "seed")}
    )
    followed = model in zhou_path_models()
    return settings | ({"save_every": config["zhou2022"]["path_every"]} if followed else {})


def data_file(place):
    """`imdb/train` -> its file."""
    return f"<results>/data/{place}.parquet"


def from_source(source):
    """Names of the datasets that come from `source`."""
    return [name for name, entry in config["datasets"].items() if entry["source"] == source]


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


FOLDER_FILES = (".json", ".safetensors", ".bin", ".txt")  # of an encoder: weights, shape, tokenizer


def growing(mb):
    """Memory in MB, twice as much with every retry: what a job needs depends on the dataset's rows."""
    return lambda wildcards, attempt: mb * 2 ** (attempt - 1)


def folder_files(encoder):
    """What a local encoder is made of: trained anew in the same folder, it is another encoder. None for a Hub id."""
    path = os.path.expanduser(config["encoders"][encoder].get("path", ""))
    found = sorted(os.listdir(path)) if path and os.path.isdir(path) else []
    return [os.path.join(path, name) for name in found if name.endswith(FOLDER_FILES)]


def encoder_of(model):
    """The encoder that a model is, or was fine-tuned from."""
    return model.partition("/")[0]


def adapted_of(model):
    """How a model was made from its encoder: `pretrained`, or `<task>.<recipe>.f<fraction>.s<seed>`."""
    return model.partition("/")[2]


def task_of(model):
    """The task that a model was fine-tuned on."""
    return adapted_of(model).split(".")[0]


def model_folder(model):
    """An encoder is a model too: the one that nothing was done to."""
    encoder, _, adapted = model.partition("/")
    return (
        f"<results>/encoders/{encoder}" if adapted == "pretrained" else f"<results>/models/{model}"
    )


def unit_of(task):
    """What a task's head reads: whole texts or words."""
    return "cls" if training_of(config, task)["head"] == "sequence" else "word"


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


PAPERS = ["matton2019", "merchant2020", "singh2020", "zhou2022"]

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
    embedded = from_source("embedded")
    if embedded:
        notes.append(
            f"Stand-in data from the embedded corpus ({', '.join(embedded)}): published numbers are no target here."
        )
    return notes
