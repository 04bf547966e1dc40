"""matton2019's numbers, taken from the analysis tables: what its figures draw, its tables print and its claims weigh.

Every function returns one row per repetition (an encoder and a fine-tuning seed), so that spreads can be taken last.
Accuracies are in percent, as in the paper; `right` says which test rows a classifier got right.
"""

from statistics import median

import numpy as np
import pandas as pd

from workflow.lib.base.repetitions import with_parts
from workflow.lib.data.dataset_files import read_dataset

KEYS = ["encoder", "seed", "task"]


def selected_accuracies(greedy: pd.DataFrame) -> pd.DataFrame:
    """Table 3: test accuracy with all, 1, 5 and as many neurons as classes ("natural")."""
    rows = []
    for key, group in with_parts(greedy).groupby(["encoder", "state", "seed", "task"], sort=False):
        by_step, n_classes = group.set_index("step"), int(group["n_classes"].iloc[0])
        for name, step in {"all": 0, "1": 1, "5": 5, "natural": n_classes}.items():
            accuracy, right = (
                (100 * by_step.loc[step, "test_accuracy"], by_step.loc[step, "right"])
                if step in by_step.index
                else (float("nan"), None)
            )
            rows.append((*key, n_classes, name, accuracy, right))
    return pd.DataFrame(rows, columns=["encoder", "state", "seed", "task", "n_classes", "neurons", "accuracy", "right"])


def component_losses(
    accuracy: pd.DataFrame, counts: tuple[int, ...] = (5, 25), state: str = "finetuned"
) -> pd.DataFrame:
    """Section 3.1.2: points lost with the first few general components against all; `rows`: in every test row."""
    frame = with_parts(accuracy).query("state == @state and series == 'general'")
    found = []
    for key, group in frame.groupby(KEYS, sort=False):
        by_count = group.sort_values("dimensions").set_index("dimensions")["right"]
        for count in (count for count in counts if count in by_count.index):
            rows = points(by_count.iloc[-1], by_count[count])
            found.append((*key, count, rows.mean(), 100 * by_count.iloc[-1].mean(), rows))
    return pd.DataFrame(found, columns=[*KEYS, "components", "loss", "all", "rows"])


def points(right: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Percentage points that one classifier is ahead of another, row by row: their mean is the difference."""
    return 100 * (np.asarray(right, dtype=float) - np.asarray(other, dtype=float))


def variance_ratios(variance: pd.DataFrame) -> pd.DataFrame:
    """Figure 4: share of variance of component i after fine-tuning over the same share before."""
    frame = with_parts(variance)
    tuned = frame.query("state == 'finetuned'").copy()
    tuned["task"] = tuned["model"].str.extract(r"/([a-z0-9_]+)\.", expand=False)
    before = frame.query("state == 'pretrained'")[["encoder", "component", "explained"]]
    both = tuned.merge(before, on=["encoder", "component"], suffixes=("", "_before"))
    return both.assign(ratio=both["explained"] / both["explained_before"])[[*KEYS, "component", "ratio"]]


def leading_run(ratios: list[float]) -> int:
    """How many ratios at the beginning are above 1, before the first that is not."""
    return next((at for at, ratio in enumerate(ratios) if ratio <= 1), len(ratios))


def leading_runs(ratios: pd.DataFrame) -> dict[str, list[int]]:
    """By task, one number per repetition: what figure 4's vertical line shows (their median) and its claim counts."""
    runs: dict[str, list[int]] = {}
    for (_, _, task), of_run in ratios.sort_values("component").groupby(KEYS, sort=False):
        runs.setdefault(task, []).append(leading_run(of_run["ratio"].tolist()))
    return {task: runs[task] for task in dict.fromkeys(ratios["task"])}


def middle(runs: list[int]) -> float:
    return float(median(runs))


def curve_points(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Figures 1 to 3: accuracy of the pre-trained encoder; of random dimensions one row per draw."""
    frame = with_parts(accuracy).query("state == 'pretrained'")
    columns = ["encoder", "task", "series", "dimensions", "draw", "accuracy", "right"]
    return frame.assign(accuracy=100 * frame["accuracy"])[columns]


def published_of(file: str, tasks: list[str]) -> pd.DataFrame | None:
    """The published numbers of these tasks, which stand beside ours; None if there are none."""
    published = pd.read_csv(file, dtype={"x": str})
    return published[published["series"].isin(tasks)] if tasks else None


def chances(tasks: list[str], files: list[str]) -> dict[str, float]:
    """By task, what a guess of one of its labels scores, in percent; `files`: the dataset file of each."""
    return {task: 100 / len(read_dataset(file)[1]["labels"]) for task, file in zip(tasks, files)}
