"""What singh2020's figures, table, claims and measured numbers share: its curves, one per repetition.

Layers are counted as the paper loses them: `layers` (or `lost`) of them from the top, re-initialised or removed.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow.lib.base.chance import most_frequent
from workflow.lib.base.resampling import confusion, matthews, resampled_means

RUN = ["encoder", "seed"]
ROWS = ["row_truth", "row_guess"]  # lists: an entry per test row
NO_CORRELATION = 0.05  # a Matthews correlation that says nothing; with few test rows, what chance gives if that is more
METRICS = {"cola": "matthews"}  # accuracy for the others
METRIC_NAMES = {"accuracy": "accuracy", "matthews": "Matthews correlation"}


def metric_of(task: str) -> str:
    return METRICS.get(task, "accuracy")


def noise(task: str, test_rows: int) -> float:
    """Two standard errors of a score at chance: a difference within it says nothing."""
    return (2 if metric_of(task) == "matthews" else 1) / test_rows**0.5


def reinit_curves(sweeps: pd.DataFrame, drawn: str) -> pd.DataFrame:
    """task, fraction, encoder, seed, n_train, layers (re-initialised, from the top; 0 = none), score; the answers to
    test rows, where they are stored."""
    kind = sweeps["recipe"].str.partition("-")[0]
    depth = sweeps["recipe"].str.partition("-")[2].replace("", "0").astype(int)
    score = [row[f"test_{metric_of(row['task'])}"] for row in sweeps.to_dict("records")]
    columns = [*RUN, "task", "fraction", "n_train", *(name for name in ROWS if name in sweeps)]
    return sweeps[columns].assign(layers=depth, score=score)[kind.isin((drawn, "full"))]


@dataclass(frozen=True)
class Curves:
    """Scores of one task at one size, in points, by number of layers re-initialised."""

    runs: pd.DataFrame  # a row per encoder and seed
    noise: float  # a drop within it has no shape
    resampled: np.ndarray | None = None  # (replicates, layers + 1): of a single run, on resampled test rows
    n_rows: int = 0

    @property
    def n_layers(self) -> int:
        return self.runs.shape[1] - 1


def curves_by_size(scores: pd.DataFrame, test_rows: dict[str, int]) -> dict[tuple[str, float], Curves]:
    """`scores`: as `reinit_curves` makes them. All curves of a task are scored on the same resampled rows."""
    found = {}
    for number, (task, here) in enumerate(scores.reset_index(drop=True).groupby("task", sort=False)):
        here, limit, n_rows = here.reset_index(drop=True), 100 * noise(task, test_rows[task]), test_rows[task]
        is_resampled = "row_guess" in here and len(here[RUN].drop_duplicates()) == 1
        drawn = 100 * resampled_scores(here, metric_of(task), number) if is_resampled else None
        for fraction, of_size in here.groupby("fraction", sort=False):
            runs = 100 * of_size.pivot(index=RUN, columns="layers", values="score")
            in_order = of_size.sort_values("layers").index
            found[task, fraction] = Curves(runs, limit, drawn[:, in_order] if is_resampled else None, n_rows)
    return found


def resampled_scores(models: pd.DataFrame, metric: str, seed: int) -> np.ndarray:
    """(replicates, models): scores of models on the same test rows drawn with replacement. Labels are 0 and 1."""
    truths, guesses = (np.stack(models[name].to_list(), axis=1) for name in ROWS)  # (rows, models)
    if metric == "accuracy":
        return resampled_means((truths == guesses).astype(float), seed)
    cells = confusion(truths, guesses)
    shares = resampled_means(cells.reshape(len(cells), -1), seed)
    return matthews(shares.reshape(len(shares), -1, 4))


def thirds(n_layers: int) -> tuple[int, int]:
    """Layers lost from the top before the middle third, and after it."""
    return round(n_layers / 3), round(2 * n_layers / 3)


def above_null_rate(scores: pd.DataFrame, task: str, fraction: float) -> dict[tuple, np.ndarray]:
    """By run, in every test row: points above a guess of the most frequent class, the mean of the models with fewer
    than a quarter of the layers still pre-trained. Nothing where answers to test rows are not stored."""
    here = scores[(scores["task"] == task) & (scores["fraction"] == fraction)]
    n_layers = here["layers"].max()
    here = here[n_layers - here["layers"] < n_layers / 4]
    if "row_guess" not in here:
        return {}
    found = {}
    for run, models in here.groupby(RUN, sort=False):
        truths, guesses = (np.stack(models[name].to_list()) for name in ROWS)
        found[run] = 100 * ((truths == guesses).mean(axis=0) - most_frequent(truths[0]))
    return found


def probe_curves(probes: pd.DataFrame, task: str, training: str) -> pd.DataFrame:
    """Scores in points of one training's probes: a row per encoder and probe seed, a column per number of layers
    removed. The last column is layer 0, where [CLS] is the same vector whatever the text: no layer is left."""
    here = probes[(probes["task"] == task) & (probes["training"] == training)]
    here = here.assign(encoder=here["model"].str.partition("/")[0], lost=here["layer"].max() - here["layer"])
    return 100 * here.pivot(index=["encoder", "probe_seed"], columns="lost", values=metric_of(task))


def layers_off_zero(probes: pd.DataFrame, test_rows: int) -> pd.DataFrame:
    """CoLA's short probes (rows: encoder and probe seed; columns: layers removed): is there a correlation at all?

    Per probe, as in the paper: correlations by chance have either sign and would cancel in a mean.
    """
    limit = 100 * max(NO_CORRELATION, noise("cola", test_rows))
    return probe_curves(probes, "cola", "short").iloc[:, :-1].abs() > limit


def first_measure(distances: pd.DataFrame) -> pd.DataFrame:
    """Fine-tuned without re-initialisation; of several projections and norms, the first that is configured."""
    full = distances[distances["recipe"] == "full"]
    first = full[["projection", "norm"]].drop_duplicates().iloc[:1]
    return full.merge(first, on=["projection", "norm"])


def line_through(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(runs, layers) -> slope of the straight line over layers, and root mean square of what it leaves, of each run."""
    layers = np.arange(1, distances.shape[1] + 1)
    slope, start = np.polyfit(layers, distances.T, 1)
    return slope, (distances - start[:, None] - slope[:, None] * layers).std(axis=1)


def of_sizes(table: pd.DataFrame, fractions: dict[str, list[float]]) -> pd.DataFrame:
    """Without shares that only figure 1c has, where two tasks are set side by side at equal sizes."""
    return table[[fraction in fractions[task] for task, fraction in zip(table["task"], table["fraction"])]]


def size_name(fraction: float) -> str:
    return f"{100 * fraction:g} % of the rows"
