"""singh2020's claims. "Concave" and "where the drop begins" are computed (`workflow/lib/curve_shape.py`), not seen; no
threshold was chosen after looking. Every list is over repetitions: encoders and fine-tuning seeds."""

import numpy as np
import pandas as pd

from workflow.lib.claims.verdicts import UNCLEAR, Claim, above, all_of, said
from workflow.lib.curve_shape import concavity, drop_begins
from workflow.lib.figures import name_of
from workflow.lib.singh2020 import metric_of

STRAIGHT = 0.1  # a curve is near linear if its mean distance from the chord is below this share of the drop
NOTHING = 0.05  # a Matthews correlation that says nothing

STATEMENTS = {
    "little_data_with_pretraining_wins": "The fewest rows with all pre-trained layers beat all rows with none.",
    "less_data_is_less_concave": "With less data the score falls earlier: the curve over layers is less concave.",
    "less_data_falls_earlier": "With less data the drop begins at fewer re-initialised layers.",
    "qnli_is_concave": "QNLI's curve is concave: it stays high, then falls.",
    "cola_is_near_linear": f"CoLA's curve is near linear (within {STRAIGHT:g} of its drop).",
    "probing_stays_below": "The best probe of frozen layers stays below fine-tuning.",
    "top_layers_hurt_probing": "Removing one or two top layers raises the probe's score.",
    "cola_probe_finds_nothing": f"Trained as in the paper, CoLA's probe is within {NOTHING:g} of 0 on all but 2.",
    "distance_grows_with_depth": "Fine-tuning moves upper layers further than lower ones.",
    "distance_grows_with_data": "More data move every layer further.",
    "more_data_is_steeper": "With more data the distance grows faster with depth.",
}
RUN = ["encoder", "seed"]


def claim(name: str, verdict: str, evidence: str) -> Claim:
    return Claim("singh2020", name, STATEMENTS[name], verdict, evidence)


def larger(name: str, values: dict[str, list[float]], what: str, digits: int = 3, threshold: float = 0.0) -> Claim:
    known = {series: [v for v in of_series if v == v] for series, of_series in values.items()}
    verdict = all_of([above(of_series, threshold) for of_series in known.values()])
    return claim(name, verdict, f"{what}: " + "; ".join(f"{series} {said(v, digits)}" for series, v in known.items()))


def by_depth(curves: pd.DataFrame) -> dict[tuple, np.ndarray]:
    """(task, fraction, encoder, seed) -> scores by number of layers drawn anew."""
    runs = curves.groupby(["task", "fraction", *RUN], sort=False)
    return {key: run.sort_values("layers")["score"].to_numpy() for key, run in runs}


def pairs_of_sizes(runs: dict[tuple, np.ndarray]) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """Task -> (curve with the fewest rows, curve with all rows), one pair per repetition; only tasks with both."""
    found: dict[str, list] = {}
    for task in dict.fromkeys(key[0] for key in runs):
        sizes = sorted({key[1] for key in runs if key[0] == task})
        if len(sizes) > 1:
            repetitions = [key[2:] for key in runs if key[:2] == (task, sizes[-1])]
            found[name_of(task)] = [(runs[task, sizes[0], *run], runs[task, sizes[-1], *run]) for run in repetitions]
    return found


def reinitialisation(curves: pd.DataFrame) -> list[Claim]:
    runs = by_depth(curves)
    sizes = pairs_of_sizes(runs)
    gains = {task: [few[0] - many[-1] for few, many in pairs] for task, pairs in sizes.items()}
    bends = {task: [concavity(many) - concavity(few) for few, many in pairs] for task, pairs in sizes.items()}
    starts = {task: [begin(many) - begin(few) for few, many in pairs] for task, pairs in sizes.items()}
    whole = {task: max(key[1] for key in runs if key[0] == task) for task in {key[0] for key in runs}}
    shape = {task: [concavity(run) for key, run in runs.items() if key[:2] == (task, whole[task])] for task in whole}
    straight = [STRAIGHT - abs(bend) for bend in shape.get("cola", [])]
    linear = larger("cola_is_near_linear", {"CoLA": straight}, "")
    linear.evidence = f"concavity: CoLA {said([bend for bend in shape.get('cola', []) if bend == bend], 3)}"
    return [
        larger("little_data_with_pretraining_wins", gains, "fewest rows, nothing drawn anew, minus all rows, all anew"),
        larger("less_data_is_less_concave", bends, "concavity with all rows minus with the fewest"),
        larger("less_data_falls_earlier", starts, "layers later with all rows", 1),
        larger("qnli_is_concave", {"QNLI": shape.get("qnli", [])}, "concavity"),
        linear,
    ]


def begin(scores: np.ndarray) -> float:
    found = drop_begins(scores)
    return float("nan") if found is None else float(found)


def probing(probes: pd.DataFrame, sweeps: pd.DataFrame) -> list[Claim]:
    whole = sweeps["fraction"] == sweeps.groupby("task")["fraction"].transform("max")
    full = sweeps[(sweeps["recipe"] == "full") & whole]
    below, hurts = {}, {}
    for task, here in probes.groupby("task", sort=False):
        metric = metric_of(task)
        tuned = full[full["task"] == task].groupby("encoder")[f"test_{metric}"].mean()
        here = here.assign(encoder=here["model"].str.partition("/")[0])
        wide = here.groupby(["training", "encoder", "layer"])[metric].mean().unstack("layer")
        converged, top = wide.loc["converged"], wide.columns.max()
        below[name_of(task)] = list((tuned - converged.max(axis=1)).dropna())
        # of the converged probe: the paper's short one may say more of its training than of the layers
        fewer = [layer for layer in (top - 1, top - 2) if layer > 0]
        hurts[name_of(task)] = list(converged[fewer].max(axis=1) - converged[top])
    return [
        larger("probing_stays_below", below, "fine-tuned minus the best converged probe"),
        larger("top_layers_hurt_probing", {k: v for k, v in hurts.items() if k != name_of("cola")}, "gain by removing"),
        nothing_found(probes),
    ]


def nothing_found(probes: pd.DataFrame) -> Claim:
    here = probes[(probes["task"] == "cola") & (probes["training"] == "short") & (probes["layer"] > 0)]
    # per run, as in the paper: correlations by chance have either sign and would cancel in a mean over runs
    found = (here["matthews"].abs() > NOTHING).groupby([here["model"], here["probe_seed"]]).sum()
    n_layers = here["layer"].nunique()
    verdict = UNCLEAR if n_layers < 3 else above(list(2.5 - found))
    beyond = said(list(found.astype(float)))
    return claim("cola_probe_finds_nothing", verdict, f"layers beyond it, of {n_layers}: {beyond}")


def distances(moved: pd.DataFrame) -> list[Claim]:
    full = moved[moved["recipe"] == "full"]
    first = full[["projection", "norm"]].drop_duplicates().iloc[0]
    full = full[(full["projection"] == first["projection"]) & (full["norm"] == first["norm"])]
    rising, growing, steeper = {}, {}, {}
    for task, here in full.groupby("task", sort=False):
        wide = here.groupby(["fraction", *RUN, "layer"])["distance"].mean().unstack("layer")
        slopes = wide.apply(lambda row: np.polyfit(row.index, row.to_numpy(), 1)[0], axis=1)
        sizes = sorted(here["fraction"].unique())
        rising[name_of(task)] = list(slopes.loc[sizes[-1]])
        if len(sizes) > 1:
            growing[name_of(task)] = list((wide.loc[sizes[-1]] - wide.loc[sizes[0]]).min(axis=1))
            steeper[name_of(task)] = list(slopes.loc[sizes[-1]] - slopes.loc[sizes[0]])
    return [
        larger("distance_grows_with_depth", rising, "distance gained per layer, all rows"),
        larger("distance_grows_with_data", growing, "all rows minus the fewest, least of all layers"),
        larger("more_data_is_steeper", steeper, "difference of the gains per layer"),
    ]
