"""matton2019's numbers and claims on planted tables, its PCA on planted vectors."""

import numpy as np
import pandas as pd
import pytest

from tests.scripts import load_script
from workflow.lib.activations.text_vectors import TaskVectors
from workflow.lib.base.errors import UserError
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR, above, all_of
from workflow.lib.methods.pca.principal_axes import principal_axes
from workflow.papers.matton2019.claims import all_claims, variance_follows_classes
from workflow.papers.matton2019.numbers import component_losses, leading_run, selected_accuracies, variance_ratios


def planted_task(seed: int = 0, n: int = 300, width: int = 12) -> TaskVectors:
    """Two classes along one direction, under much larger noise in another."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=2 * n)
    x = rng.standard_normal((2 * n, width)) * np.linspace(6, 0.5, width)
    x[:, 3] += 30 * labels
    x = (x @ np.linalg.qr(rng.standard_normal((width, width)))[0]).astype(np.float32)
    return TaskVectors(x[:n], labels[:n], x[n:], labels[n:], ["no", "yes"])


def test_components_are_not_whitened():
    """Few rows and many directions of faint noise: as strong as the rest, they would drown the label."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1060)
    x = rng.standard_normal((1060, 50)) * np.array([3.0] * 2 + [0.1] * 48)
    x[:, 1] += 10 * y
    x = (x @ np.linalg.qr(rng.standard_normal((50, 50)))[0] + 5).astype(np.float32)
    task = TaskVectors(x[:60], y[:60], x[60:], y[60:], ["no", "yes"])
    pca_script = load_script("scripts/pca")
    turned = pca_script.accuracy_with(pca_script.onto_components(principal_axes(x), 50), task, 1.0)
    assert turned == pytest.approx(pca_script.accuracy_with(lambda rows: rows, task, 1.0), abs=0.002)
    assert turned > 0.93


def test_curves_find_the_planted_direction():
    pca_script, task = load_script("scripts/pca"), planted_task()
    rows = pd.DataFrame(pca_script.curves(principal_axes(task.train), task, [1, 2, 12], 4, 0, 1.0))
    best = rows.groupby(["series", "dimensions"])["accuracy"].mean()
    assert best["in_domain", 1] > 0.97  # the class difference is the largest variance
    assert best["random", 1] < best["in_domain", 1] - 0.1
    # all components are all dimensions, turned
    assert best["random", 12] == best["in_domain", 12] == best["general", 12]


def test_more_components_than_dimensions_is_an_error():
    with pytest.raises(UserError, match="768 components, but the vectors have 64"):
        load_script("scripts/pca").checked_grid([1, 768], 64)


def test_sample_sizes_beyond_the_data_are_left_out():
    pca_script, task = load_script("scripts/pca"), planted_task()
    rows = list(pca_script.by_sample_size(task.train, task, [50, 300, 9999], 2, 3, 0, 1.0))
    assert [row["sample_size"] for row in rows] == [50, 50, 50, 300]
    with pytest.raises(UserError, match="sample_sizes begins at 400, but the general text has 300 rows"):
        list(pca_script.by_sample_size(task.train, task, [400, 9999], 2, 3, 0, 1.0))


def models(encoders=("base.0", "base.1", "base.2")):
    return [(encoder, f"{encoder}/pretrained", f"{encoder}/two.full.f1.s0") for encoder in encoders]


def planted_tables(tuned_first: float = 0.92, gap: float = 0.0) -> dict[str, pd.DataFrame]:
    """A world in which matton2019 is right: `tuned_first` is what one neuron gives after fine-tuning."""
    greedy, accuracy, variance, alone, samples, metrics = [], [], [], [], [], []
    for number, (encoder, before, after) in enumerate(models()):
        wobble = 0.001 * number
        for model, scores in ((before, (0.80, 0.55, 0.60)), (after, (0.92, tuned_first, 0.92))):
            steps = {0: scores[0], 1: scores[1], 2: scores[2], 5: scores[2]}
            greedy += [(model, "two", 2, step, step, 0.5, score + wobble) for step, score in steps.items()]
            for n, score in ((1, 0.6), (5, scores[0] - 0.005), (64, scores[0])):
                for series, less in (("in_domain", 0.0), ("general", 0.01), ("random", 0.1 if n < 64 else 0.0)):
                    accuracy.append((model, "two", series, n, 0, score - less + wobble))
        for component, share in enumerate((0.3, 0.2, 0.1)):
            variance.append((before, component + 1, share))
            variance.append((after, component + 1, share * (1.5 if component == 0 else 0.8)))
        alone += [(after, "two", neuron, 0.5 + 0.42 * neuron / 200 + gap * (neuron > 100)) for neuron in range(200)]
        samples += [(before, "two", size, 0, 0.7 + wobble) for size in (100, 2000, 4000)]
        metrics.append((encoder, "two", "full", 1.0, 0, 0.99, 0.92 + wobble))
    frame = pd.DataFrame
    return {
        "greedy": frame(
            greedy, columns=["model", "task", "n_classes", "step", "neuron", "cv_accuracy", "test_accuracy"]
        ),
        "accuracy": frame(accuracy, columns=["model", "task", "series", "dimensions", "draw", "accuracy"]),
        "variance": frame(variance, columns=["model", "component", "explained"]),
        "alone": frame(alone, columns=["model", "task", "neuron", "accuracy"]),
        "samples": frame(samples, columns=["model", "task", "sample_size", "draw", "accuracy"]),
        "metrics": frame(
            metrics, columns=["encoder", "task", "recipe", "fraction", "seed", "train_accuracy", "test_accuracy"]
        ),
    }


def verdicts(tables) -> dict[str, str]:
    return {claim.name: claim.verdict for claim in all_claims(tables)}


def test_claims_hold_where_they_were_planted():
    assert set(verdicts(planted_tables()).values()) == {HOLDS}


def test_claims_fail_where_they_were_broken():
    assert verdicts(planted_tables(tuned_first=0.7))["one_neuron_for_two_classes"] == FAILS
    assert verdicts(planted_tables(gap=0.5))["single_neurons_are_dense"] == FAILS
    tables = planted_tables()
    tables["metrics"]["test_accuracy"] -= 0.3
    assert verdicts(tables)["tuning_beats_frozen"] == FAILS
    tables = planted_tables()
    series = tables["accuracy"]["series"]
    tables["accuracy"]["series"] = series.replace({"general": "random", "random": "general"})
    assert verdicts(tables)["general_pca_beats_random"] == FAILS
    tables = planted_tables()
    tables["variance"]["explained"] = 1.0
    assert verdicts(tables)["variance_follows_classes"] == FAILS


def test_steps_that_no_search_took_leave_the_verdict_open():
    """search_neurons may be below five."""
    tables = planted_tables()
    tables["greedy"] = tables["greedy"].query("step < 5")
    assert verdicts(tables)["pretrained_neurons_fall_short"] == UNCLEAR
    assert verdicts(tables)["one_neuron_for_two_classes"] == HOLDS


def test_full_width_is_each_encoders_own():
    """There all series are equal, which must not be averaged into the gaps below."""
    tables = planted_tables()
    of_narrow = (tables["accuracy"]["dimensions"] == 64) & tables["accuracy"]["model"].str.startswith("base.0")
    tables["accuracy"].loc[of_narrow, "dimensions"] = 32
    found = {claim.name: claim.evidence for claim in all_claims(tables)}
    assert "0.0 (n=3)" in found["general_pca_beats_random"] and "9.0 ±" in found["general_pca_beats_random"]


def test_one_repetition_cannot_tell():
    tables = {name: table for name, table in planted_tables().items()}
    for name, table in tables.items():
        key = "encoder" if name == "metrics" else "model"
        tables[name] = table[table[key].str.startswith("base.0")]
    assert set(verdicts(tables).values()) == {UNCLEAR}


def test_verdict_rule():
    assert above([1.0, 1.1, 0.9]) == HOLDS and above([1.0, 2.0, 0.5]) == UNCLEAR and above([-1.0, -1.1, -0.9]) == FAILS
    assert above([1.0, -1.0]) == UNCLEAR and above([5.0]) == UNCLEAR and above([2, 2, 2], 2) == UNCLEAR
    assert all_of([HOLDS, UNCLEAR]) == UNCLEAR and all_of([UNCLEAR, FAILS]) == FAILS and all_of([]) == UNCLEAR


def test_numbers_behind_the_artifacts():
    tables = planted_tables()
    scores = selected_accuracies(tables["greedy"]).set_index(["encoder", "state", "neurons"])["accuracy"]
    assert scores["base.0", "finetuned", "natural"] == pytest.approx(92.0)
    assert scores["base.0", "pretrained", "5"] == pytest.approx(60.0)
    assert component_losses(tables["accuracy"])["loss"].tolist() == pytest.approx([0.5] * 3)
    ratios = variance_ratios(tables["variance"]).query("encoder == 'base.0'")["ratio"].tolist()
    assert ratios == pytest.approx([1.5, 0.8, 0.8]) and leading_run(ratios) == 1
    assert leading_run([2, 2, 0.5, 2]) == 2 and leading_run([0.5, 2]) == 0 and leading_run([2, 2]) == 2
    assert "[1, 1, 1]" in variance_follows_classes(tables["variance"], {"two": 2}).evidence


def test_figures_take_any_number_of_tasks_and_classes():
    rng = np.random.default_rng(0)
    tasks = ["imdb", "ag_news", "dbpedia", "trec50"]
    alone = pd.DataFrame([{"model": f"base.0/{task}.full.f1.s0", "task": task, "neuron": n, "accuracy": rng.random()}
                          for task in tasks for n in range(30)])  # fmt: skip
    assert len(load_script("papers/matton2019/figures/fig6").draw(alone).axes) == 4
    model = "base.0/dbpedia.full.f1.s0"
    labels = [f"class {at % 14:02d}" for at in range(140)]
    best = pd.DataFrame({"model": model, "task": "dbpedia", "label": labels, "activation": rng.random(140)})
    greedy = pd.DataFrame([{"model": model, "task": "dbpedia", "step": 1, "neuron": 3, "test_accuracy": 0.5}])
    drawn = load_script("papers/matton2019/figures/fig5").draw(best, greedy, "dbpedia")
    outlines = [patch for patch in drawn.axes[0].patches if patch.get_label().startswith("class")]
    assert len({(patch.get_edgecolor(), patch.get_linestyle()) for patch in outlines}) == 14
