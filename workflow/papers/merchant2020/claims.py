"""merchant2020's claims. Thresholds say what "much smaller" or "comparable" is taken to mean; none was chosen after
looking. Every list is over repetitions: encoders, each pre-trained from its own seed, and fine-tuning seeds."""

import pandas as pd

from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR, Claim, above, all_of, said
from workflow.papers.merchant2020.numbers import BASELINES, by_series, series_name

MUCH = 0.5  # a tuned model's loss is "much smaller" below this share of the smaller baseline's
COMPARABLE = 0.95  # of the full model's score
MINIMAL = 0.03  # change of Spearman's correlation
LITTLE = 0.05  # change of a description length that is "minimal"
SYNTACTIC = ("ep_constituents", "ep_dependencies")

STATEMENTS = {
    "no_forgetting": f"Fine-tuning costs edge probes less than {MUCH:.0%} of what lexical or randomised encoders lack.",
    "dep_raises_syntax": "Dep fine-tuning raises syntactic edge probes (mean of constituents and dependencies).",
    "dep_raises_structure": "Dep fine-tuning raises structural probes from the middle layer upwards.",
    "others_keep_structure": f"Others change structural probes by under {MINIMAL:g} below the last layer, more in it.",
    "rsa_falls_upwards": "Similarity to Base falls towards the top.",
    "dep_changes_deepest": "In the middle layers Dep differs more from Base than the other tasks do.",
    "own_text_changes_more": "In the upper half of the layers the task's own text differs more than general text.",
    "freezing_half_is_harmless": f"MNLI, lower half frozen, keeps {COMPARABLE:g} of its score above chance.",
    "dep_needs_most_layers": "Lower half frozen, Dep loses a larger share of its score above chance than MNLI.",
    "lower_layers_suffice": f"The first 7 of 12 layers keep {COMPARABLE:g} of the others' scores above chance.",
    "mdl_differs_little": f"Description lengths change by less than {LITTLE:.0%} on most tasks.",
    "dep_shortens_dependencies": "Dep fine-tuning shortens the description of dependencies.",
}


def claim(name: str, verdict: str, evidence: str) -> Claim:
    return Claim("merchant2020", name, STATEMENTS[name], verdict, evidence)


def larger(name: str, values: dict[str, list[float]], what: str, digits: int = 3, threshold: float = 0.0) -> Claim:
    """Holds where every series lies above the threshold."""
    verdict = all_of([above(of_series, threshold) for of_series in values.values()])
    evidence = "; ".join(f"{series} {said(of_series, digits)}" for series, of_series in values.items())
    return claim(name, verdict, f"{what}: {evidence}")


def no_forgetting(deltas: pd.DataFrame, tasks: list[str]) -> Claim:
    """Mean loss over edge tasks, against each baseline's mean; what one task gains does not pay for another."""
    lost = deltas.assign(lost=(-deltas["delta"]).clip(lower=0))
    lost = lost.groupby(["series", "encoder", "seed"], sort=False)["lost"].mean()
    verdict = all_of(
        [above([MUCH * lost[name].mean() - loss for loss in lost[task]]) for task in tasks for name in BASELINES]
    )
    evidence = "; ".join(f"{series_name(name)} {said(list(lost[name]))}" for name in (*tasks, *BASELINES))
    return claim("no_forgetting", verdict, f"points lost, mean over tasks: {evidence}")


def syntax(deltas: pd.DataFrame, parser: str) -> Claim:
    here = deltas[(deltas["series"] == parser) & deltas["task"].isin(SYNTACTIC)]
    if here.empty:
        return claim("dep_raises_syntax", UNCLEAR, "no such edge task")
    mean = list(here.groupby(["encoder", "seed"], sort=False)["delta"].mean())
    tasks = here.groupby("task", sort=False)["delta"]
    each = [f"{task.removeprefix('ep_')} {said(list(gains))}" for task, gains in tasks]
    return claim("dep_raises_syntax", above(mean), f"points over Base: mean {said(mean)}; {'; '.join(each)}")


def structural_changes(scores: pd.DataFrame) -> pd.DataFrame:
    """probe, series, encoder, seed, layer, change: Spearman minus that of the same encoder's Base."""
    spearman = scores[scores["measure"] == "spearman"]
    base = spearman[spearman["series"] == "base"].groupby(["probe", "encoder", "layer"])["value"].mean()
    tuned = spearman[spearman["series"] != "base"]
    before = base.reindex(pd.MultiIndex.from_frame(tuned[["probe", "encoder", "layer"]])).to_numpy()
    return tuned.assign(change=tuned["value"] - before)


def structure(scores: pd.DataFrame, tasks: list[str], parser: str) -> list[Claim]:
    changes, run = structural_changes(scores), ["encoder", "seed"]
    top = changes["layer"].max()
    upper = changes[(changes["layer"] >= top / 2) & (changes["series"] == parser)]
    raised = {probe: list(rows.groupby(run)["change"].mean()) for probe, rows in upper.groupby("probe")}
    drops, below = {}, {}
    for series, rows in changes[changes["series"].isin([task for task in tasks if task != parser])].groupby("series"):
        at_last = rows[rows["layer"] == top].groupby(run)["change"].mean()
        under = rows[rows["layer"].between(1, top - 1)]
        drops[series_name(series)] = list(under.groupby(run)["change"].mean() - at_last)
        below[series_name(series)] = list(under.assign(size=under["change"].abs()).groupby(run)["size"].max())
    verdicts = [above(values) for values in drops.values()]
    verdicts += [above([MINIMAL - value for value in values]) for values in below.values()]
    evidence = "; ".join(f"{name} at most {said(below[name], 3)} below, {said(drops[name], 3)} lower in it"
                         for name in drops)  # fmt: skip
    return [
        larger("dep_raises_structure", raised, "mean Spearman over Base in the upper layers"),
        claim("others_keep_structure", all_of(verdicts), f"change of Spearman: {evidence}"),
    ]


def similarity_by_layer(similarity: pd.DataFrame, text: str) -> pd.DataFrame:
    """(series, encoder, seed) x layer, mean over token samples."""
    here = similarity[similarity["text"] == text]
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
    for task, text in own.items():
        upper = [layer for layer in by_layer if layer > top / 2]
        inside = similarity_by_layer(similarity, text).loc[task, upper].mean(axis=1)
        gaps[series_name(task)] = list((by_layer.loc[task, upper].mean(axis=1) - inside).dropna())
    return [
        larger("rsa_falls_upwards", falls, "first layer minus last"),
        larger("dep_changes_deepest", deeper, "similarity lower by"),
        larger("own_text_changes_more", gaps, "general minus own text"),
    ]


def kept_shares(
    curves: pd.DataFrame, depth_of: dict[str, int], whole_of: dict[str, int], chance: dict[str, float]
) -> dict[str, list[float]]:
    """By task: score above chance at a depth as a share of the full model's, one per repetition."""
    shares: dict[str, list[float]] = {}
    for (task, encoder, _), run in curves.groupby(["task", "encoder", "seed"], sort=False):
        score = run.set_index("depth")["score"] - chance.get(task, 0.0)
        whole = score[whole_of[encoder]]
        shares.setdefault(task, []).append(score[depth_of[encoder]] / whole if whole > 0 else float("nan"))
    return shares


def depths(
    freeze: pd.DataFrame,
    truncate: pd.DataFrame,
    layers: dict[str, int],
    heads: dict[str, str],
    chance: dict[str, float],
) -> list[Claim]:
    """The paper's MNLI stands for classification: the first task with head `sequence`.

    `chance`: what a guess scores, by task; without it a model that learnt nothing would keep most of its score. (LAS
    begins at 0.)
    """
    parser = next((task for task, head in heads.items() if head == "parser"), "none")
    classifier = next((task for task, head in heads.items() if head == "sequence"), None)
    half = {encoder: n // 2 for encoder, n in layers.items()}
    frozen = kept_shares(freeze, half, dict.fromkeys(layers, 0), chance)
    # "near full by layer 6", counted from 0, is seven of twelve
    lower = {encoder: round(7 * n / 12) for encoder, n in layers.items()}
    cut = kept_shares(truncate, lower, layers, chance)
    of_half, of_lower = (
        " or ".join(dict.fromkeys(f"{depth[encoder]} of {n}" for encoder, n in layers.items()))
        for depth in (half, lower)
    )
    costs = [a - b for a, b in zip(frozen.get(classifier, []), frozen.get(parser, []))]
    kept = {series_name(task): cut[task] for task in cut if task != parser}
    of_classifier = {series_name(classifier or "none"): frozen.get(classifier, [])}
    return [
        larger("freezing_half_is_harmless", of_classifier, f"share kept, {of_half} frozen", threshold=COMPARABLE),
        larger("dep_needs_most_layers", {"its share kept minus Dep's": costs}, f"{of_half} frozen"),
        larger("lower_layers_suffice", kept, f"share kept by {of_lower}", threshold=COMPARABLE),
    ]


def description(codelength: pd.DataFrame, parser: str) -> list[Claim]:
    if "part" not in codelength:
        names = ("mdl_differs_little", "dep_shortens_dependencies")
        return [claim(name, UNCLEAR, "no task with one label per target") for name in names]
    codelength = by_series(codelength)
    total = codelength[codelength["part"] == "total"]
    base = total[total["series"] == "base"].groupby(["task", "encoder"])["bits"].mean()
    tuned = total[total["series"] != "base"]
    before = base.reindex(pd.MultiIndex.from_frame(tuned[["task", "encoder"]])).to_numpy()
    cells = tuned.assign(change=tuned["bits"] / before - 1).groupby(["task", "series"])["change"].apply(list)
    little = cells.map(lambda values: above([LITTLE - abs(value) for value in values]))
    sure, possible, n = (little == HOLDS).sum(), (little != FAILS).sum(), len(cells)
    verdict = HOLDS if 2 * sure > n else FAILS if 2 * possible <= n else UNCLEAR
    means = cells.map(lambda values: sum(values) / len(values)).sort_values(key=abs)
    (task, series), value = means.index[-1], means.iloc[-1]
    evidence = f"surely in {sure} of {n} cells, perhaps in {possible}; largest change {task.removeprefix('ep_')}/"
    evidence += f"{series_name(series)} {value:+.1%}"
    shorter = [-100 * change for change in cells.get(("ep_dependencies", parser), [])]
    return [
        claim("mdl_differs_little", verdict, evidence),
        larger("dep_shortens_dependencies", {"Dep": shorter}, "per cent shorter than Base", 1),
    ]
