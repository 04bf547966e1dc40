"""Where does fine-tuning act? The methods' answers on one scale: change by layer, 1 to L, as a share of the largest."""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

METHODS = {
    "rsa": "RSA (1 - similarity)",
    "spatial": "label geometry (1 - similarity)",
    "weights": "weight distance, relative",
    "freezing": "score lost by freezing it too",
    "truncation": "score gained by adding it",
    "reinit": "score lost by redrawing it too",
}


def marginal_costs(scores: dict[str, float], n_layers: int) -> dict[str, list[float]]:
    """What each layer is worth on top of its neighbours. `scores` by recipe; `full` closes the other curves.

    freezing    the embeddings and layers 1..k-1 are frozen, and now k as well
    truncation  layers 1..k-1 are kept, and now k as well (the first has nothing below it to compare with)
    reinit      layers k+1..L are drawn anew, and now k as well
    """
    frozen = [scores[f"freeze-{k}"] for k in range(n_layers + 1)]  # 0: the embeddings alone, which are no layer's cost
    kept = [float("nan"), *(scores[f"truncate-{k}"] for k in range(1, n_layers)), scores["full"]]
    redrawn = [scores["full"], *(scores[f"reinit-{k}"] for k in range(1, n_layers + 1))]
    return {
        "freezing": [frozen[k - 1] - frozen[k] for k in range(1, n_layers + 1)],
        "truncation": [kept[k] - kept[k - 1] for k in range(1, n_layers + 1)],
        "reinit": [redrawn[n_layers - k] - redrawn[n_layers - k + 1] for k in range(1, n_layers + 1)],
    }


def normalised(changes: pd.DataFrame) -> pd.DataFrame:
    """Adds `share`: of the largest change that a method sees in a model. NaN where it sees none."""
    largest = changes["change"].abs().groupby([changes["model"], changes["method"]]).transform("max")
    return changes.assign(share=changes["change"] / largest.where(largest > 0))


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's, over the layers that both have; NaN with fewer than three or a constant."""
    known = ~np.isnan(one) & ~np.isnan(other)
    ranks = [rankdata(values[known]) for values in (one, other)]
    if known.sum() < 3 or not all(values.std() for values in ranks):
        return float("nan")
    return float(np.corrcoef(ranks)[0, 1])


def agreement(changes: pd.DataFrame) -> pd.DataFrame:
    """model, one, other, correlation, layers (that both have): every pair of methods, in every model."""
    rows = []
    for model, here in changes.groupby("model", sort=False):
        wide = here.pivot(index="layer", columns="method", values="change").sort_index()
        for one, other in combinations([name for name in METHODS if name in wide], 2):
            correlation = rank_correlation(wide[one].to_numpy(), wide[other].to_numpy())
            layers = len(wide[[one, other]].dropna())
            rows.append({"model": model, "one": one, "other": other, "correlation": correlation, "layers": layers})
    return pd.DataFrame(rows)
