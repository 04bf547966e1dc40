"""matton2019's numbers, taken from the analysis tables: what its figures draw, its tables print and its claims weigh.

Every function returns one row per repetition (an encoder and a fine-tuning seed), so that spreads can be taken last.
Accuracies are in percent, as in the paper.
"""

import pandas as pd

from workflow.lib.base.repetitions import with_parts

KEYS = ["encoder", "seed", "task"]


def selected_accuracies(greedy: pd.DataFrame) -> pd.DataFrame:
    """Table 3: test accuracy with all, 1, 5 and as many neurons as classes ("natural")."""
    greedy = with_parts(greedy)
    rows = []
    for (encoder, state, seed, task), group in greedy.groupby(["encoder", "state", "seed", "task"], sort=False):
        by_step = group.set_index("step")["test_accuracy"] * 100
        n_classes = int(group["n_classes"].iloc[0])
        for name, step in {"all": 0, "1": 1, "5": 5, "natural": n_classes}.items():
            rows.append((encoder, state, seed, task, n_classes, name, by_step.get(step, float("nan"))))
    return pd.DataFrame(rows, columns=["encoder", "state", "seed", "task", "n_classes", "neurons", "accuracy"])


def component_losses(accuracy: pd.DataFrame, counts: tuple[int, ...] = (5, 25)) -> pd.DataFrame:
    """Section 3.1.2: points lost by the fine-tuned model with the first few general components against all."""
    frame = with_parts(accuracy).query("state == 'finetuned' and series == 'general'")
    rows = []
    for (encoder, seed, task), group in frame.groupby(KEYS, sort=False):
        by_count = group.set_index("dimensions")["accuracy"] * 100
        for count in counts:
            if count in by_count:
                rows.append((encoder, seed, task, count, by_count.iloc[-1] - by_count[count], by_count.iloc[-1]))
    return pd.DataFrame(rows, columns=[*KEYS, "components", "loss", "all"])


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


def curve_points(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Figures 1 to 3: accuracy of the pre-trained encoder, random draws averaged within an encoder."""
    frame = with_parts(accuracy).query("state == 'pretrained'")
    mean = frame.groupby(["encoder", "task", "series", "dimensions"], sort=False)["accuracy"].mean() * 100
    return mean.reset_index()
