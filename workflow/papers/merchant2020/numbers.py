"""merchant2020's numbers from the analysis tables, shared by its figures, tables and claims; and its names.

Frames have one row per run (an encoder and a fine-tuning seed), so that spreads can be taken last.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow.lib.base.repetitions import with_parts
from workflow.lib.base.tasks import TEXT_HEADS

SERIES = {"base": "Base", "parse": "Dep", "mnli": "MNLI", "squad": "SQuAD"}  # as the paper calls them
PUBLISHED = {"parse": "dep", "randomised": "randomized"}  # where published.csv has another name
METRICS = {"parser": "las", "answers": "f1"}  # by head; accuracy for the others
METRIC_NAMES = {"las": "LAS", "f1": "F1", "accuracy": "accuracy"}
BASELINES = ("lexical", "randomised")
RUN = ["encoder", "seed"]


@dataclass(frozen=True)
class Roles:
    """Which of a run's tasks stand for the paper's MNLI, SQuAD and Dep, told by their heads; "none" if no task does."""

    tasks: list[str]
    classifier: str
    reader: str
    parser: str

    @property
    def others(self) -> list[str]:
        """All but Dep."""
        return [task for task in self.tasks if task != self.parser]


def roles_of(heads: dict[str, str]) -> Roles:
    """`heads` by task; the first task of a kind counts."""
    kinds = (TEXT_HEADS, ("answers",), ("parser",))
    first = [next((task for task, head in heads.items() if head in kind), "none") for kind in kinds]
    return Roles(list(heads), *first)


def of_twelve(n: int, layers: int) -> int:
    """As many of an encoder's layers as `n` are of the paper's twelve; at least one."""
    return max(1, round(n * layers / 12))


def series_name(task: str) -> str:
    return SERIES.get(task, task)


def series_number(task: str, others: list[str]) -> int:
    """A series has one colour in all figures; tasks that the paper has not come after its own."""
    order = [*SERIES, *(name for name in others if name not in SERIES)]
    return order.index(task)


def published_series(series: str) -> str:
    return PUBLISHED.get(series, series)


def published_curve(published: pd.DataFrame, artifact: str, task: str) -> pd.Series:
    """By the paper's x, which counts blocks from 0: our layer is x + 1."""
    rows = published[(published["artifact"] == artifact) & (published["series"] == published_series(task))]
    return pd.Series(rows["value"].to_numpy(), index=rows["x"].astype(float) + 1).sort_index()


def by_series(frame: pd.DataFrame) -> pd.DataFrame:
    """Adds encoder, seed and series: `base`, or the task a model was tuned on."""
    frame = with_parts(frame)
    return frame.assign(series=frame["tuned_on"].fillna("base"))


def metric_of(head: str) -> str:
    return METRICS.get(head, "accuracy")


def depth_curves(
    metrics: pd.DataFrame, sweeps: pd.DataFrame, sweep: str, layers: dict[str, int], heads: dict[str, str]
) -> pd.DataFrame:
    """task, encoder, seed, depth, score, rows. Freezing: depth 0 is the full model; truncation: the full depth is.

    `layers` by encoder, `heads` by task. `rows`: the score of every evaluation row, None where it is no mean of rows.
    """
    rows = []
    for row in pd.concat([metrics, sweeps], ignore_index=True).to_dict("records"):
        kind, _, depth = row["recipe"].partition("-")
        if kind not in (sweep, "full"):
            continue
        whole = 0 if sweep == "freeze" else layers[row["encoder"]]
        score = row[f"test_{metric_of(heads[row['task']])}"]
        rows.append({"task": row["task"], "encoder": row["encoder"], "seed": row["seed"],
                     "depth": int(depth) if depth else whole, "score": score, "rows": row_scores(row)})  # fmt: skip
    return pd.DataFrame(rows)


def row_scores(record: dict) -> np.ndarray | None:
    """What each evaluation row adds to accuracy or F1, if the table has it. (LAS counts words, not rows.)"""
    if isinstance(record.get("row_f1"), np.ndarray):
        return record["row_f1"]
    if isinstance(record.get("row_truth"), np.ndarray):
        return np.equal(record["row_truth"], record["row_guess"]).astype(float)
    return None


def scores_at(curves: pd.DataFrame, task: str, depths: list[int]) -> pd.DataFrame:
    """(encoder, seed) x these depths."""
    here = curves[(curves["task"] == task) & curves["depth"].isin(depths)]
    return here.pivot(index=RUN, columns="depth", values="score").reindex(columns=depths)


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """NaN where there is nothing to take a share of."""
    return np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0)


def share_kept(scores: np.ndarray, chance: float) -> np.ndarray:
    """(runs,) score above chance as a share of the full model's, from (runs, 2) scores: ablated, full."""
    return ratio(scores[:, 0] - chance, scores[:, 1] - chance)


def share_of_loss(scores: np.ndarray) -> np.ndarray:
    """(runs,) how much of the loss between none and all frozen comes with the last layers, from (runs, 3) scores: only
    these left to change, all frozen, none frozen."""
    return ratio(scores[:, 0] - scores[:, 1], scores[:, 2] - scores[:, 1])


def edge_scores(scores: pd.DataFrame, edge_input: str, random_encoders: set[str]) -> pd.DataFrame:
    """task, encoder, seed, series, f1 in points: base, each tuned task, lexical (layer 0), randomised."""
    frame = by_series(scores)
    is_random, is_lexical = frame["encoder"].isin(random_encoders), frame["input"] == "lexical"
    series = frame["series"].mask(is_lexical, "lexical").mask(is_random, "randomised")
    wanted = (frame["input"] == edge_input) | (is_lexical & ~is_random)
    return frame.assign(series=series, f1=100 * frame["f1"])[wanted]


def edge_deltas(table: pd.DataFrame) -> pd.DataFrame:
    """task, encoder, seed, series, delta in points: each run against the Base of its own encoder.

    A randomised encoder has no Base of its own: it is compared with the mean over encoders.
    """
    base = table[table["series"] == "base"].groupby(["task", "encoder"])["f1"].mean()
    mean_base = base.groupby("task").mean()
    rows = []
    for row in table[table["series"] != "base"].itertuples():
        before = mean_base[row.task] if row.series == "randomised" else base[row.task, row.encoder]
        about = {"task": row.task, "encoder": row.encoder, "seed": row.seed, "series": row.series}
        rows.append(about | {"delta": row.f1 - before})
    return pd.DataFrame(rows)


def structural_changes(scores: pd.DataFrame) -> pd.DataFrame:
    """probe, series, encoder, seed, layer, change: Spearman's correlation minus that of the same encoder's Base."""
    spearman = scores[scores["measure"] == "spearman"]
    keys = ["probe", "encoder", "layer"]
    base = spearman[spearman["series"] == "base"].groupby(keys)["value"].mean().rename("before")
    tuned = spearman[spearman["series"] != "base"].merge(base.reset_index(), on=keys)
    return tuned.assign(change=tuned["value"] - tuned["before"])


def similarity_by_layer(similarity: pd.DataFrame, text: str) -> pd.DataFrame:
    """(series, encoder, seed) x layer, mean over token samples."""
    here = similarity[similarity["text"] == text]
    return here.groupby(["series", *RUN, "layer"])["similarity"].mean().unstack("layer")


def share_of_fall(by_layer: pd.DataFrame) -> pd.Series:
    """How much of the fall of similarity from the first layer to the last happens in the top third of the layers.

    Equal steps from layer to layer give 4/11 of twelve layers, 1/3 of four. Two layers have no top third.
    """
    last = by_layer.columns.max()
    below = of_twelve(8, last)
    if below < 2:
        return pd.Series(np.nan, by_layer.index)
    shares = ratio(*((by_layer[at] - by_layer[last]).to_numpy() for at in (below, 1)))
    return pd.Series(shares, by_layer.index)


def total_lengths(codelength: pd.DataFrame) -> pd.DataFrame:
    """Total description lengths by task, series, encoder and seed; `change` from the same encoder's Base (0.1: 10 %).

    Tasks whose targets have several labels cannot be coded, and have no rows.
    """
    if "part" not in codelength:
        return pd.DataFrame(columns=["task", "series", *RUN, "bits", "compression", "change"])
    total = by_series(codelength).query("part == 'total'")
    base = total[total["series"] == "base"].groupby(["task", "encoder"])["bits"].mean().rename("before")
    total = total.merge(base.reset_index(), on=["task", "encoder"])
    return total.assign(change=total["bits"] / total["before"] - 1)


def learning_curves(codelength: pd.DataFrame) -> pd.DataFrame:
    """task, series, encoder, seed, examples, bits, uniform: bits per target in each portion of the online code, by the
    number of targets that its probe was trained on; `uniform`: what a code without a probe takes.

    The first portion, which is sent without a probe, is left out.
    """
    if "part" not in codelength:
        return pd.DataFrame(columns=["task", "series", *RUN, "examples", "bits", "uniform"])
    portions = by_series(codelength).query("part == 'portion'").sort_values("start", kind="stable")
    sent = portions.groupby(["task", "model"])["n_targets"].cumsum() - portions["n_targets"]
    bits, uniform = (portions[name] / portions["n_targets"] for name in ("bits", "uniform_bits"))
    curves = portions.assign(examples=sent, bits=bits, uniform=uniform)
    return curves[curves["examples"] > 0][["task", "series", *RUN, "examples", "bits", "uniform"]]
