"""singh2020's claims. "Concave" and "where the drop begins" are computed (`curve_shape.py`), not seen; no
threshold was chosen after looking. Every list is over repetitions: encoders and fine-tuning seeds. A claim that the
paper makes of one task is judged on that task; what the others give stands beside it as evidence."""

import numpy as np
import pandas as pd

from workflow.lib.base.verdicts import UNCLEAR, Claim, above, all_of, said
from workflow.lib.plotting.figures import name_of
from workflow.papers.singh2020.curve_shape import concavity, departure, drop_begins
from workflow.papers.singh2020.numbers import metric_of, noise, size_name

STRAIGHT = 0.1  # a curve is near linear if its mean distance from the chord is below this share of the drop
NOTHING = 0.05  # a Matthews correlation that says nothing, or what chance gives with few test rows, if that is more
FEW = 2.5 / 11  # "all but two points" of eleven, and no third

STATEMENTS = {
    "little_data_with_pretraining_wins": "SST-2: the fewest rows with all pre-trained layers beat all rows with none.",
    "less_data_is_less_concave": "SST-2: with less data the score falls earlier: the curve is less concave.",
    "less_data_falls_earlier": "QNLI: with less data the drop begins at fewer re-initialised layers.",
    "qnli_is_concave": "QNLI's curve is concave, whatever the size: it stays high, then falls.",
    "cola_is_near_linear": f"CoLA's curve is near linear (within {STRAIGHT:g} of its drop, on average).",
    "probing_stays_below": "The best probe of frozen layers stays below fine-tuning.",
    "top_layers_hurt_probing": "Without the top layer or the top two the probe scores higher (mean of both).",
    "cola_probe_finds_nothing": "Trained as in the paper, CoLA's probe finds nothing on all but 2 layers of 11.",
    "distance_grows_with_depth": "Fine-tuning moves upper layers further than lower ones.",
    "distance_grows_with_data": "More data move every layer further.",
    "more_data_is_steeper": "With more data the distance grows faster with depth.",
}
RUN = ["encoder", "seed"]


def claim(name: str, verdict: str, evidence: str) -> Claim:
    return Claim("singh2020", name, STATEMENTS[name], verdict, evidence)


def larger(name: str, values: dict[str, list[float]], what: str, digits: int = 3, judged: str | None = None) -> Claim:
    """Above 0 in every series, or in the `judged` one, if it is there; a run that has no number cannot tell."""
    counted = {judged: values[judged]} if judged in values else values
    verdict = all_of([UNCLEAR if np.isnan(of_series).any() else above(of_series) for of_series in counted.values()])
    return claim(name, verdict, f"{what}: " + "; ".join(f"{series} {told(v, digits)}" for series, v in values.items()))


def told(values: list[float], digits: int) -> str:
    missing = int(np.isnan(values).sum())
    return said(values, digits) + (f", {missing} of {len(values)} runs fall too little" if missing else "")


def by_depth(curves: pd.DataFrame) -> dict[tuple, np.ndarray]:
    """(task, fraction, encoder, seed) -> scores by number of re-initialised layers."""
    runs = curves.groupby(["task", "fraction", *RUN], sort=False)
    return {key: run.sort_values("layers")["score"].to_numpy() for key, run in runs}


def pairs_of_sizes(runs: dict[tuple, object]) -> dict[str, list[tuple[tuple, tuple]]]:
    """Task -> (key with the fewest rows, key with all rows), one pair per repetition; only tasks with both."""
    found: dict[str, list] = {}
    for task in dict.fromkeys(key[0] for key in runs):
        sizes = sorted({key[1] for key in runs if key[0] == task})
        if len(sizes) > 1:
            whole = [key for key in runs if key[:2] == (task, sizes[-1])]
            found[name_of(task)] = [((task, sizes[0], *key[2:]), key) for key in whole]
    return found


def reinitialisation(curves: pd.DataFrame, test_rows: dict[str, int]) -> list[Claim]:
    """`test_rows`: by task. A drop within the noise of so many rows has no shape."""
    runs = by_depth(curves)
    tolerance = {task: noise(task, rows) for task, rows in test_rows.items()}
    bend = {key: concavity(run, tolerance[key[0]]) for key, run in runs.items()}
    starts = {key: begin(run, tolerance[key[0]]) for key, run in runs.items()}
    lost = {key: run[-1] for key, run in runs.items()}
    unharmed = {key: run[0] for key, run in runs.items()}
    gains = {task: [unharmed[few] - lost[many] for few, many in pairs] for task, pairs in pairs_of_sizes(runs).items()}
    qnli = {key[1]: [bend[other] for other in runs if other[:2] == key[:2]] for key in runs if key[0] == "qnli"}
    cola = [departure(run, tolerance["cola"]) for key, run in runs.items() if key[0] == "cola"]
    linear = larger("cola_is_near_linear", {"CoLA": [STRAIGHT - far for far in cola]}, "")
    linear.evidence = f"mean distance from a straight line, as a share of the drop: CoLA {told(cola, 3)}"
    return [
        larger("little_data_with_pretraining_wins", gains, "fewest rows, no layer re-initialised, minus all rows, all",
               judged="SST-2"),
        larger("less_data_is_less_concave", differences(bend), "concavity with all rows minus with the fewest",
               judged="SST-2"),
        larger("less_data_falls_earlier", differences(starts), "layers later with all rows", 1, judged="QNLI"),
        larger("qnli_is_concave", {size_name(share): bends for share, bends in qnli.items()}, "concavity"),
        linear,
    ]  # fmt: skip


def differences(of_run: dict[tuple, float]) -> dict[str, list[float]]:
    """All rows minus the fewest, by task and repetition."""
    return {task: [of_run[many] - of_run[few] for few, many in pairs] for task, pairs in pairs_of_sizes(of_run).items()}


def begin(scores: np.ndarray, tolerance: float) -> float:
    found = drop_begins(scores, tolerance=tolerance)
    return float("nan") if found is None else float(found)


def probing(probes: pd.DataFrame, sweeps: pd.DataFrame, test_rows: dict[str, int]) -> list[Claim]:
    whole = sweeps["fraction"] == sweeps.groupby("task")["fraction"].transform("max")
    full = sweeps[(sweeps["recipe"] == "full") & whole]
    below, hurts = {}, {}
    for task, here in probes.groupby("task", sort=False):
        metric = metric_of(task)
        tuned = full[full["task"] == task].set_index(RUN)[f"test_{metric}"]
        here = here.assign(encoder=here["model"].str.partition("/")[0])
        # the converged probe: the paper's short one may say more of its training than of the layers
        converged = here[here["training"] == "converged"].pivot(index="encoder", columns="layer", values=metric)
        below[name_of(task)] = list(tuned - converged.max(axis=1).reindex(tuned.index, level="encoder"))
        top = converged.columns.max()
        fewer = [layer for layer in (top - 1, top - 2) if layer > 0]
        hurts[name_of(task)] = list(converged[fewer].mean(axis=1) - converged[top])
    return [
        larger("probing_stays_below", below, "fine-tuned minus the best converged probe"),
        larger("top_layers_hurt_probing", {k: v for k, v in hurts.items() if k != name_of("cola")}, "gain by removing"),
        nothing_found(probes, max([NOTHING] + [noise(task, n) for task, n in test_rows.items() if task == "cola"])),
    ]


def nothing_found(probes: pd.DataFrame, limit: float) -> Claim:
    here = probes[(probes["task"] == "cola") & (probes["training"] == "short") & (probes["layer"] > 0)]
    # per run, as in the paper: correlations by chance have either sign and would cancel in a mean over runs
    shares = (here["matthews"].abs() > limit).groupby([here["model"], here["probe_seed"]]).mean()
    by_encoder = shares.groupby("model").mean()
    # beside other encoders, the probes of one are no repetitions
    found = list(by_encoder if len(by_encoder) > 1 else shares)
    verdict = UNCLEAR if here["layer"].nunique() < 3 else above([FEW - share for share in found])
    evidence = f"share of layers beyond {limit:.2g}: {said(found, 2)}"
    return claim("cola_probe_finds_nothing", verdict, evidence)


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
