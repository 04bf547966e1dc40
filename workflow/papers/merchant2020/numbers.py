"""What merchant2020's figures, tables and claims share: names, and its curves as frames with a row per repetition."""

import pandas as pd

from workflow.lib.base.repetitions import with_parts

SERIES = {"base": "Base", "parse": "Dep", "mnli": "MNLI", "squad": "SQuAD"}  # as the paper calls them
PUBLISHED = {"parse": "dep"}  # series of published.csv that are not named like our tasks
METRICS = {"parser": "las", "answers": "f1"}  # by head; accuracy for the others
METRIC_NAMES = {"las": "LAS", "f1": "F1", "accuracy": "accuracy"}
BASELINES = ("lexical", "randomised")
EDGES = {"pos": "POS", "srl": "SRL", "spr": "SPR"}  # others are plain words


def published_edge(task: str) -> str:
    """As in published.csv: `pos` for both ep_pos and ep_pos_ontonotes."""
    return task.removeprefix("ep_").removesuffix("_ontonotes")


def edge_name(task: str) -> str:
    short = published_edge(task)
    return EDGES.get(short, short[0].upper() + short[1:])


def series_name(task: str) -> str:
    return SERIES.get(task, task)


def series_number(task: str, others: list[str]) -> int:
    """A series has one colour in all figures; tasks that the paper has not come after its own."""
    order = [*SERIES, *(name for name in others if name not in SERIES)]
    return order.index(task)


def published_curve(published: pd.DataFrame, artifact: str, task: str) -> pd.Series:
    """By the paper's x, which counts blocks from 0: our layer is x + 1."""
    rows = published[(published["artifact"] == artifact) & (published["series"] == PUBLISHED.get(task, task))]
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
    """task, encoder, seed, depth, score. Freezing: depth 0 is the full model; truncation: the full depth is.

    `layers` by encoder, `heads` by task.
    """
    rows = []
    for row in pd.concat([metrics, sweeps], ignore_index=True).to_dict("records"):
        kind, _, depth = row["recipe"].partition("-")
        if kind not in (sweep, "full"):
            continue
        whole = 0 if sweep == "freeze" else layers[row["encoder"]]
        score = row[f"test_{metric_of(heads[row['task']])}"]
        rows.append({"task": row["task"], "encoder": row["encoder"], "seed": row["seed"],
                     "depth": int(depth) if depth else whole, "score": score})  # fmt: skip
    return pd.DataFrame(rows)


def edge_scores(scores: pd.DataFrame, edge_input: str, random_encoders: set[str]) -> pd.DataFrame:
    """task, encoder, seed, series, f1 in points: base, each tuned task, lexical (layer 0), randomised."""
    frame = by_series(scores)
    is_random, is_lexical = frame["encoder"].isin(random_encoders), frame["input"] == "lexical"
    series = frame["series"].mask(is_lexical, "lexical").mask(is_random, "randomised")
    wanted = (frame["input"] == edge_input) | (is_lexical & ~is_random)
    return frame.assign(series=series, f1=100 * frame["f1"])[wanted]


def edge_deltas(table: pd.DataFrame) -> pd.DataFrame:
    """task, encoder, seed, series, delta: each repetition against the Base it stands beside.

    A tuned model and the lexical baseline belong to an encoder; a randomised one, being no encoder's child, stands
    beside the mean of all.
    """
    base = table[table["series"] == "base"].groupby(["task", "encoder"])["f1"].mean()
    mean_base = base.groupby("task").mean()
    rows = []
    for row in table[table["series"] != "base"].itertuples():
        before = mean_base[row.task] if row.series == "randomised" else base[row.task, row.encoder]
        about = {"task": row.task, "encoder": row.encoder, "seed": row.seed, "series": row.series}
        rows.append(about | {"delta": row.f1 - before})
    return pd.DataFrame(rows)
