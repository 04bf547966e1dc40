"""merchant2020's tables, curves and claims on planted numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.scripts import load_script
from workflow.lib.base.tables import read_tables, write_table
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR
from workflow.papers.merchant2020 import claims
from workflow.papers.merchant2020.numbers import by_series, depth_curves, edge_deltas, edge_scores, published_curve

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"
ENCODERS, TASKS = ["base.0", "base.1", "base.2"], ["parse", "mnli", "squad"]
LAYERS = dict.fromkeys(ENCODERS, 4)
HEADS = {"parse": "parser", "mnli": "sequence", "squad": "answers"}


def models(encoder: str) -> dict[str, str]:
    return {"base": f"{encoder}/pretrained"} | {task: f"{encoder}/{task}.full.f1.s0" for task in TASKS}


def verdicts(found) -> dict[str, str]:
    return {claim.name: claim.verdict for claim in found}


# --- edge probes


def edge_rows(losses: dict[str, float], gain: float = 0.04) -> pd.DataFrame:
    rows = []
    for number, encoder in enumerate(ENCODERS):
        for task in ("ep_pos", "ep_constituents", "ep_coreference"):
            for series, model in models(encoder).items():
                f1 = 0.9 + 0.01 * number - losses.get(series, 0) + gain * (series == "parse" and "const" in task)
                rows += [{"model": model, "task": task, "input": kind, "f1": f1 - 0.05 * (kind == "top"),
                          "f1_positive_only": f1 / 2, "f1_no_other": np.nan} for kind in ("mix", "top")]  # fmt: skip
            lexical = {"model": f"{encoder}/pretrained", "input": "lexical", "f1": 0.6 + 0.001 * number}
            rows.append(lexical | {"task": task})
            rows.append({"model": f"untrained.{number}/pretrained", "task": task, "input": "mix", "f1": 0.5})
            rows.append({"model": f"untrained.{number}/pretrained", "task": task, "input": "lexical", "f1": 0.1})
    return pd.DataFrame(rows)


RANDOM = {"untrained.0", "untrained.1", "untrained.2"}


def test_differences_are_from_the_same_encoder_s_base():
    table = edge_scores(edge_rows({"mnli": 0.02}), "mix", RANDOM)
    deltas = edge_deltas(table).groupby(["task", "series"])["delta"].mean()
    assert deltas["ep_pos", "mnli"] == pytest.approx(-2) and deltas["ep_constituents", "parse"] == pytest.approx(4)
    assert deltas["ep_pos", "randomised"] == pytest.approx(-41)
    assert deltas["ep_pos", "lexical"] == pytest.approx(100 * (0.601 - 0.91))


def test_lexical_rows_of_random_encoders_do_not_count():
    table = edge_scores(edge_rows({}), "mix", RANDOM)
    assert set(table["series"]) == {"base", "lexical", "randomised", *TASKS}
    assert (table[table["series"] == "lexical"]["f1"] > 50).all()
    assert (table[table["series"] == "randomised"]["f1"] == 50).all()


def test_the_table_has_a_row_per_task_and_both_ways_to_count_coreference():
    edges = load_script("papers/merchant2020/tables/edges")
    table = edge_scores(edge_rows({"squad": 0.01}), "top", RANDOM | set())
    names = ["ep_pos", "ep_constituents", "ep_coreference"]
    others = edges.variants(table, names)
    both = pd.concat([table, others], ignore_index=True)
    result = edges.edge_table(both, edge_deltas(both), TASKS, [*names, *dict.fromkeys(others["task"])])
    assert list(result["task"]) == ["POS", "Constituents", "Coreference", "Coreference, coreferent pairs only"]
    assert result["Base"].tolist() == pytest.approx([86, 86, 86, 45.5])
    assert result["Δ SQuAD"].tolist() == pytest.approx([-1, -1, -1, -0.5]) and result["Base_sd"][0] == pytest.approx(1)


@pytest.mark.parametrize("loss, verdict", [(0.02, HOLDS), (0.25, FAILS)])
def test_no_forgetting(loss, verdict):
    deltas = edge_deltas(edge_scores(edge_rows({"mnli": loss}), "mix", RANDOM))
    assert claims.no_forgetting(deltas, TASKS).verdict == verdict


def test_no_task_s_gain_pays_for_another_s_loss():
    deltas = edge_deltas(edge_scores(edge_rows({"mnli": 0.25}), "mix", RANDOM))
    lost = deltas["series"] == "mnli"
    deltas.loc[lost & (deltas["task"] == deltas["task"].iloc[0]), "delta"] += 80
    assert deltas.loc[lost, "delta"].mean() > 0
    assert claims.no_forgetting(deltas, TASKS).verdict == FAILS


@pytest.mark.parametrize("gain, verdict", [(0.04, HOLDS), (-0.04, FAILS)])
def test_syntax(gain, verdict):
    """As in the paper one of the two may stay as it is."""
    deltas = edge_deltas(edge_scores(edge_rows({}, gain), "mix", RANDOM))
    deltas["delta"] += np.random.default_rng(0).normal(0, 0.01, len(deltas))
    assert claims.syntax(deltas, "parse").verdict == verdict
    assert claims.syntax(deltas[deltas["task"] == "ep_pos"], "parse").verdict == UNCLEAR


# --- layers


def structural_rows(last_drop: float, parser_gain: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {"model": model, "probe": probe, "measure": "spearman", "layer": layer,
             "value": 0.7 + rng.normal(0, 0.002) + parser_gain * (series == "parse" and layer > 2)
             - last_drop * (series in ("mnli", "squad") and layer == 4)}
            for encoder in ENCODERS for series, model in models(encoder).items()
            for probe in ("depth", "distance") for layer in range(5)
        ]
    )  # fmt: skip


def test_structure_claims():
    good = verdicts(claims.structure(by_series(structural_rows(0.1, 0.1)), TASKS, "parse"))
    bad = verdicts(claims.structure(by_series(structural_rows(-0.1, -0.1)), TASKS, "parse"))
    assert set(good.values()) == {HOLDS} and set(bad.values()) == {FAILS}


def test_a_loss_in_all_layers_is_no_kept_structure():
    rows = structural_rows(0.05, 0.1)
    rows.loc[rows["model"].str.contains("mnli") & (rows["layer"] > 0), "value"] -= 0.2
    assert verdicts(claims.structure(by_series(rows), TASKS, "parse"))["others_keep_structure"] == FAILS


def test_opposite_changes_of_two_layers_do_not_cancel():
    rows = structural_rows(0.1, 0.1)
    for layer, change in ((1, 0.1), (2, -0.1)):
        rows.loc[rows["model"].str.contains("mnli") & (rows["layer"] == layer), "value"] += change
    assert verdicts(claims.structure(by_series(rows), TASKS, "parse"))["others_keep_structure"] == FAILS


def test_fine_tuning_seeds_of_one_encoder_are_repetitions():
    rows = structural_rows(0.1, 0.1)
    rows["model"] = rows["model"].str.replace(r"base\.(\d)/(\w+)\.full\.f1\.s0", r"base.0/\2.full.f1.s\1", regex=True)
    rows = rows[~rows["model"].isin(["base.1/pretrained", "base.2/pretrained"])]
    found = claims.structure(by_series(rows), TASKS, "parse")
    assert set(verdicts(found).values()) == {HOLDS} and "(n=3)" in found[0].evidence


def similarity_rows(falls: dict[str, float], own_gap: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {"model": models(encoder)[task], "text": place, "layer": layer, "sample": sample,
             "similarity": 1 - falls[task] * layer - own_gap * layer * (place != "wikipedia-sentences")
             + rng.normal(0, 0.001)}
            for encoder in ENCODERS for task in TASKS for layer in range(5) for sample in range(2)
            for place in ["wikipedia-sentences"] + ([f"{task}-test"] if task != "parse" else [])
        ]
    )  # fmt: skip


def test_rsa_claims():
    own = {"mnli": "mnli-test", "squad": "squad-test"}
    rows = by_series(similarity_rows({"parse": 0.1, "mnli": 0.03, "squad": 0.05}, 0.02))
    assert set(verdicts(claims.rsa(rows, "wikipedia-sentences", own, "parse")).values()) == {HOLDS}
    rows = by_series(similarity_rows({"parse": -0.01, "mnli": 0.0, "squad": 0.03}, -0.02))
    found = verdicts(claims.rsa(rows, "wikipedia-sentences", own, "parse"))
    assert found["rsa_falls_upwards"] == found["dep_changes_deepest"] == found["own_text_changes_more"] == FAILS


def test_published_curves_count_from_zero():
    frame = pd.DataFrame({"artifact": "fig2_rsa", "series": "dep", "x": [1, 0], "value": [0.8, 0.9]})
    assert published_curve(frame, "fig2_rsa", "parse").to_dict() == {1.0: 0.9, 2.0: 0.8}
    assert published_curve(frame, "fig2_rsa", "mnli").empty


def test_figure_5_has_a_panel_per_task_and_figure_2_one():
    rsa = load_script("papers/merchant2020/figures/rsa")
    assert len(rsa.panels_of({"parse": ["wikipedia-x"], "mnli": ["wikipedia-x"]})) == 1
    assert rsa.panels_of({"mnli": ["mnli-test", "wikipedia-x"]}) == [
        [("mnli", "mnli-test", "mnli"), ("mnli", "wikipedia-x", "wikipedia")]
    ]


def test_token_samples_are_no_repetitions():
    similarity = load_script("papers/merchant2020/figures/rsa").over_repetitions(
        by_series(similarity_rows({"parse": 0.1, "mnli": 0.0, "squad": 0.0}, 0.0))
    )
    assert (similarity["n"] == len(ENCODERS)).all()


# --- depths


def swept(score) -> tuple[pd.DataFrame, pd.DataFrame]:
    columns = {"parse": "test_las", "mnli": "test_accuracy", "squad": "test_f1"}
    full, other = [], []
    for number, encoder in enumerate(ENCODERS):
        for task in TASKS:
            about = {"encoder": encoder, "task": task, "fraction": 1.0, "seed": 0}
            full.append(about | {"recipe": "full", columns[task]: score(task, "full", 0) + 0.001 * number})
            for kind, depths in (("freeze", range(1, 5)), ("truncate", range(1, 4))):
                for depth in depths:
                    value = score(task, kind, depth) + 0.001 * number
                    other.append(about | {"recipe": f"{kind}-{depth}", columns[task]: value})
    return pd.DataFrame(full), pd.DataFrame(other)


def test_the_full_model_closes_both_curves():
    metrics, sweeps = swept(lambda task, kind, depth: 0.9 - 0.1 * depth)
    freeze = depth_curves(metrics, sweeps, "freeze", LAYERS, HEADS).query("task == 'parse' and encoder == 'base.0'")
    assert dict(zip(freeze["depth"], freeze["score"])) == pytest.approx({0: 0.9, 1: 0.8, 2: 0.7, 3: 0.6, 4: 0.5})
    cut = depth_curves(metrics, sweeps, "truncate", LAYERS, HEADS).query("task == 'squad' and encoder == 'base.0'")
    assert dict(zip(cut["depth"], cut["score"])) == pytest.approx({4: 0.9, 1: 0.8, 2: 0.7, 3: 0.6})


def test_depth_claims():
    def as_published(task, kind, depth):
        return 0.9 - (0.1 * depth if task == "parse" and kind == "freeze" else 0.001 * depth)

    def against(task, kind, depth):
        return 0.9 - (0.15 * depth if task != "parse" else 0.01 * depth)

    for score, verdict in ((as_published, HOLDS), (against, FAILS)):
        metrics, sweeps = swept(score)
        freeze, cut = (depth_curves(metrics, sweeps, sweep, LAYERS, HEADS) for sweep in ("freeze", "truncate"))
        assert set(verdicts(claims.depths(freeze, cut, LAYERS, HEADS, {"mnli": 0.33})).values()) == {verdict}


def test_what_chance_alone_scores_is_not_kept():
    """MNLI falls from 0.47 to 0.45, Dep from 0.80 to 0.69: the same share of what each had learnt."""
    scores = {"mnli": (0.47, 0.45), "parse": (0.80, 0.6857), "squad": (0.9, 0.9)}
    metrics, sweeps = swept(lambda task, kind, depth: scores[task][depth > 0])
    freeze, cut = (depth_curves(metrics, sweeps, sweep, LAYERS, HEADS) for sweep in ("freeze", "truncate"))
    found = {claim.name: claim for claim in claims.depths(freeze, cut, LAYERS, HEADS, {"mnli": 0.33})}
    costs, harmless = found["dep_needs_most_layers"], found["freezing_half_is_harmless"]
    assert costs.verdict == UNCLEAR and "2 of 4 frozen" in costs.evidence and "Dep's 0.00" in costs.evidence
    assert harmless.verdict == FAILS and "MNLI 0.858" in harmless.evidence
    chance_of = load_script("papers/merchant2020/measured").chance_of
    assert chance_of(pa.table({"label": [0, 1, 1, 2]}), "text") == 0.5
    contexts = ["Ann saw Bob", "the cat sat here now"]  # "the" is no word of an answer
    answers = [[{"text": "Ann saw"}], [{"text": "now"}, {"text": "cat"}]]
    # first 1: 2/3 and 0; 2: 1 and 1; 3: 4/5 and 2/3
    assert chance_of(pa.table({"context": contexts, "answers": answers}), "qa") == 1.0
    answers[1] = [{"text": "now"}]  # 2: 1 and 0, all five: 4/5 and 2/5
    assert chance_of(pa.table({"context": contexts, "answers": answers}), "qa") == pytest.approx(0.6)


def test_tasks_that_cannot_be_coded_leave_the_verdict_open(tmp_path):
    write_table([], tmp_path / "codelength.parquet")
    found = claims.description(read_tables([tmp_path / "codelength.parquet"]), "parse")
    assert [claim.verdict for claim in found] == ["cannot tell"] * 2


# --- description length


def code_rows(change: dict[str, float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": model, "task": task, "part": part, "compression": 3.0,
             "bits": 1000 * (1 + number / 10) * (1 + change.get(f"{task}/{series}", 0) + 0.0001 * number)}
            for number, encoder in enumerate(ENCODERS) for series, model in models(encoder).items()
            for task in ("ep_pos", "ep_dependencies") for part in ("portion", "total")
        ]
    )  # fmt: skip


def test_description_claims():
    found = verdicts(claims.description(code_rows({"ep_dependencies/parse": -0.3}), "parse"))
    assert found == {"mdl_differs_little": HOLDS, "dep_shortens_dependencies": HOLDS}
    changes = {f"{task}/{series}": 0.2 for task in ("ep_pos", "ep_dependencies") for series in TASKS}
    found = verdicts(claims.description(code_rows(changes), "parse"))
    assert found == {"mdl_differs_little": FAILS, "dep_shortens_dependencies": FAILS}


def test_description_table():
    table = load_script("papers/merchant2020/tables/mdl").length_table(
        code_rows({"ep_dependencies/parse": -0.3}), TASKS
    )
    assert list(table["task"]) == ["POS", "Dependencies"]
    assert table["Δ Dep (%)"].tolist() == pytest.approx([0, -30], abs=0.1)
    assert table["Base (kbit)"][0] == pytest.approx(1.1, abs=0.01)
