"""What singh2020's figures, table and claims share: its curves as frames with a row per repetition."""

import pandas as pd

METRICS = {"cola": "matthews"}  # accuracy for the others
METRIC_NAMES = {"accuracy": "accuracy", "matthews": "Matthews correlation"}


def metric_of(task: str) -> str:
    return METRICS.get(task, "accuracy")


def reinit_curves(sweeps: pd.DataFrame, drawn: str) -> pd.DataFrame:
    """task, fraction, encoder, seed, layers (re-initialised, from the top; 0 = none), score."""
    kind = sweeps["recipe"].str.partition("-")[0]
    depth = sweeps["recipe"].str.partition("-")[2].replace("", "0").astype(int)
    score = [row[f"test_{metric_of(row['task'])}"] for row in sweeps.to_dict("records")]
    table = sweeps[["task", "fraction", "encoder", "seed", "n_train"]].assign(layers=depth, score=score)
    return table[kind.isin((drawn, "full"))]


def noise(task: str, test_rows: int) -> float:
    """Two standard errors of a score at chance: a difference within it says nothing."""
    return (2 if metric_of(task) == "matthews" else 1) / test_rows**0.5


def of_sizes(table: pd.DataFrame, fractions: dict[str, list[float]]) -> pd.DataFrame:
    """Without shares that only figure 1c has, where two tasks are set side by side at equal sizes."""
    return table[[fraction in fractions[task] for task, fraction in zip(table["task"], table["fraction"])]]


def size_name(fraction: float) -> str:
    return f"{100 * fraction:g} % of the rows"
