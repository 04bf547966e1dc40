"""singh2020's curves, figures' choices and claims on planted numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.scripts import load_script
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR
from workflow.papers.singh2020 import claims
from workflow.papers.singh2020.numbers import noise, of_sizes, reinit_curves, size_name

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"
ENCODERS, N_LAYERS = ["base.0", "base.1", "base.2"], 6
RECIPES = ["full", *(f"{kind}-{k}" for kind in ("reinit", "nearzero") for k in range(1, N_LAYERS + 1))]
TEST_ROWS = {"sst2": 1000, "qnli": 1000, "cola": 1000}
SIZES = {"sst2": [1.0, 0.1], "qnli": [1.0, 0.1], "cola": [1.0]}


def sweeps(score) -> pd.DataFrame:
    """`score(task, fraction, layers)`, the same whichever way layers are drawn, but 0.1 higher near zero."""
    rows = []
    for number, encoder in enumerate(ENCODERS):
        for task, fractions in SIZES.items():
            for fraction in fractions:
                about = {"encoder": encoder, "task": task, "fraction": fraction, "seed": 0, "n_train": 100}
                for recipe in RECIPES:
                    layers = int(recipe.partition("-")[2] or 0)
                    value = score(task, fraction, layers) + 0.001 * number + 0.1 * recipe.startswith("near")
                    rows.append(about | {"recipe": recipe, "test_accuracy": value, "test_matthews": value})
    return pd.DataFrame(rows)


def verdicts(found) -> dict[str, str]:
    return {claim.name: claim.verdict for claim in found}


def as_published(task: str, fraction: float, layers: int) -> float:
    """All rows: high until the last two layers; few rows: an earlier fall; CoLA: a straight fall."""
    share = layers / N_LAYERS
    if task == "cola":
        return 0.85 - 0.3 * share
    return 0.9 - 0.3 * share**4 if fraction == 1 else 0.85 - 0.3 * share**1.5


def test_curves_have_the_full_model_at_no_layer():
    curves = reinit_curves(sweeps(as_published), "nearzero")
    curves = curves.query("task == 'qnli' and fraction == 1 and encoder == 'base.0'")
    found = dict(zip(curves["layers"], curves["score"]))
    assert len(found) == N_LAYERS + 1 and found[0] == pytest.approx(0.9) and found[N_LAYERS] == pytest.approx(0.7)
    assert set(reinit_curves(sweeps(as_published), "reinit")["layers"]) == set(range(N_LAYERS + 1))


def test_reinitialisation_claims():
    good = verdicts(claims.reinitialisation(reinit_curves(sweeps(as_published), "reinit"), TEST_ROWS))
    assert set(good.values()) == {HOLDS}, good

    def against(task, fraction, layers):
        share = layers / N_LAYERS
        if task == "cola":
            return 0.9 - 0.3 * (layers >= N_LAYERS / 2)  # a cliff, above the line as often as below
        return 0.9 - 0.2 * np.sqrt(share) if fraction == 1 else 0.6 - 0.3 * share**4

    bad = verdicts(claims.reinitialisation(reinit_curves(sweeps(against), "reinit"), TEST_ROWS))
    assert set(bad.values()) == {FAILS}, bad


def test_a_drop_within_the_noise_has_no_shape():
    """Runs that do not fall are no reason to believe those that do."""
    curves = reinit_curves(sweeps(as_published), "reinit")
    few_rows = dict.fromkeys(TEST_ROWS, 4)  # two standard errors of an accuracy: 0.5
    found = {claim.name: claim for claim in claims.reinitialisation(curves, few_rows)}
    shapes = [name for name in found if name != "little_data_with_pretraining_wins"]
    assert {found[name].verdict for name in shapes} == {UNCLEAR}
    assert "3 of 3 runs fall too little" in found["qnli_is_concave"].evidence
    assert noise("cola", 100) == 0.2 and noise("sst2", 100) == 0.1


def test_a_claim_about_one_task_is_judged_on_it_alone():
    """Of QNLI's curves with few rows the first claims say nothing."""
    worse = reinit_curves(sweeps(as_published), "reinit")
    worse.loc[(worse["task"] == "qnli") & (worse["fraction"] < 1), "score"] -= 0.5
    found = {claim.name: claim for claim in claims.reinitialisation(worse, TEST_ROWS)}
    assert found["little_data_with_pretraining_wins"].verdict == HOLDS
    assert "QNLI -0.250" in found["little_data_with_pretraining_wins"].evidence


def test_shares_that_only_one_panel_has_do_not_count():
    table = pd.DataFrame({"task": ["sst2", "qnli", "qnli"], "fraction": [0.1, 0.1, 0.06]})
    assert list(of_sizes(table, SIZES).index) == [0, 1]


def probes(peak: int, height: float, short_matthews: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {"model": f"{encoder}/pretrained", "task": task, "layer": layer, "training": training, "probe_seed": seed,
             "accuracy": height - 0.05 * abs(layer - peak) + rng.normal(0, 0.001),
             "matthews": short_matthews if training == "short" else height - 0.05 * abs(layer - peak)}
            for encoder in ENCODERS for task in SIZES for layer in range(N_LAYERS + 1)
            for training, seed in (("short", 0), ("short", 1), ("converged", -1))
        ]
    )  # fmt: skip


def test_probing_claims():
    good = verdicts(claims.probing(probes(N_LAYERS - 2, 0.7, 0.01), sweeps(as_published), TEST_ROWS))
    assert set(good.values()) == {HOLDS}, good
    bad = verdicts(claims.probing(probes(N_LAYERS, 0.95, -0.4), sweeps(as_published), TEST_ROWS))
    assert set(bad.values()) == {FAILS}, bad


def test_one_encoder_with_several_seeds_is_weighed_by_seeds():
    one = sweeps(as_published).replace({"encoder": dict(zip(ENCODERS, ["base.0"] * 3))})
    one["seed"] = np.repeat(range(3), len(one) // 3)
    of_base = probes(N_LAYERS - 2, 0.7, 0.01).query("model == 'base.0/pretrained'")
    found = verdicts(claims.probing(of_base, one, TEST_ROWS))
    assert found["probing_stays_below"] == found["cola_probe_finds_nothing"] == HOLDS
    assert found["top_layers_hurt_probing"] == UNCLEAR  # the converged probe of one encoder has no repetitions


def test_without_cola_its_claims_cannot_be_told():
    others = {task: rows for task, rows in TEST_ROWS.items() if task != "cola"}
    curves, of_others = sweeps(as_published).query("task != 'cola'"), probes(3, 0.7, 0.01).query("task != 'cola'")
    found = verdicts(claims.reinitialisation(reinit_curves(curves, "reinit"), others))
    found |= verdicts(claims.probing(of_others, curves, others))
    assert found["cola_is_near_linear"] == found["cola_probe_finds_nothing"] == UNCLEAR
    assert found["qnli_is_concave"] == HOLDS


def moved(distance) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"encoder": encoder, "seed": 0, "task": task, "fraction": fraction, "recipe": recipe, "layer": layer,
             "projection": "output", "norm": "frobenius", "distance": distance(fraction, layer) + 0.001 * number}
            for number, encoder in enumerate(ENCODERS) for task, fractions in SIZES.items() for fraction in fractions
            for recipe in ("full", "reinit-1") for layer in range(1, N_LAYERS + 1)
        ]
    )  # fmt: skip


def test_distance_claims():
    good = verdicts(claims.distances(moved(lambda fraction, layer: 1 + fraction + (1 + fraction) * layer)))
    assert set(good.values()) == {HOLDS}, good
    bad = verdicts(claims.distances(moved(lambda fraction, layer: 5 - fraction - (0.1 + fraction) * layer)))
    assert set(bad.values()) == {FAILS}, bad


def test_figure_1_has_the_paper_s_four_panels():
    panels = load_script("papers/singh2020/figures/fig1").panels_of(
        {"tasks": ["sst2", "qnli"], "last_task": "cola", "fractions": SIZES, "small": {"sst2": 0.1, "qnli": 0.06}}
    )
    assert [[(task, share) for task, share, _ in panel] for panel in panels] == [
        [("sst2", 1.0), ("sst2", 0.1)],
        [("qnli", 1.0), ("qnli", 0.1)],
        [("sst2", 0.1), ("qnli", 0.06)],
        [("cola", 1.0)],
    ]
    assert size_name(0.006) == "0.6 % of the rows"


def test_figure_1_has_no_panel_of_what_is_not_asked_for():
    settings = {"tasks": ["sst2"], "fractions": {"sst2": [1, 0.5]}, "small": {}, "last_task": None}
    panels = load_script("papers/singh2020/figures/fig1").panels_of(settings)
    assert [[(task, share) for task, share, _ in panel] for panel in panels] == [[("sst2", 1), ("sst2", 0.5)]]
