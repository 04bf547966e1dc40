"""merchant2020's claims. Thresholds say what "much smaller" or "comparable" is taken to mean; none was chosen after
looking. Every list is over repetitions: encoders, each pre-trained from its own seed, and fine-tuning seeds."""

import pandas as pd

from workflow.lib.claims.verdicts import FAILS, HOLDS, UNCLEAR, Claim, above, all_of, said
from workflow.lib.merchant2020 import BASELINES, series_name

MUCH = 0.5  # a tuned model's loss is "much smaller" below this share of the smaller baseline's
COMPARABLE = 0.95  # of the full model's score
LITTLE = 0.05  # change of a description length that is "minimal"
SYNTACTIC = ("ep_constituents", "ep_dependencies")

STATEMENTS = {
    "no_forgetting": f"Fine-tuning costs edge probes less than {MUCH:.0%} of what lexical or randomised encoders lack.",
    "dep_raises_syntax": "Dep fine-tuning raises syntactic edge probes (constituents, dependencies).",
    "dep_raises_structure": "Dep fine-tuning raises structural probes in the upper half of the layers.",
    "others_keep_structure": "MNLI and SQuAD lower structural probes more in the last layer than below it.",
    "rsa_falls_upwards": "Similarity to Base falls towards the top.",
    "dep_changes_deepest": "In the middle layers Dep differs more from Base than MNLI and SQuAD do.",
    "own_text_changes_more": "In the upper half of the layers the task's own text differs more than general text.",
    "freezing_half_is_harmless": f"MNLI keeps {COMPARABLE:g} of its score with the lower half of the layers frozen.",
    "dep_needs_most_layers": "Freezing the lower half of the layers costs Dep a larger share than MNLI.",
    "half_the_layers_suffice": f"MNLI and SQuAD keep {COMPARABLE:g} of their scores with the lower half of the layers.",
    "mdl_differs_little": f"Description lengths change by less than {LITTLE:.0%} on most tasks.",
    "dep_shortens_dependencies": "Dep fine-tuning shortens the description of dependencies.",
}


def claim(name: str, verdict: str, evidence: str) -> Claim:
    return Claim("merchant2020", name, STATEMENTS[name], verdict, evidence)


def larger(name: str, values: dict[str, list[float]], what: str, digits: int = 3, threshold: float = 0.0) -> Claim:
    """Holds where the mean of every series lies above the threshold by two standard errors."""
    verdict = all_of([above(of_series, threshold) for of_series in values.values()])
    evidence = "; ".join(f"{series} {said(of_series, digits)}" for series, of_series in values.items())
    return claim(name, verdict, f"{what}: {evidence}")


def no_forgetting(deltas: pd.DataFrame, tasks: list[str]) -> Claim:
    """Mean over edge tasks, per repetition, against each baseline's mean."""
    lost = -deltas.groupby(["series", "encoder"], sort=False)["delta"].mean()
    verdict = all_of(
        [above([MUCH * lost[name].mean() - loss for loss in lost[task]]) for task in tasks for name in BASELINES]
    )
    evidence = "; ".join(f"{series_name(name)} {said(list(lost[name]))}" for name in (*tasks, *BASELINES))
    return claim("no_forgetting", verdict, f"points below Base, mean over tasks: {evidence}")


def syntax(deltas: pd.DataFrame, parser: str) -> Claim:
    here = deltas[(deltas["series"] == parser) & deltas["task"].isin(SYNTACTIC)]
    values = {task.removeprefix("ep_"): list(rows["delta"]) for task, rows in here.groupby("task", sort=False)}
    if not values:
        return claim("dep_raises_syntax", UNCLEAR, "no such edge task")
    return larger("dep_raises_syntax", values, "points over Base", 1)


def structural_changes(scores: pd.DataFrame) -> pd.DataFrame:
    """series, encoder, probe, layer: Spearman minus that of the same encoder's Base, mean over tuning seeds."""
    spearman = scores[scores["measure"] == "spearman"]
    wide = spearman.groupby(["probe", "encoder", "layer", "series"])["value"].mean().unstack("series")
    changes = wide.drop(columns="base").sub(wide["base"], axis=0)
    return changes.stack().rename("change").reset_index()


def structure(scores: pd.DataFrame, tasks: list[str], parser: str) -> list[Claim]:
    changes = structural_changes(scores)
    top = changes["layer"].max()
    upper = changes[(changes["layer"] > top / 2) & (changes["series"] == parser)]
    raised = {probe: list(rows.groupby("encoder")["change"].mean()) for probe, rows in upper.groupby("probe")}
    others = {}
    for series, rows in changes[changes["series"].isin([task for task in tasks if task != parser])].groupby("series"):
        last = rows[rows["layer"] == top].groupby("encoder")["change"].mean()
        below = rows[rows["layer"].between(1, top - 1)].groupby("encoder")["change"].mean()
        others[series_name(series)] = list(below - last)
    return [
        larger("dep_raises_structure", raised, "mean Spearman over Base in the upper layers"),
        larger("others_keep_structure", others, "drop in the last layer beyond that below it"),
    ]


def similarity_by_layer(similarity: pd.DataFrame, place: str) -> pd.DataFrame:
    """(series, encoder, seed) x layer, mean over token samples."""
    here = similarity[similarity["place"] == place]
    return here.groupby(["series", "encoder", "seed", "layer"])["similarity"].mean().unstack("layer")


def rsa(similarity: pd.DataFrame, general: str, own: dict[str, str], parser: str) -> list[Claim]:
    by_layer = similarity_by_layer(similarity, general)
    top = by_layer.columns.max()
    falls = {series_name(name): list(rows[1] - rows[top]) for name, rows in by_layer.groupby("series", sort=False)}
    middle = by_layer[[layer for layer in by_layer if top / 3 < layer <= 2 * top / 3 + 0.5]].mean(axis=1)
    deeper = {}
    for series in by_layer.index.unique("series"):
        if series != parser and parser in by_layer.index.unique("series"):
            deeper[f"than {series_name(series)}"] = list((middle[series] - middle[parser]).dropna())
    gaps = {}
    for task, place in own.items():
        upper = [layer for layer in by_layer if layer > top / 2]
        inside = similarity_by_layer(similarity, place).loc[task, upper].mean(axis=1)
        gaps[series_name(task)] = list((by_layer.loc[task, upper].mean(axis=1) - inside).dropna())
    return [
        larger("rsa_falls_upwards", falls, "first layer minus last"),
        larger("dep_changes_deepest", deeper, "similarity lower by"),
        larger("own_text_changes_more", gaps, "general minus own text"),
    ]


def kept_shares(curves: pd.DataFrame, depth_of: dict[str, int], whole_of: dict[str, int]) -> dict[str, list[float]]:
    """By task: score at a depth as a share of the full model's, one per repetition."""
    shares: dict[str, list[float]] = {}
    for (task, encoder, _), run in curves.groupby(["task", "encoder", "seed"], sort=False):
        score = run.set_index("depth")["score"]
        shares.setdefault(task, []).append(score[depth_of[encoder]] / score[whole_of[encoder]])
    return shares


def depths(freeze: pd.DataFrame, truncate: pd.DataFrame, layers: dict[str, int], parser: str) -> list[Claim]:
    half = {encoder: n // 2 for encoder, n in layers.items()}
    frozen = kept_shares(freeze, half, dict.fromkeys(layers, 0))
    cut = kept_shares(truncate, half, layers)
    others = {task: values for task, values in frozen.items() if task != parser}
    costs = [a - b for a, b in zip(frozen.get("mnli", []), frozen.get(parser, []))]
    named = {series_name(task): cut[task] for task in cut if task != parser}
    return [
        larger("freezing_half_is_harmless", {series_name("mnli"): others.get("mnli", [])}, "share kept",
               threshold=COMPARABLE),
        larger("dep_needs_most_layers", {"MNLI's share kept minus Dep's": costs}, "lower half frozen"),
        larger("half_the_layers_suffice", named, "share kept", threshold=COMPARABLE),
    ]  # fmt: skip


def description(codelength: pd.DataFrame, parser: str) -> list[Claim]:
    total = codelength[codelength["part"] == "total"]
    bits = total.groupby(["task", "encoder", "series"])["bits"].mean().unstack("series")
    changes = bits.drop(columns="base").div(bits["base"], axis=0) - 1
    means = changes.groupby("task").mean()
    small = (means.abs() < LITTLE).stack()
    share, n = small.mean(), len(small)
    largest = means.stack().sort_values(key=abs).iloc[-1:]
    (task, series), value = largest.index[0], largest.iloc[0]
    evidence = f"{small.sum()} of {n} cells; largest {task.removeprefix('ep_')}/{series_name(series)} {value:+.1%}"
    shorter = -changes.loc["ep_dependencies", parser] if "ep_dependencies" in changes.index else pd.Series(dtype=float)
    return [
        claim("mdl_differs_little", UNCLEAR if n < 4 else HOLDS if share > 0.5 else FAILS, evidence),
        larger("dep_shortens_dependencies", {"Dep": list(100 * shorter)}, "per cent shorter than Base", 1),
    ]
