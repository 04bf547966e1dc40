"""What analyses take, from the number of their points and the width of the vectors.

Counts are of the largest term, and how often it is repeated where that is known; iterations that depend on the data
(of solvers, until a probe stops) are part of the measured speed of the rule (estimates.py).
"""

from workflow.lib.base.names import encoder_of, is_pretrained, model_of, target_of
from workflow.lib.base.tasks import places_of_task, unit_of_task
from workflow.lib.costs.encoders import Shape, bytes_of, encoder_shape
from workflow.lib.costs.sizes import Size, size_of
from workflow.lib.costs.work import Work

# operations, at the speed of the rule, that take as long as one of these, measured by tests/benchmarks/largest.py
CLUSTER = 53_000  # per point and dimension, of a cluster beyond one a label
CANDIDATE = 1300  # per row and class, of a neuron that is tried: exponentials and sums, in some passes


def points(config: dict, task: str) -> tuple[float, float, int]:
    """Labelled units in a task's training and test rows, and the number of labels."""
    train, test = (size_of(config, place) for place in places_of_task(config, task))
    per_row = 1.0 if unit_of_task(config, task) == "cls" else train.targets
    return train.rows * per_row, test.rows * per_row, train.labels


def _shape(config: dict, item: str) -> Shape:
    return encoder_shape(config, encoder_of(item))


def _width(config: dict, item: str) -> int:
    """Of a labelled unit: a pair of words has two vectors."""
    head = config["tasks"][target_of(item)]["head"]
    return _shape(config, item).width * (2 if head == "word_pair" else 1)


def pca(config: dict, item: str) -> Work:
    """PCA of the general sentences and of samples of them; classifiers on few and on all dimensions."""
    settings, width = config["pca"], _shape(config, item).width
    general = size_of(config, settings["general"]).rows
    train, test, labels = points(config, target_of(item))
    sizes = [size for size in settings["sample_sizes"] if size <= general]
    decomposed = (general + train + settings["random_draws"] * sum(sizes)) * width**2
    grid = [n for n in settings["components"] if n < width]
    fitted = sum(grid) * (2 + settings["random_draws"]) + width + len(sizes) * settings["random_draws"] * 10
    n_fits = len(grid) * (2 + settings["random_draws"]) + len(sizes) * settings["random_draws"]
    return Work(
        calls=n_fits * labels,
        flops=2 * decomposed + 100 * train * fitted * labels,
        moved=2 * width * (general + train + test),
        held=4 * width * (2 * general + 4 * train + test),  # and a centred copy of what is decomposed
    )


def neurons(config: dict, item: str) -> Work:
    """Every remaining dimension is tried beside the chosen ones, in every fold."""
    settings, width = config["neurons"], _shape(config, item).width
    train, test, labels = points(config, target_of(item))
    searched = min(train, settings["rows"] or train)
    n_steps = max(settings["neurons"], labels)
    tried = n_steps * settings["folds"] * searched * labels + train * labels
    return Work(
        calls=n_steps * settings["folds"] * labels,
        flops=CANDIDATE * width * tried,
        on_core=100 * train * (width + n_steps**2 / 2) * labels,  # all dimensions, and 1, 2, … of them
        held=4 * width * (3 * train + test) + (1 << 30) * min(1, searched * width / 1e7),
    )


def rsa(config: dict, item: str) -> Work:
    """Cosines of all pairs of tokens in two spaces, in every layer."""
    shape, settings = _shape(config, item), config["rsa"]
    n, n_layers = settings["tokens"], (shape.layers + 1) * settings["samples"]
    return Work(calls=n_layers, flops=n_layers * 2 * n**2 * shape.width, held=n * (8 * shape.width + 3 * 4 * 1024))


def _hulls(n_points: float, n_labels: int, width: int) -> float:
    """Each pair of labels is compared until no point lies nearer: some passes over the points of both."""
    return 200 * n_labels * n_points * width


def extra_clusters(config: dict, item: str, n_points: float) -> float:
    """Expected clusters beyond one a label, which nobody knows before. A text that carries two labels gives each of
    these a cluster more. Where points are many for the width, labels overlap before tuning: in published runs a
    twenty-fifth to a quarter of the points is a cluster from 60 points a dimension on; with 44, in our own run of
    docs/laptop.md, three are."""
    twins = size_of(config, places_of_task(config, target_of(item))[0]).twins
    overlap = is_pretrained(model_of(item)) and n_points > 60 * _width(config, item)
    return n_points / 20 if overlap else 2 * twins


def _clustering(n_points: float, extra: float, width: int) -> float:
    """Merges of points are tried, and refused, around each cluster (tests/benchmarks/growth.py: a quarter to four times
    as many points, planted at random)."""
    return CLUSTER * extra * n_points * width


def directprobe(config: dict, item: str) -> Work:
    train, test, labels = points(config, target_of(item))
    width = _width(config, item)
    work = sum(_hulls(n, labels, width) + _clustering(n, extra_clusters(config, item, n), width) for n in (train, test))
    return Work(calls=labels**2, flops=work, held=21 * width * (train + test))


def label_distances(config: dict, item: str) -> Work:
    train, _, labels = points(config, target_of(item))
    shape, width = _shape(config, item), _width(config, item)
    flops = shape.layers * _hulls(train, labels, width)
    held = 21 * width * train * min(config["threads"], shape.layers)  # a process for each layer
    return Work(calls=shape.layers * labels**2, flops=flops, held=held)


def paths(config: dict, item: str, n_steps: float) -> Work:
    """The first step costs as much as `label_distances`, the others start where it ended."""
    one = label_distances(config, item)
    return Work(calls=n_steps * one.calls, flops=(1 + n_steps / 4) * one.flops, held=one.held)


def structural(config: dict, item: str) -> Work:
    """Two projections of every word in every layer and epoch; trained in groups of layers that fit in memory."""
    shape, settings = _shape(config, item), config["structural"]
    train, dev = (size_of(config, f"{target_of(item)}/{split}") for split in ("train", "dev"))
    n_words = train.rows * train.words
    n_epochs, of_layer = settings["max_epochs"], 4 * shape.width * (train.rows + dev.rows) * train.words
    return Work(
        calls=2 * (shape.layers + 1) * n_epochs * train.rows / settings["batch_size"],
        flops=12 * (shape.layers + 1) * n_epochs * n_words * shape.width * settings["rank"],
        held=min((shape.layers + 1) * of_layer, max(3 << 30, of_layer)) + of_layer,
    )


def _probing(config: dict, item: str, rows: float, dev: Size, settings: dict, size: Size) -> Work:
    """Training an edge probe until it stops, with its validations."""
    shape = _shape(config, item)
    every, n_epochs = settings["validate_every"], 6  # until it learns no more; then `patience` validations follow
    n_updates = min(every * settings["max_validations"], every * settings["patience"] + n_epochs * rows / 32)
    n_sentences = n_updates * settings["batch_size"] + n_updates / every * dev.rows / 3  # forward passes take a third
    mixed = size.inside * (shape.layers + 1) * shape.width
    projected = size.targets * shape.width * settings["projection"] * 2
    return Work(
        calls=4 * n_updates + n_updates / every * dev.rows / 256,
        flops=6 * n_sentences * (mixed + projected),
        moved=n_sentences * mixed * bytes_of(config),
    )


def edges(config: dict, item: str, most_in_memory: int, of_layer: float) -> Work:
    """`of_layer`: bytes of the largest layer that is read, with the tokens of all datasets that share it."""
    dataset = target_of(item)
    sizes = {split: size_of(config, f"{dataset}/{split}") for split in ("train", "dev", "test")}
    settings = config["edges"] | config["edges"]["for_dataset"].get(dataset, {})
    work = _probing(config, item, sizes["train"].rows, sizes["dev"], settings, sizes["train"])
    return _with_vectors(config, item, sizes.values(), work, most_in_memory, of_layer)


def description_length(config: dict, item: str, most_in_memory: int, of_layer: float) -> Work:
    dataset, settings = target_of(item), config["edges"] | config["description_length"]
    sizes = {split: size_of(config, f"{dataset}/{split}") for split in (settings["coded"], "dev")}
    coded = sizes[settings["coded"]]
    portions = [coded.rows * percent / 100 for percent in settings["portions"][:-1]]
    work = sum((_probing(config, item, rows, sizes["dev"], settings, coded) for rows in portions), start=Work())
    return _with_vectors(config, item, sizes.values(), work, most_in_memory, of_layer)


def _with_vectors(config: dict, item: str, sizes, work: Work, most_in_memory: int, of_layer: float) -> Work:
    """Vectors are in memory or, where they are too many, in a scratch file; a layer is read at a time."""
    shape = _shape(config, item)
    per_token = (shape.layers + 1) * shape.width * bytes_of(config)
    of_splits = [size.rows * size.inside * per_token for size in sizes]
    in_memory = sum(size for size in of_splits if size <= most_in_memory)
    scratch = sum(of_splits) - in_memory
    # what is in memory is read from disk once, what is not by every batch
    moved = 2 * sum(of_splits) + (work.moved if scratch else 0)
    return Work(work.calls, work.flops, 0, moved, in_memory + 2 * of_layer, 0, 0, scratch)


def layer_probes(config: dict, item: str) -> Work:
    shape, settings = _shape(config, item), config["layer_probes"]
    train, test, labels = points(config, target_of(item))
    n_passes = len(settings["seeds"]) * settings["epochs"]
    n_updates = n_passes * train / settings["batch_size"]
    of_layer = 4 * shape.width * (train + test)
    return Work(
        calls=n_updates + shape.layers,
        flops=(shape.layers + 1) * train * shape.width * labels * (6 * n_passes + 100),
        held=min((shape.layers + 1) * of_layer, max(4 << 30, of_layer)) + 3 * of_layer,
    )


def mlp(config: dict, item: str) -> Work:
    """All pairs of sizes with all penalties, side by side, then the best with several seeds."""
    settings, width = config["mlp"], _width(config, item)
    train, test, labels = points(config, target_of(item))
    pairs = [(first, second) for first in settings["sizes"] for second in settings["sizes"]]
    weights = sum(width * first + first * second + second * labels for first, second in pairs) * len(settings["alphas"])
    # early stopping: epochs until networks stop, the more the fewer points there are
    n_epochs = min(settings["max_epochs"], 40 + 20000 / max(1.0, train))
    n_updates = n_epochs * (train / 200 + 1)
    return Work(calls=n_updates * len(pairs), flops=6 * n_epochs * train * weights, held=12 * width * (train + test))
