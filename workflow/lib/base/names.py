"""Names of models, of their files, and of the items of work that rules process.

model      <encoder>/<adapted>: `base.0/pretrained`, or `base.0/mnli.full.f1.s0` (task, recipe, fraction of rows, seed),
           or `base.0/mine.given`, tuned by somebody else
place      <dataset>/<split>: rows of a dataset; as a folder <dataset>-<split>
item       a path that starts with a model: `base.0/pretrained/cls/imdb-train` (activations), `base.0/pretrained/imdb`
           (an analysis of a model on a task)
`<results>` is a path variable of Snakemake: results/<run>.
"""

import re
from collections.abc import Iterable
from decimal import Decimal

GIVEN = ".given"


def pretrained(encoder: str) -> str:
    """Name of an encoder without fine-tuning, as a model."""
    return f"{encoder}/pretrained"


def plain(number: float) -> str:
    """A number without exponent or trailing zeros: 1.0 -> 1, 5e-05 -> 0.00005."""
    text = format(Decimal(repr(number)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def tuned(encoder: str, task: str, recipe: str = "full", fraction: float = 1, seed: int = 0) -> str:
    return f"{encoder}/{task}.{recipe}.f{plain(fraction)}.s{seed}"


def given(encoder: str, name: str) -> str:
    """Name of a model that somebody else tuned."""
    return f"{encoder}/{name}{GIVEN}"


def is_given(model: str) -> bool:
    return model.endswith(GIVEN)


def encoder_of(item: str) -> str:
    return item.partition("/")[0]


def model_of(item: str) -> str:
    """`base.0/pretrained/cls/imdb-train` -> `base.0/pretrained`."""
    return "/".join(item.split("/")[:2])


def target_of(item: str) -> str:
    """The part of an item after its model."""
    return "/".join(item.split("/")[2:])


def is_pretrained(model: str) -> bool:
    return model.endswith("/pretrained")


def task_of(model: str) -> str:
    """The task that a model was fine-tuned on."""
    return model.split("/")[1].split(".")[0]


def recipe_of(model: str) -> tuple[str, str, str, str]:
    """Task, recipe, fraction of the rows and seed, as strings. A fraction such as 0.5 contains a dot itself."""
    task, recipe, rest = model.split("/")[1].split(".", 2)
    fraction, _, seed = rest.rpartition(".s")
    return task, recipe, fraction.removeprefix("f"), seed


def folder_name(place: str) -> str:
    """`imdb/train` -> `imdb-train`; no dataset has a hyphen in its name."""
    return place.replace("/", "-")


def place_of(folder: str) -> str:
    return folder.replace("-", "/")


def data_file(place: str) -> str:
    return f"<results>/data/{place}.parquet"


def encoder_folder(encoder: str) -> str:
    return f"<results>/encoders/{encoder}"


def model_folder(model: str) -> str:
    """Folder of a model; a pre-trained one is the encoder's own folder."""
    return encoder_folder(encoder_of(model)) if is_pretrained(model) else f"<results>/models/{model}"


def metrics_file(model: str) -> str:
    return f"<results>/models/{model}.metrics.parquet"


def distances_file(model: str) -> str:
    """How far the weights of a given model lie from its encoder's."""
    return f"<results>/models/{model}.distances.parquet"


def sweep_file(model: str, table: str = "scores") -> str:
    """File of a sweep's table: `scores`, or `distances` of weights."""
    return f"<results>/sweeps/{model}.{table}.parquet"


def cache_folder(item: str) -> str:
    return f"<results>/activations/{item}"


def analysis_file(method: str, item: str, table: str) -> str:
    return f"<results>/analysis/{method}/{item}/{table}.parquet"


def analysis_files(method: str, table: str, models: Iterable[str], targets: Iterable[str]) -> list[str]:
    targets = list(targets)
    return [analysis_file(method, f"{model}/{target}", table) for model in models for target in targets]


def models_in(files: Iterable[str]) -> list[str]:
    """Models that analyses, metrics and sweeps are of, in the order of the files."""
    found = (re.match(r"<results>/(?:analysis/[a-z_]+|models|sweeps)/([^/]+/[^/]+)", file) for file in files)
    names = (re.sub(r"(\.(metrics|scores|distances))?\.parquet$", "", match[1]) for match in found if match)
    return list(dict.fromkeys(names))


def file_of(files: Iterable[str], place: str) -> str:
    """The dataset file of `<dataset>/<split>` among a rule's inputs."""
    return next(path for path in files if str(path).endswith(f"/{place}.parquet"))


def folder_of(folders: Iterable[str], item: str) -> str:
    """The folder of an item (a cache, a model) among a rule's inputs."""
    return next(path for path in folders if str(path).endswith(f"/{item}"))
