"""Where fine-tuning acts: the scale on which methods are compared, and how their agreement is counted."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from workflow.papers.beyond.numbers import agreement, marginal_costs, normalised


def test_a_layer_is_worth_what_its_absence_costs():
    """Planted: layer k is worth k points, by each of the three ways to take it away."""
    worth = {1: 1.0, 2: 2.0, 3: 3.0}
    full, embeddings = 10.0, 0.7
    scores = {"full": full, "freeze-0": full - embeddings}
    for k in (1, 2, 3):
        scores[f"freeze-{k}"] = full - embeddings - sum(worth[layer] for layer in range(1, k + 1))
        scores[f"reinit-{k}"] = full - sum(worth[layer] for layer in range(3 - k + 1, 4))
    for k in (1, 2):
        scores[f"truncate-{k}"] = full - sum(worth[layer] for layer in range(k + 1, 4))
    costs = marginal_costs(scores, 3)
    assert costs["freezing"] == pytest.approx([1, 2, 3]) and costs["reinit"] == pytest.approx([1, 2, 3])
    assert np.isnan(costs["truncation"][0]) and costs["truncation"][1:] == pytest.approx([2, 3])


def changes(**methods) -> pd.DataFrame:
    return pd.DataFrame(
        [{"model": "m", "method": method, "layer": layer + 1, "change": value}
         for method, values in methods.items() for layer, value in enumerate(values)]
    )  # fmt: skip


def test_shares_are_of_the_largest_change():
    shares = normalised(changes(rsa=[0.1, 0.2, 0.4], freezing=[-0.3, 0.1, 0.0], weights=[0.0, 0.0, 0.0]))
    assert shares[shares["method"] == "rsa"]["share"].tolist() == pytest.approx([0.25, 0.5, 1.0])
    assert shares[shares["method"] == "freezing"]["share"].tolist() == pytest.approx([-1.0, 1 / 3, 0.0])
    assert shares[shares["method"] == "weights"]["share"].isna().all()


def test_agreement_is_spearman_s_over_layers_that_both_have():
    table = agreement(changes(rsa=[1, 2, 3, 4], weights=[2, 4, 9, 16], reinit=[4, 3, 2, 1]))
    assert set(table["layers"]) == {4}
    found = {(row.one, row.other): row.correlation for row in table.itertuples()}
    assert found == pytest.approx({("rsa", "weights"): 1, ("rsa", "reinit"): -1, ("weights", "reinit"): -1})
    one, other = np.random.default_rng(0).integers(5, size=(2, 12)).astype(float)  # with ties
    one[3] = np.nan
    known = np.arange(12) != 3
    row = agreement(changes(rsa=one, weights=other)).iloc[0]
    assert row["layers"] == 11
    assert row["correlation"] == pytest.approx(spearmanr(one[known], other[known]).statistic)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("one", [[1.0, 2.0, np.nan], [1.0, 1.0, 1.0]], ids=["two layers", "a constant"])
def test_too_little_to_rank_is_no_agreement(one):
    assert np.isnan(agreement(changes(rsa=one, weights=[1.0, 2.0, 3.0]))["correlation"].item())
