"""singh2020's curves, figures' choices, numbers and claims on planted outcomes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import matthews_corrcoef

from tests.papers.planted import expected_on_own_numbers, right_rows, verdicts
from tests.papers.test_plans import plan_of
from tests.scripts import load_script
from workflow.lib.base.measured import compare, summarised
from workflow.lib.base.resampling import REPLICATES
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR
from workflow.papers.singh2020.claims import all_claims
from workflow.papers.singh2020.estimates import CurveEstimate, like_probes, minus, repeated
from workflow.papers.singh2020.measured import TOLERANCES, measured, of_sizes_table
from workflow.papers.singh2020.numbers import (
    above_null_rate,
    curves_by_size,
    layers_off_zero,
    line_through,
    noise,
    of_sizes,
    reinit_curves,
    resampled_scores,
    size_name,
    thirds,
)

N_LAYERS, N_ROWS = 12, 2000
SIZES = {"sst2": [1, 0.1, 0.01], "qnli": [1, 0.1, 0.01], "cola": [1]}
SMALL = {"sst2": 0.01, "qnli": 0.006}
SETTINGS = {"tasks": list(SIZES), "fractions": SIZES, "small": SMALL, "initialiser": "reinit"}
TEST_ROWS = dict.fromkeys(SIZES, N_ROWS)
ENCODERS = tuple((f"bert.{number}", number) for number in range(3))  # as in the demo
SEEDS = tuple(("bert.0", seed) for seed in range(3))  # as in the paper preset
ONE_RUN = (("bert.0", 0),)
LOST = np.arange(N_LAYERS + 1)


def falling(high: float, low: float, power: float) -> np.ndarray:
    return high - (high - low) * (LOST / N_LAYERS) ** power


def breaking_down(high: float, low: float, at: int) -> np.ndarray:
    """High until layer `at`, counted from below, is re-initialised; then a straight way down."""
    return np.interp(LOST, [0, N_LAYERS - at, N_LAYERS], [high, high, low])


def papers_scores() -> dict[tuple[str, float], np.ndarray]:
    """What section 6.1 says, by number of re-initialised layers; of most only the order is known."""
    return {
        ("sst2", 1): falling(0.93, 0.82, 4),
        ("sst2", 0.1): falling(0.90, 0.77, 2.5),
        ("sst2", 0.01): falling(0.86, 0.715, 1.5),  # the middle third: 5 points
        ("qnli", 1): breaking_down(0.91, 0.62, 3),
        ("qnli", 0.1): breaking_down(0.87, 0.57, 4),
        ("qnli", 0.01): breaking_down(0.82, 0.51, 5),
        ("qnli", 0.006): np.array([0.8] * 9 + [0.62] + [0.5] * 3),
        ("cola", 1): falling(0.56, 0.08, 1),
    }


def papers_probes() -> dict[tuple[str, str], np.ndarray]:
    """What section 6.2 and appendix B say, by number of layers removed; the last is without any layer."""
    tops = [0.80, 0.82, 0.84]
    sst2 = np.array([*tops, *np.linspace(0.81, 0.53, 9), 0.51])
    qnli = np.array([0.70, 0.72, 0.74, 0.735, 0.73, 0.725, 0.72, 0.60, 0.59, 0.58, 0.57, 0.56, 0.5])
    cola = np.array([0.0, 0.2, 0.15] + [0.0] * 10)
    short = {"sst2": sst2, "qnli": qnli, "cola": cola}
    return {(task, training): curve + 0.02 * (training == "converged") for task, curve in short.items()
            for training in ("short", "converged")}  # fmt: skip


def papers_distances() -> dict[tuple[str, float], np.ndarray]:
    """What section 6.3 and appendix B say, by layer."""
    layers = np.arange(1, N_LAYERS + 1)
    size = {1: 3.0, 0.1: 2.0, 0.01: 1.0}
    found = {(task, share): size[share] * (0.2 + 0.08 * layers) for task in ("sst2", "qnli") for share in size}
    return found | {("cola", 1): 1 + 0.01 * layers + 0.2 * (-1) ** layers}


def answers(task: str, score: float) -> dict:
    """Balanced labels; a Matthews correlation of m is that of (1 + m) / 2 right answers in either class."""
    accuracy = (1 + score) / 2 if task == "cola" else score
    truth = np.repeat([0, 1], N_ROWS // 2)
    right = np.tile(right_rows(accuracy, N_ROWS // 2, seed=1), 2)
    return {"row_truth": truth, "row_guess": np.where(right, truth, 1 - truth)}


def tables_of(runs=ENCODERS, scores=None, probes=None, distances=None) -> dict[str, pd.DataFrame]:
    """The paper's own numbers, or others, in runs that hardly differ."""
    scores, probes = papers_scores() | (scores or {}), papers_probes() | (probes or {})
    distances = papers_distances() | (distances or {})
    sweeps, moved, probed = [], [], []
    for number, (encoder, seed) in enumerate(runs):
        slightly = 0.001 * number
        for (task, share), curve in scores.items():
            about = {"encoder": encoder, "seed": seed, "task": task, "fraction": float(share), "n_train": 670}
            for lost, score in enumerate(curve + slightly):
                measured = {"test_accuracy": score, "test_matthews": score} | answers(task, score)
                sweeps.append(about | {"recipe": f"reinit-{lost}" if lost else "full"} | measured)
                near = {"recipe": f"nearzero-{lost}", "test_accuracy": score + 0.1, "test_matthews": score + 0.1}
                sweeps += [about | near | answers(task, score)] if lost else []
        for (task, share), curve in distances.items():
            about = {"encoder": encoder, "seed": seed, "task": task, "fraction": float(share), "norm": "frobenius"}
            moved += [about | {"recipe": recipe, "layer": layer, "projection": projection, "distance": distance}
                      for projection in ("output", "query") for recipe in ("full", "reinit-1")
                      for layer, distance in enumerate(curve * (1 + slightly), start=1)]  # fmt: skip
    for number, encoder in enumerate(dict.fromkeys(encoder for encoder, _ in runs)):
        for (task, training), curve in probes.items():
            about = {"model": f"{encoder}/pretrained", "task": task, "training": training}
            for seed in (0, 1, 2) if training == "short" else (-1,):
                probed += [about | {"layer": N_LAYERS - lost, "probe_seed": seed, "accuracy": score, "matthews": score}
                           for lost, score in enumerate(curve + 0.001 * number + 0.0005 * seed)]  # fmt: skip
    return {"scores": reinit_curves(pd.DataFrame(sweeps), "reinit"), "probes": pd.DataFrame(probed),
            "distances": pd.DataFrame(moved)}  # fmt: skip


def judge(tables: dict[str, pd.DataFrame], test_rows: dict[str, int] = TEST_ROWS) -> dict:
    return {claim.name: claim for claim in all_claims(tables, SETTINGS, test_rows)}


# ---- claims


@pytest.mark.parametrize("runs", [ENCODERS, SEEDS], ids=["three encoders", "three seeds of one encoder"])
def test_every_claim_holds_on_the_papers_own_numbers(runs):
    found = all_claims(tables_of(runs), SETTINGS, TEST_ROWS)
    assert verdicts(found) == expected_on_own_numbers("singh2020")


def test_one_run_is_decided_by_its_test_rows_and_probe_seeds():
    """As the paper seems to have it. Weights have neither."""
    found = judge(tables_of(ONE_RUN))
    undecided = {name for name, claim in found.items() if claim.verdict != HOLDS}
    assert undecided == {"earlier_layers_stay", "distance_grows_with_data", "distance_grows_with_depth",
                         "more_data_is_steeper", "cola_is_noisier_and_more_balanced"}  # fmt: skip
    assert all(found[name].verdict == UNCLEAR for name in undecided)
    assert "2000 test rows" in found["qnli_is_concave"].evidence and "[" in found["cola_is_near_linear"].evidence
    assert "3 probe seeds" in found["top_two_hurt_probing"].evidence


def test_one_run_without_its_answers_cannot_tell():
    """Tables of before answers were stored; probes have repetitions of their own."""
    tables = tables_of(ONE_RUN)
    found = judge(tables | {"scores": tables["scores"].drop(columns=["row_truth", "row_guess"])})
    held = {name for name, claim in found.items() if claim.verdict != UNCLEAR}
    assert held == {"probing_stays_below", "probing_needs_more_layers", "top_two_hurt_probing",
                    "cola_probe_finds_nothing"}  # fmt: skip


def opposite(claim: str) -> dict:
    """What a claim is about, planted the other way round."""
    early = falling(0.9, 0.5, 0.5)
    sizes = (1, 0.1, 0.01)
    swapped = {(task, share): papers_distances()[task, other] for task in ("sst2", "qnli")
               for share, other in zip(sizes, sizes[::-1])}  # fmt: skip
    layers = np.arange(1, N_LAYERS + 1)
    scores = {
        "gain_shrinks_with_data": {("sst2", 1): falling(0.93, 0.5, 3)},
        "less_data_is_less_concave": {("sst2", 0.1): falling(0.90, 0.77, 1.2)},  # the second step only
        "middle_layers_matter_with_less_data": {("sst2", 1): falling(0.93, 0.5, 2)},
        "little_data_with_pretraining_wins": {("sst2", 0.1): falling(0.93, 0.88, 2)},
        "qnli_is_concave": {("qnli", 0.1): early},
        "less_data_falls_earlier": {("qnli", 0.1): breaking_down(0.87, 0.57, 8)},
        "small_gains_are_large": {("qnli", 0.006): falling(0.54, 0.51, 3)},
        "qnli_more_concave_than_sst2": {("qnli", 0.006): falling(0.8, 0.5, 1)},
        "qnli_falls_in_the_lowest_third": {("qnli", 0.006): falling(0.8, 0.5, 1)},
        "qnli_reaches_the_null_rate": {("qnli", 0.006): falling(0.8, 0.6, 3)},
        "sst2_loses_in_the_middle": {("sst2", 0.01): np.interp(LOST, [0, 4, 8, 12], [0.86, 0.8, 0.82, 0.71])},
        "sst2_loses_at_the_bottom": {("sst2", 0.01): np.interp(LOST, [0, 4, 8, 12], [0.86, 0.84, 0.74, 0.72])},
        "middle_layers_depend_on_the_task": {("qnli", 0.006): falling(0.9, 0.5, 1)},
        "cola_is_near_linear": {("cola", 1): 0.5 - 0.4 * (LOST >= 6)},  # above the line as often as below
        "probing_stays_below": {("sst2", 1): falling(0.78, 0.6, 3)},
        "top_two_reinitialised_cost_little": {("qnli", 1): np.append(0.95, breaking_down(0.91, 0.62, 3)[1:])},
    }
    probes = {
        "probing_needs_more_layers": {("sst2", "short"): np.append([0.84] * 12, 0.5)},
        "top_two_hurt_probing": {("qnli", "short"): papers_probes()["qnli", "short"] - 0.1 * (LOST > 0)},
        "sst2_gradual_qnli_steep": {("sst2", "short"): np.repeat([0.8, 0.5], [6, 7])},
        "cola_probe_finds_nothing": {("cola", "short"): np.append([0.0] * 8 + [0.2] * 4, 0.0)},
    }
    distances = {
        "earlier_layers_stay": {("qnli", 1): 3 + 0.1 * layers},
        "distance_grows_with_data": swapped,
        "distance_grows_with_depth": {("sst2", 0.01): 1 - 0.05 * layers},
        "more_data_is_steeper": {("sst2", 0.1): 0.1 + 0.01 * layers},
        "cola_is_noisier_and_more_balanced": {("cola", 1): 0.3 + 0.2 * layers},
    }
    by_kind = {"scores": scores, "probes": probes, "distances": distances}
    return {kind: planted[claim] for kind, planted in by_kind.items() if claim in planted}


@pytest.mark.parametrize("claim", expected_on_own_numbers("singh2020"))
def test_every_claim_fails_where_the_opposite_is_planted(claim):
    planted = opposite(claim)
    assert planted
    found = judge(tables_of(**planted))[claim]
    assert found.verdict == FAILS, found.evidence


def test_a_drop_within_the_noise_has_no_shape():
    """Runs that do not fall are no reason to believe those that do."""
    found = judge(tables_of(), dict.fromkeys(SIZES, 4))  # two standard errors of an accuracy: 50 points
    shapes = ["less_data_is_less_concave", "qnli_is_concave", "less_data_falls_earlier", "qnli_more_concave_than_sst2",
              "qnli_falls_in_the_lowest_third", "cola_is_near_linear", "probing_needs_more_layers",
              "sst2_gradual_qnli_steep"]  # fmt: skip
    assert {found[name].verdict for name in shapes} == {UNCLEAR}
    assert "3 of 3 runs fall too little" in found["qnli_is_concave"].evidence
    assert "3 of 3 encoders fall too little" in found["probing_needs_more_layers"].evidence
    assert noise("cola", 100) == 0.2 and noise("sst2", 100) == 0.1


def test_one_curve_without_shape_leaves_the_question_open():
    assert CurveEstimate([0.3, 0.31, float("nan")]).interval() is None
    assert CurveEstimate([0.3, 0.31, float("nan")]).said(2) == "0.30, 1 of 3 runs fall too little"
    drawn = np.append(np.linspace(0.2, 0.4, 96), [np.nan] * 4)
    assert CurveEstimate([0.3], "runs", drawn, 50).interval() == pytest.approx((0.205, 0.395))
    assert CurveEstimate([0.3], "runs", np.append(drawn, [np.nan] * 4), 50).interval() is None


def test_a_claim_about_some_tasks_is_judged_on_them_alone():
    """Of QNLI's curves with few rows section 6.1.1 says nothing."""
    found = judge(tables_of(scores={("qnli", 0.01): falling(0.32, 0.31, 2)}))["little_data_with_pretraining_wins"]
    assert found.verdict == HOLDS and "QNLI, against 100 % of the rows -30.0" in found.evidence
    converged = {(task, "converged"): np.full(N_LAYERS + 1, 0.99) for task in SIZES}
    found = judge(tables_of(probes=converged))["probing_stays_below"]
    assert found.verdict == HOLDS and "SST-2, converged probe -6.0" in found.evidence


def test_tasks_that_a_run_has_not_cannot_be_told():
    tables = {name: frame[frame["task"] == "sst2"] for name, frame in tables_of().items()}
    settings = SETTINGS | {"fractions": {"sst2": SIZES["sst2"]}, "small": {"sst2": 0.01}}
    found = verdicts(all_claims(tables, settings, {"sst2": N_ROWS}))
    assert found["less_data_is_less_concave"] == found["sst2_loses_in_the_middle"] == HOLDS
    of_others = [name for name in found if name.startswith(("qnli", "cola"))]
    assert {found[name] for name in [*of_others, "middle_layers_depend_on_the_task", "sst2_gradual_qnli_steep"]} == {
        UNCLEAR
    }


def test_probes_and_runs_are_set_side_by_side():
    of_probes = pd.Series(
        [1.0, 3.0, 5.0], pd.MultiIndex.from_product([["a"], [0, 1, 2]], names=["encoder", "probe_seed"])
    )
    of_runs = pd.Series([7.0, 8.0], pd.MultiIndex.from_product([["a"], [0, 1]], names=["encoder", "seed"]))
    assert list(repeated(of_probes)) == [1, 3, 5]
    assert list(like_probes(of_runs, repeated(of_probes))) == [7, 8, 7]  # seed by seed
    two = pd.concat([of_probes, of_probes.rename({"a": "b"}) + 1])
    both = pd.concat([of_runs, of_runs.rename({"a": "b"}) + 1])
    assert repeated(two).to_dict() == {"a": 3, "b": 4}
    assert like_probes(both, repeated(two)).to_dict() == {"a": 7.5, "b": 8.5}
    assert list(repeated(of_probes[:1]).index) == ["a"]  # a converged probe has one seed


def test_differences_are_run_by_run_and_row_by_row():
    one = CurveEstimate([3.0], "runs", np.array([2.0, 4.0]), 80)
    other = CurveEstimate([1.0], "runs", np.array([1.0, 1.5]), 50)
    assert list(minus(one, other).values) == [2] and list(minus(one, other).replicates) == [1, 2.5]
    assert minus(one, other).n_rows == 50 and minus(one, CurveEstimate([1.0])).replicates is None


# ---- curves and numbers


def test_curves_have_the_full_model_at_no_layer():
    curves = reinit_curves(pd.DataFrame(
        [{"encoder": "b", "seed": 0, "task": "qnli", "fraction": 1.0, "n_train": 5, "recipe": recipe,
          "test_accuracy": score} for recipe, score in (("full", 0.9), ("reinit-1", 0.8), ("nearzero-1", 0.7))]
    ), "nearzero")  # fmt: skip
    assert dict(zip(curves["layers"], curves["score"])) == {0: 0.9, 1: 0.7}
    assert set(tables_of(ONE_RUN)["scores"]["layers"]) == set(range(N_LAYERS + 1))


def test_resampled_scores_are_those_of_the_rows():
    """Of rows that all are alike every resample is the same; else the mean is the score itself."""
    certain = pd.DataFrame([{"row_truth": [1] * 10, "row_guess": [guess] * 10} for guess in (1, 0)])
    assert np.array_equal(resampled_scores(certain, "accuracy", 0), np.tile([1.0, 0.0], (REPLICATES, 1)))
    models = pd.DataFrame([answers("cola", score) for score in (0.5, 0.2)])
    for metric, expected in (("accuracy", [0.75, 0.6]), ("matthews", [0.5, 0.2])):
        drawn = resampled_scores(models, metric, 0)
        assert drawn.shape == (REPLICATES, 2) and drawn.mean(axis=0) == pytest.approx(expected, abs=0.005)
    assert matthews_corrcoef(*models.iloc[0]) == pytest.approx(0.5)
    # the standard error of an accuracy is sqrt(p (1 - p) / n)
    assert resampled_scores(models, "accuracy", 0).std(axis=0)[0] == pytest.approx(
        (0.75 * 0.25 / N_ROWS) ** 0.5, rel=0.1
    )


def test_only_a_single_run_is_resampled():
    single, several = (curves_by_size(tables_of(runs)["scores"], TEST_ROWS) for runs in (ONE_RUN, SEEDS))
    assert single["qnli", 0.006].resampled.shape == (REPLICATES, N_LAYERS + 1)
    # columns are in the order of the layers
    assert single["qnli", 0.006].resampled.mean(axis=0) == pytest.approx(100 * papers_scores()["qnli", 0.006], abs=0.5)
    assert several["qnli", 0.006].resampled is None and several["qnli", 0.006].runs.shape == (3, N_LAYERS + 1)
    assert single["qnli", 1].n_layers == N_LAYERS and single["qnli", 1].noise == pytest.approx(100 / N_ROWS**0.5)


def test_points_above_the_null_rate_are_of_the_last_models():
    """Three of twelve: those with fewer than three layers left."""
    above = above_null_rate(tables_of(SEEDS)["scores"], "qnli", 0.006)
    assert [rows.mean() for rows in above.values()] == pytest.approx([0, 0.1, 0.2])
    assert list(above) == list(SEEDS) and len(above["bert.0", 0]) == N_ROWS


def test_layers_off_zero_are_counted_by_probe():
    found = layers_off_zero(tables_of(ONE_RUN)["probes"], N_ROWS)
    assert found.shape == (3, N_LAYERS) and set(found.sum(axis=1)) == {2}
    assert not layers_off_zero(tables_of(ONE_RUN)["probes"], 64).any(axis=None)  # chance gives 0.25 there


def test_a_line_leaves_what_lies_beside_it():
    layers = np.arange(1, 5)
    slope, scatter = line_through(np.stack([2 + 3.0 * layers, np.array([1.0, -1, -1, 1])]))
    assert slope == pytest.approx([3, 0]) and scatter == pytest.approx([0, 1])


def test_thirds_of_any_depth():
    assert {n: thirds(n) for n in (3, 4, 6, 12, 24)} == {3: (1, 2), 4: (1, 3), 6: (2, 4), 12: (4, 8), 24: (8, 16)}


def test_the_papers_own_numbers_are_measured_where_they_are_published():
    published = pd.read_csv("workflow/papers/singh2020/published.csv", dtype={"x": str})
    sizes = pd.DataFrame({"training rows": [67349, 104743, 8551], "test rows": [872, 5463, 1043]})
    rows = of_sizes_table(sizes, list(SIZES)) + measured(tables_of(), SETTINGS, TEST_ROWS)
    found = compare(published, summarised(rows, TOLERANCES), "singh2020")
    assert set(found["within"]) == {"yes", "no tolerance set"}, found[
        ["series", "x", "published", "measured", "within"]
    ]
    of = found.set_index(["artifact", "series", "x"])["measured"]
    assert [of["fig1", "qnli", f"drop_begins_at_layer_f{share:g}"] for share in SIZES["qnli"]] == [3, 4, 5]
    assert of["fig1", "sst2", "middle_third_costs_points_small"] == pytest.approx(5, abs=0.2)
    assert of["fig2", "qnli", "steepest_fall_removes_layer"] == 6 and of["fig5", "cola", "layers_off_zero"] == 2


def test_numbers_of_layers_compare_only_with_twelve():
    tables = tables_of()
    tables["scores"] = tables["scores"][tables["scores"]["layers"] < 7]
    tables["probes"] = tables["probes"][tables["probes"]["layer"] < 7]
    names = {x for _, _, x, _ in measured(tables, SETTINGS, TEST_ROWS)}
    assert "middle_third_costs_points_small" in names and not any("layer" in name for name in names)


def test_shares_that_only_one_panel_has_do_not_count():
    table = pd.DataFrame({"task": ["sst2", "qnli", "qnli"], "fraction": [0.1, 0.1, 0.06]})
    assert list(of_sizes(table, SIZES).index) == [0, 1]


# ---- figures


def test_figure_1_has_the_paper_s_four_panels():
    panels = load_script("papers/singh2020/figures/fig1").panels_of(
        {"tasks": ["sst2", "qnli"], "last_task": "cola", "fractions": SIZES, "small": SMALL}
    )
    assert [[(task, share) for task, share, _ in panel] for panel in panels] == [
        [("sst2", 1), ("sst2", 0.1), ("sst2", 0.01)],
        [("qnli", 1), ("qnli", 0.1), ("qnli", 0.01)],
        [("sst2", 0.01), ("qnli", 0.006)],
        [("cola", 1)],
    ]
    assert size_name(0.006) == "0.6 % of the rows"


def test_figure_1_has_no_panel_of_what_is_not_asked_for():
    settings = {"tasks": ["sst2"], "fractions": {"sst2": [1, 0.5]}, "small": {}, "last_task": None}
    panels = load_script("papers/singh2020/figures/fig1").panels_of(settings)
    assert [[(task, share) for task, share, _ in panel] for panel in panels] == [[("sst2", 1), ("sst2", 0.5)]]


def test_figure_2_sets_probes_beside_re_initialisation():
    """By layers lost: probes from none to all but one, re-initialisation with all rows from none to all."""
    figures, tables = load_script("lib/plotting/figures"), tables_of()
    figure, axes = figures.new_figure()
    sweeps = tables["scores"].assign(recipe=tables["scores"]["layers"].map(lambda k: f"reinit-{k}" if k else "full"),
                                     test_accuracy=tables["scores"]["score"])  # fmt: skip
    load_script("papers/singh2020/panels").probing_panel(axes, tables["probes"], sweeps, "qnli", "reinit")
    reinit, short, converged, guess = axes.get_lines()
    truth = tables["scores"].loc[tables["scores"]["task"] == "qnli", "row_truth"].iloc[0]
    assert guess.get_ydata()[0] == max(np.mean(truth), 1 - np.mean(truth))
    assert list(reinit.get_xdata()) == list(LOST) and reinit.get_ydata()[0] == pytest.approx(0.911)
    assert list(short.get_xdata()) == list(converged.get_xdata()) == list(LOST[:-1])
    assert short.get_ydata()[0] == pytest.approx(0.70, abs=0.01) and len(axes.get_legend().get_texts()) == 4
    figures.plt.close(figure)


def test_initialisers_are_compared_on_every_task_that_is_listed():
    plan = plan_of(papers=["singh2020"], singh2020={"compared": ["sst2", "qnli", "cola"]})
    needs = plan.needs("singh2020", "initialisers")
    assert needs.settings["tasks"] == ["sst2", "qnli", "cola"]
    for task in needs.settings["tasks"]:
        assert any(f"/{task}.nearzero-4.f1." in file for file in needs.inputs["sweeps"])
        assert not any(f"/{task}.nearzero-4.f0" in file for file in needs.inputs["sweeps"])  # the largest share only


def test_captions_say_what_bands_are_over():
    several = {"singh2020": {"encoders": ["base.0", "base.1"]}, "layer_probes": {"seeds": [0, 1, 2]}}
    caption = plan_of(papers=["singh2020"], **several).caption("singh2020", "fig2")
    assert "2 pre-trained encoders x 3 probe seeds" in caption
    alone = {"singh2020": {"encoders": ["base.0"], "seeds": [0]}, "layer_probes": {"seeds": [0]}}
    caption = plan_of(papers=["singh2020"], **alone).caption("singh2020", "fig5")
    assert "standard deviation" not in caption and caption.count("not shown (no repetitions)") == 3
    seeds = plan_of("config/paper.yaml", papers=["singh2020"]).caption("singh2020", "fig2")
    assert "one standard deviation over 3 fine-tuning seeds" in seeds and "over 3 probe seeds" in seeds
