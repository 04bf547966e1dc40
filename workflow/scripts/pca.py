"""Accuracy of a softmax classifier on few dimensions: general PCA, in-domain PCA, random dimensions.

All dimensions are divided by the same number. Scaling them one by one would whiten components: the last ones, which are
noise, would count as much as the first, and all components together would not be a rotation of all dimensions.
"""

from collections.abc import Callable, Iterator

import numpy as np

from workflow.lib.activations.text_vectors import TaskVectors
from workflow.lib.base.errors import UserError
from workflow.lib.methods.linear import common_scale_of, fit_softmax
from workflow.lib.methods.pca.principal_axes import PrincipalAxes, principal_axes

Projection = Callable[[np.ndarray], np.ndarray]


def onto_components(pca: PrincipalAxes, n: int) -> Projection:
    return lambda x: pca.project(x, n)


def accuracy_with(project: Projection, task: TaskVectors, c: float) -> dict:
    """Test accuracy, and which rows were right."""
    model = fit_softmax(project(task.train), task.train_labels, c, common_scale=common_scale_of(task.train))
    right = model.predict(project(task.test)) == task.test_labels
    return {"accuracy": float(right.mean()), "right": right}


def checked_grid(components: list[int], width: int) -> list[int]:
    """The requested numbers of components, and finally all dimensions."""
    if max(components) > width:
        raise UserError(f"pca.components asks for {max(components)} components, but the vectors have {width}")
    return sorted({*components, width // 2, width})


def curves(
    general: PrincipalAxes, task: TaskVectors, grid: list[int], draws: int, seed: int, c: float
) -> Iterator[dict]:
    """All components are all dimensions, turned, so that the last point of all series is one classifier."""
    width = task.train.shape[1]
    in_domain = principal_axes(task.train)
    for n in (n for n in grid if n < width):
        for series, pca in (("general", general), ("in_domain", in_domain)):
            scores = accuracy_with(onto_components(pca, min(n, len(pca.axes))), task, c)
            yield {"series": series, "dimensions": n, "draw": 0} | scores
        for draw in range(draws):
            # one order per draw, so that a larger set of dimensions contains the smaller ones
            chosen = np.random.default_rng([seed, draw]).permutation(width)[:n]
            scores = accuracy_with(lambda x, chosen=chosen: x[:, chosen], task, c)
            yield {"series": "random", "dimensions": n, "draw": draw} | scores
    everything = accuracy_with(lambda x: x, task, c)
    for series in ("general", "in_domain", "random"):
        yield {"series": series, "dimensions": width, "draw": 0} | everything


def by_sample_size(
    vectors: np.ndarray, task: TaskVectors, sizes: list[int], n_components: int, draws: int, seed: int, c: float
) -> Iterator[dict]:
    """Accuracy by the number of vectors that the general PCA is fitted on, up to the number of rows."""
    if min(sizes) > len(vectors):
        raise UserError(f"pca.sample_sizes begins at {min(sizes)}, but the general text has {len(vectors)} rows")
    for size in (size for size in sizes if size <= len(vectors)):
        for draw in range(draws if size < len(vectors) else 1):
            sample = np.random.default_rng([seed, draw]).permutation(len(vectors))[:size]
            pca = principal_axes(vectors if size == len(vectors) else vectors[sample])  # a copy of all would be large
            scores = accuracy_with(onto_components(pca, min(n_components, size - 1)), task, c)
            yield {"sample_size": size, "draw": draw} | scores


if __name__ == "__main__":
    from workflow.lib.activations.text_vectors import last_layer, task_vectors
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import folder_of, model_of, target_of
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    inputs, outputs, settings, seed = (
        snakemake.input,
        snakemake.output,
        snakemake.params.settings,
        snakemake.params.seed,
    )
    draws, c = settings["random_draws"], settings["regularisation"]
    for (item, rows), accuracy, variance, samples in zip(
        snakemake.params.work.items(), outputs.accuracy, outputs.variance, outputs.samples
    ):
        model, name = model_of(item), target_of(item)
        vectors = last_layer(folder_of(inputs.activations, f"{model}/cls/{snakemake.params.general}"))
        general = principal_axes(vectors)
        grid = checked_grid(settings["components"], vectors.shape[1])
        task = task_vectors(inputs.activations, inputs.data, model, rows)
        found = list(curves(general, task, grid, draws, seed, c))
        sizes = settings["sample_sizes"], settings["sample_components"]
        by_size = by_sample_size(vectors, task, *sizes, draws, seed, c)
        explained = general.explained[: settings["variance_components"]]
        components = [{"component": at + 1, "explained": float(share)} for at, share in enumerate(explained)]
        write_table(found, accuracy, model=model, task=name)
        write_table(list(by_size), samples, model=model, task=name)
        write_table(components, variance, model=model)
        log.info("%s: all %d dimensions give %.4f", item, vectors.shape[1], found[-1]["accuracy"])
