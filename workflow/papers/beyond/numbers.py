"""Where does fine-tuning act? The methods' answers on one scale: change by layer, 1 to L, as a share of the largest."""

from itertools import combinations

import pandas as pd

METHODS = {
    "rsa": "RSA (1 - similarity)",
    "spatial": "label geometry (1 - similarity)",
    "weights": "weight distance, relative",
    "freezing": "score drop when this layer is frozen as well",
    "truncation": "score gain when this layer is added",
    "reinit": "score drop when this layer is re-initialised as well",
}


def marginal_costs(scores: dict[str, float], n_layers: int) -> dict[str, list[float]]:
    """What each layer is worth on top of its neighbours. `scores` by recipe; `full` closes the other curves.

    freezing    the embeddings and layers 1..k-1 are frozen, and now k as well
    truncation  layers 1..k-1 are kept, and now k as well (the first has nothing below it to compare with)
    reinit      layers k+1..L are re-initialised, and now k as well
    """
    frozen = [scores[f"freeze-{k}"] for k in range(n_layers + 1)]  # 0: the embeddings alone, which are no layer's cost
    kept = [float("nan"), *(scores[f"truncate-{k}"] for k in range(1, n_layers)), scores["full"]]
    reinitialised = [scores["full"], *(scores[f"reinit-{k}"] for k in range(1, n_layers + 1))]
    return {
        "freezing": [frozen[k - 1] - frozen[k] for k in range(1, n_layers + 1)],
        "truncation": [kept[k] - kept[k - 1] for k in range(1, n_layers + 1)],
        "reinit": [reinitialised[n_layers - k] - reinitialised[n_layers - k + 1] for k in range(1, n_layers + 1)],
    }


def normalised(changes: pd.DataFrame) -> pd.DataFrame:
    """Adds `share`: of the largest change that a method sees in a model. NaN where it sees none."""
    largest = changes["change"].abs().groupby([changes["model"], changes["method"]]).transform("max")
    return changes.assign(share=changes["change"] / largest.where(largest > 0))


def agreement(changes: pd.DataFrame) -> pd.DataFrame:
    """model, one, other, correlation, layers (that both have): every pair of methods, in every model.

    Spearman's, over the layers that both have; NaN with fewer than three or a constant.
    """
    rows = []
    for model, here in changes.groupby("model", sort=False):
        wide = here.pivot(index="layer", columns="method", values="change").sort_index()
        correlations = wide.corr(method="spearman", min_periods=3)
        for one, other in combinations([name for name in METHODS if name in wide], 2):
            found = {"correlation": correlations.loc[one, other], "layers": len(wide[[one, other]].dropna())}
            rows.append({"model": model, "one": one, "other": other, **found})
    return pd.DataFrame(rows)
