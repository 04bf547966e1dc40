"""zhou2022's numbers, figures' choices and claims, against planted truths and plain versions."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq, linprog

from tests.papers.planted import expected_on_own_numbers, verdicts
from tests.scripts import load_script
from workflow.lib.activations.cache import LayerWriter, layer_file
from workflow.lib.activations.labelled_vectors import LabelledVectors
from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.base.measured import compare, summarised
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.methods.directprobe.label_geometry import (
    nearest_distances,
    of_enough_points,
    points_of_labels,
    spatial_similarity,
    without_small_labels,
)
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances
from workflow.lib.plotting.figures import new_figure, plt
from workflow.papers.zhou2022 import measured
from workflow.papers.zhou2022.claims import all_claims, falling_pairs
from workflow.papers.zhou2022.numbers import (
    cells,
    changes_of_nearest,
    closest_labels,
    cross_accuracies,
    low_layer,
    mean_cosine,
    mean_gap,
    movements,
    nearest_by_step,
    similarity_by_step,
    two_axes,
)
from workflow.papers.zhou2022.plan import accuracy_spread
from workflow.papers.zhou2022.published import beside_paper, published_cell, published_label

PUBLISHED = pd.read_csv(ROOT / "workflow/papers/zhou2022/published.csv", dtype={"x": str})


def distances_of(**pairs: float) -> pd.DataFrame:
    """ab=1.0 -> a row for labels a and b."""
    return pd.DataFrame([{"label_a": a, "label_b": b, "distance": d} for (a, b), d in pairs.items()])


# --- points


def test_points_of_words_and_pairs_are_the_cached_vectors(tmp_path):
    rows = [
        {"id": "a", "words": ["x", "y", "z"], "upos": ["A", "B", "A"], "head": [2, 0, 2], "deprel": ["l", "root", "r"]},
        {"id": "b", "words": ["x", "y"], "upos": ["B", "A"], "head": [0, 1], "deprel": ["root", "r"]},
    ]
    write_dataset(tmp_path / "d.parquet", rows, dataset="d", split="train", kind="treebank", labels=[], source="test")
    vectors = np.arange(10, dtype=np.float32).reshape(5, 2)
    for layer in (0, 1):
        writer = LayerWriter(layer_file(tmp_path, layer), 2, "float32", {})
        writer.write(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1]), vectors + layer)
        writer.close()
    words = LabelledVectors(tmp_path, tmp_path / "d.parquet", "word")
    assert words.labels.tolist() == ["A", "B", "A", "B", "A"] and words.last == 1
    np.testing.assert_array_equal(words.layer(1), vectors + 1)
    pairs = LabelledVectors(tmp_path, tmp_path / "d.parquet", "word_pair")
    assert pairs.labels.tolist() == ["l", "r", "r"]
    np.testing.assert_array_equal(pairs.layer(0), np.concatenate([vectors[[0, 2, 4]], vectors[[1, 1, 3]]], axis=1))


# --- geometry


def test_label_distances_of_boxes():
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float32)
    points = np.concatenate([corners, corners + [3, 0, 0], corners + [0, 0, 0.5]])
    labels = np.repeat(["a", "b", "c"], 8).astype(object)
    found = {pair: gap.distance for pair, gap in label_hull_distances(points, labels).items()}
    assert found == pytest.approx({("a", "b"): 2.0, ("a", "c"): 0.0, ("b", "c"): 2.0}, abs=1e-6)


def test_starting_from_another_step_changes_nothing():
    rng = np.random.default_rng(0)
    labels = rng.choice(list("abcd"), size=80).astype(object)
    points = rng.normal(size=(80, 12)) + 3 * np.eye(12)[[ord(x) - 97 for x in labels]]
    moved = points + 0.1 * rng.normal(size=points.shape)
    starts = label_hull_distances(points, labels)
    cold, warm = label_hull_distances(moved, labels), label_hull_distances(moved, labels, starts)
    assert {k: g.distance for k, g in warm.items()} == pytest.approx({k: g.distance for k, g in cold.items()}, abs=1e-6)


def test_separable_labels_have_a_distance_and_others_none():
    """Against HiGHS: is there a hyperplane with one label on each side?"""
    rng = np.random.default_rng(1)
    labels = rng.choice(list("abc"), size=45).astype(object)
    points = rng.normal(size=(45, 4)) + 1.2 * np.eye(4)[[ord(x) - 97 for x in labels]]
    for (a, b), gap in label_hull_distances(points, labels).items():
        signed = np.concatenate([points[labels == a], -points[labels == b]])
        offset = np.concatenate([np.ones((labels == a).sum()), -np.ones((labels == b).sum())])[:, None]
        feasible = linprog(
            np.zeros(5), A_ub=-np.hstack([signed, offset]), b_ub=-np.ones(len(signed)), bounds=[(None, None)] * 5
        ).success
        assert feasible == (gap.distance > 0)


def test_nearest_is_the_smallest_over_both_sides():
    nearest = nearest_distances(distances_of(ab=3.0, ac=1.0, bc=2.0))
    assert nearest.to_dict() == {"a": 1.0, "b": 2.0, "c": 1.0}


def test_similarity_compares_the_labels_that_both_have_or_counts_missing_as_zero():
    one = distances_of(ab=1.0, ac=2.0, bc=3.0, ad=9.0, bd=8.0, cd=7.0)
    other = distances_of(ab=2.0, ac=4.0, bc=6.0)
    assert spatial_similarity(one, other, "shared") == pytest.approx(1.0)
    expected = np.corrcoef([1, 2, 3, 9, 8, 7], [2, 4, 6, 0, 0, 0])[0, 1]
    assert spatial_similarity(one, other, "zero") == pytest.approx(expected)
    assert np.isnan(spatial_similarity(distances_of(ab=1.0), other, "shared"))  # one pair correlates with nothing


def test_labels_of_few_points_are_left_out_or_count_as_0():
    """As the released code has it: 0 in either vector, so that what both drop counts as agreement."""
    one = distances_of(ab=1.0, ac=2.0, bc=3.0, ad=7.0, bd=8.0, cd=9.0).assign(points_a=6, points_b=6)
    one.loc[one["label_b"] == "d", "points_b"] = 5
    assert points_of_labels(one).to_dict() == {"a": 6, "b": 6, "c": 6, "d": 5}
    points = points_of_labels(one)
    assert of_enough_points(one, points, 6, "shared")["distance"].tolist() == [1, 2, 3]
    zeros = of_enough_points(one, points, 6, "zero")
    assert zeros["distance"].tolist() == [1, 2, 3, 0, 0, 0]
    other = distances_of(ab=3.0, ac=2.0, bc=1.0)
    assert spatial_similarity(zeros, other, "zero") == pytest.approx(
        np.corrcoef([1, 2, 3, 0, 0, 0], [3, 2, 1, 0, 0, 0])[0, 1]
    )
    # x is only in one, y only in the other: of their distance neither knows anything
    mixed = distances_of(ax=5.0, ab=1.0, bx=2.0), distances_of(ab=1.0, ay=3.0, by=4.0)
    assert spatial_similarity(*mixed, "zero") == pytest.approx(
        np.corrcoef([1, 5, 0, 2, 0, 0], [1, 0, 3, 0, 4, 0])[0, 1]
    )


def test_labels_with_few_points_are_left_out_on_either_side():
    kept = without_small_labels(distances_of(ab=1.0, ac=2.0, bc=3.0), pd.Series({"a": 6, "b": 7, "c": 5}), 6)
    assert kept[["label_a", "label_b"]].to_numpy().tolist() == [["a", "b"]]


# --- the paper's numbers


def path(by_step: dict[int, dict[int, pd.DataFrame]]) -> pd.DataFrame:
    return pd.concat(
        [frame.assign(step=step, layer=layer) for step, layers in by_step.items() for layer, frame in layers.items()]
    )


def test_ways_of_labels_by_step_and_layer():
    start, end = distances_of(ab=1.0, ac=2.0, bc=4.0), distances_of(ab=2.0, ac=1.0, bc=8.0)
    way = path({0: {1: start, 2: start}, 5: {1: start, 2: end}})
    points = pd.Series({"a": 9, "b": 9, "c": 9})
    nearest = nearest_by_step(way, points, 6, 2)
    assert nearest.loc[0].to_dict() == {"a": 1.0, "b": 1.0, "c": 2.0}
    assert nearest.loc[5].to_dict() == {"a": 1.0, "b": 2.0, "c": 1.0}
    similarity = similarity_by_step(way, points, 6, "shared")
    assert similarity.loc[5, 1] == pytest.approx(1.0) and similarity.loc[0, 2] == pytest.approx(1.0)
    assert similarity.loc[5, 2] == pytest.approx(np.corrcoef([1, 2, 4], [2, 1, 8])[0, 1])


def test_similarity_to_the_start_by_both_rules_for_labels_of_few_points():
    names = ("ab", "ac", "bc", "ad", "bd", "cd")
    start = distances_of(**dict(zip(names, (1.0, 2, 4, 9, 9, 1))))
    end = distances_of(**dict(zip(names, (2.0, 1, 8, 0.1, 5, 7))))
    points, way = pd.Series({"a": 9, "b": 9, "c": 9, "d": 5}), path({0: {1: start}, 5: {1: end}})
    left_out, as_zero = (similarity_by_step(way, points, 6, rule).loc[5, 1] for rule in ("shared", "zero"))
    assert left_out == pytest.approx(np.corrcoef([1, 2, 4], [2, 1, 8])[0, 1])
    assert as_zero == pytest.approx(np.corrcoef([1, 2, 4, 0, 0, 0], [2, 1, 8, 0, 0, 0])[0, 1])


@pytest.mark.parametrize("rule", ["shared", "zero"])
def test_a_task_without_enough_labels_says_what_to_do(rule):
    way, points = path({0: {1: distances_of(ab=1.0)}}), pd.Series({"a": 9, "b": 2})
    with pytest.raises(UserError, match=r"lower zhou2022\.min_points"):
        nearest_by_step(way, points, 6, 1)
    with pytest.raises(UserError, match=r"lower zhou2022\.min_points"):
        similarity_by_step(way, points, 6, rule)


def centroid_frame(places: dict[tuple[int, int, str], list[float]]) -> pd.DataFrame:
    return pd.DataFrame([
        {"step": step, "layer": layer, "label": label, "n_points": 9, "centroid": np.array(place)}
        for (step, layer, label), place in places.items()
    ])  # fmt: skip


def test_movements_are_last_minus_first():
    frame = centroid_frame({(0, 1, "a"): [0, 0], (5, 1, "a"): [9, 9], (10, 1, "a"): [1, 2], (0, 1, "b"): [1, 1],
                            (5, 1, "b"): [0, 0], (10, 1, "b"): [1, 1]})  # fmt: skip
    moved = movements(frame)[1]
    assert moved.loc["a"].tolist() == [1, 2] and moved.loc["b"].tolist() == [0, 0]


def test_a_direction_that_all_labels_share_is_one_axis():
    """Centred, it would vanish: what is left of these movements is as isotropic as the others are."""
    rng = np.random.default_rng(0)
    isotropic = rng.normal(size=(17, 64))
    direction = rng.normal(size=64) / 8
    shared = direction + 0.1 * isotropic / 8
    assert mean_cosine(shared) == pytest.approx(0.99, abs=0.01) and abs(mean_cosine(isotropic)) < 0.05
    arrows, share = two_axes(shared)
    assert share > 0.98 and two_axes(isotropic)[1] < 0.3
    assert two_axes(shared - shared.mean(axis=0))[1] < 0.3
    # arrows keep their length up to the share, and the shared direction points to the right
    assert np.square(arrows).sum() / np.square(shared).sum() == pytest.approx(share)
    assert (arrows[:, 0] > 0.8 * np.linalg.norm(shared, axis=1)).all()


def test_axes_with_a_closed_form():
    arrows, share = two_axes(np.array([[3.0, 0, 0], [0, 2, 0], [0, 0, 1]]))
    assert share == pytest.approx(13 / 14) and np.abs(arrows).tolist() == [[3, 0], [0, 2], [0, 0]]
    arrows, share = two_axes(np.array([[-2.0, 0.0]]))  # one label: one axis
    assert share == 1 and arrows.tolist() == [[2, 0]]
    assert np.isnan(two_axes(np.zeros((3, 4)))[1])


def test_cosines_with_a_closed_form():
    assert mean_cosine(np.array([[1.0, 0], [0, 5], [-2, 0]])) == pytest.approx(-1 / 3)
    assert mean_cosine(np.array([[1.0, 1], [3, 3], [0, 0]])) == pytest.approx(1)  # what did not move has no direction
    assert np.isnan(mean_cosine(np.zeros((2, 2))))
    assert mean_gap(pd.Series([np.zeros(2), np.array([3.0, 4]), np.array([0.0, 0])])) == pytest.approx(10 / 3)


def test_the_lowest_layer_that_the_paper_draws_is_2_of_12():
    assert [low_layer(n) for n in (2, 4, 8, 12, 24)] == [1, 1, 1, 2, 4]


def test_the_closest_labels_by_hulls_and_then_by_centroids():
    pairs = {pair: 5.0 for pair in combinations("abcd", 2)} | {("b", "c"): 1.0, ("b", "d"): 1.0, ("c", "d"): 1.0}
    way = path({0: {1: distances_of(**{"".join(pair): d for pair, d in pairs.items()})}})
    spread_out = centroid_frame({(0, 1, name): [float(at), 0.0] for at, name in enumerate("abcd")})
    assert closest_labels(way, spread_out) == ("b", "c", "d")
    overlapping = way.assign(distance=0.0)
    assert closest_labels(overlapping, centroid_frame(
        {(0, 1, name): [at, 0.0] for at, name in zip((0.0, 0.1, 9.0, 0.2), "abcd")})) == ("a", "b", "d")  # fmt: skip


def test_names_of_published_numbers():
    assert published_cell("base", "ps_fxn", "finetuned") == "base/ps-fxn/tuned"
    assert published_label("ps_role", "p.SocialRel") == "ps-role/social-rel"
    assert published_label("dep", "nmod:npmod") == "dep/nmod:npmod" and published_label("pos", "SYM") == "pos/sym"
    known = set(PUBLISHED.loc[PUBLISHED["artifact"] == "table7", "series"])
    tasks = ("pos", "dep", "ps_fxn", "ps_role", "trec50")
    assert {published_cell("tiny", task, state) for task in tasks for state in ("pretrained", "finetuned")} <= known


# --- tables


def planted_tables(gain: float = 0.05, clusters=(9, 3), test_is_linear: bool = True) -> dict[str, pd.DataFrame]:
    """One encoder, four tasks of three labels; the tuned one's training and test distances are opposites."""
    tables = {"clusters": [], "distances": [], "accuracy": []}
    for task in ("pos", "dep", "ps_fxn", "trec50"):
        for at, model in enumerate(("tiny.0/pretrained", f"tiny.0/{task}.full.f1.s0")):
            key = {"model": model, "task": task, "layer": 2}
            tables["accuracy"] += [
                key | {"first": 32, "second": 64, "alpha": 0.1, "probe_seed": seed, "n_configurations": 8,
                       "grid_stopping": "loss", "accuracy": 0.7 + at * gain + 0.01 * seed}
                for seed in (0, 1, 2)
            ]  # fmt: skip
            for split in ("train", "test"):
                tables["clusters"].append(
                    key | {"split": split, "n_points": 50, "n_labels": 3, "floor": 3, "n_clusters": clusters[at],
                           "linear": at == 1 and (split == "train" or test_is_linear)}
                )  # fmt: skip
                pairs = dict(ab=1.0, ac=2.0, bc=3.0) if split == "train" else dict(ab=3.0, ac=2.0, bc=1.0)
                rows = distances_of(**pairs, ad=9.0, bd=9.0, cd=9.0).assign(points_a=6, points_b=6, split=split)
                rows.loc[rows["label_b"] == "d", "points_b"] = 5
                tables["distances"] += [key | row for row in rows.to_dict("records")]
    # a model probed for another task belongs to table 5, not to table 7
    stranger = {"model": "tiny.0/pos.full.f1.s0", "task": "ps_fxn", "layer": 2}
    tables["distances"] += [row | stranger for row in tables["distances"][:6]]
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def test_a_cell_joins_probe_clusters_and_similarity():
    table = cells(**planted_tables(), at_least=6, missing="zero")
    assert len(table) == 8
    row = table.query("task == 'ps_fxn' and state == 'finetuned'").iloc[0]
    assert row["accuracy"] == pytest.approx(76.0) and row["accuracy_sd"] == pytest.approx(100 * np.std([0, 0.01, 0.02]))
    assert (row["sizes"], row["n_clusters"], row["floor"], row["grid_stopping"]) == ("32, 64", 3, 3, "loss")
    assert row["similarity_shared"] == pytest.approx(-1)  # d has too few points
    assert row["similarity"] == row["similarity_zero"]
    assert row["similarity_zero"] == pytest.approx(np.corrcoef([1, 2, 3, 0, 0, 0], [3, 2, 1, 0, 0, 0])[0, 1])


def test_without_separable_labels_in_both_sets_there_is_no_similarity():
    table = cells(**planted_tables(), at_least=6, missing="shared").set_index(["task", "state"])["similarity"]
    assert table.isna().to_dict()["pos", "pretrained"] and not table.isna().to_dict()["pos", "finetuned"]
    assert cells(**planted_tables(test_is_linear=False), at_least=6, missing="shared")["similarity"].isna().all()


def test_tables_2_3_4_and_7():
    probing = load_script("papers/zhou2022/tables/probing")
    rows = probing.summary(cells(**planted_tables(), at_least=6, missing="shared"), ["tiny.0"], ["pos", "trec50"])
    assert rows["accuracy (%)"].tolist() == pytest.approx([71, 76, 71, 76])
    tasks = list(rows["task"].unique())
    for names, compared in (({}, tasks), ({"tiny.0": "tiny"}, [])):  # an encoder, or data, of our own
        made = probing.with_paper(rows.copy(), PUBLISHED, names, compared)
        assert not [name for name in made if "paper" in name]
    rows = probing.with_paper(rows, PUBLISHED, {"tiny.0": "tiny"}, tasks)
    table2 = probing.table("table2", rows)
    assert table2.loc[0, "tuned: similarity, shared labels"] == pytest.approx(-1)
    assert table2.loc[0, "tuned: similarity, others as 0"] > -1
    assert table2.loc[0, "original: accuracy (%)"] == pytest.approx(71)
    assert table2.loc[0, ["tuned: accuracy (%), paper", "tuned: accuracy (%), paper_sd"]].tolist() == [91.67, 0.29]
    assert np.isnan(table2.loc[0, "original: similarity, shared labels"])  # undefined, as the labels did not separate
    table3 = probing.table("table3", rows)
    assert table3[["original: linear", "tuned: linear"]].to_numpy().tolist() == [["no", "yes"]] * 2
    assert table3[["original: clusters, paper", "tuned: linear, paper"]].to_numpy().tolist() == [
        ["3936", "no"], ["399", "no"]
    ]  # fmt: skip
    table4 = probing.table("table4", rows)
    assert table4.loc[0, "original: clusters"] == "9" and table4.loc[0, "tuned: clusters, paper"] == "51"
    assert table4.loc[0, ["labels", "floor"]].tolist() == [3, 3]
    table7 = probing.table("table7", rows)
    assert table7["accuracy (%), paper"].tolist() == [90.76, 91.67, 68.12, 84.04]
    assert set(table7["grid stops by"]) == {"loss"} and set(table7["± over"]) == {"probe seeds"}


def test_published_columns_stand_only_beside_the_papers_encoders():
    rows = pd.DataFrame({"encoder": ["bert.0", "mine.0"], "layers": [12, 4], "parameters (M)": [108.9, 1.0]})
    columns = {"layers": "layers", "parameters (M)": "parameters_m"}
    made = beside_paper(rows.copy(), PUBLISHED, "table1", ["base", ""], columns)
    assert made["layers, paper"].tolist() == ["12", "–"] and made["parameters (M), paper"].tolist()[0] == 110.1
    assert list(beside_paper(rows.copy(), PUBLISHED, "table1", ["", ""], columns)) == list(rows)


def test_captions_say_what_a_spread_is_over():
    assert accuracy_spread(1, 5) == "one standard deviation over the probe's 5 seeds, with one fine-tuning run"
    assert accuracy_spread(3, 5).startswith("one standard deviation over 3 fine-tuning seeds")


def cross_distances() -> pd.DataFrame:
    frames = []
    for model, factor in {"pretrained": 1.0, "ps_fxn.full.f1.s0": 3.0, "pos.full.f1.s0": 0.5}.items():
        for split in ("train", "test"):
            pairs = {f"{a}{b}": factor * (1 + at) for at, (a, b) in enumerate(combinations("abcd", 2))}
            frames.append(distances_of(**pairs).assign(model=f"base.0/{model}", task="ps_fxn", split=split, layer=4))
    return pd.concat(frames)


def cross_accuracy(scores: dict[str, tuple[float, ...]]) -> pd.DataFrame:
    return pd.DataFrame([
        {"model": f"base.0/{model}", "task": "ps_fxn", "probe_seed": seed, "accuracy": value}
        for model, values in scores.items() for seed, value in enumerate(values)
    ])  # fmt: skip


def test_table_5_counts_labels_whose_nearest_came_closer_or_went_away():
    changes = changes_of_nearest(cross_distances(), "ps_fxn")
    assert changes["ps_fxn"]["change"].tolist() == [2.0, 2.0, 4.0, 6.0]
    accuracy = cross_accuracy(
        {"pretrained": (0.5, 0.5), "ps_fxn.full.f1.s0": (0.7, 0.8), "pos.full.f1.s0": (0.25, 0.25)}
    )
    table5 = load_script("papers/zhou2022/tables/table5")
    table = table5.compare(cross_distances(), accuracy, {"ps_fxn": ["ps_fxn", "pos"]})
    assert table["accuracy (%)"].tolist() == pytest.approx([50, 75, 25])
    assert table["accuracy (%)_sd"].tolist() == pytest.approx([0, 5, 0])  # of the probe's seeds themselves
    assert table["increased"].tolist()[1:] == ["4", "0"] and table["decreased"].tolist()[1:] == ["0", "4"]
    assert table["average increase"].tolist()[1:] == [3.5, -0.875]
    assert list(table5.with_paper(table.copy(), PUBLISHED, [])) == list(table)  # stand-in data
    assert list(table5.with_paper(table.copy(), PUBLISHED, ["pos"])) == list(table)
    stated = table5.with_paper(table, PUBLISHED, ["ps_fxn", "pos"])
    assert stated["accuracy (%), paper"].tolist() == [87.75, 89.58, 83.24]
    assert stated["decreased, paper"].tolist() == ["–", "0", "40"]


def test_several_tuning_seeds_are_the_repetitions_of_table_5():
    one = {"pretrained": (0.5, 0.6), "pos.full.f1.s3": (0.2, 0.4)}
    table, unit = cross_accuracies(cross_accuracy(one), "ps_fxn")
    assert unit == "probe seeds" and table["pos"].tolist() == pytest.approx([20, 40])
    table, unit = cross_accuracies(cross_accuracy(one | {"pos.full.f1.s4": (0.4, 0.4)}), "ps_fxn")
    assert unit == "runs" and table.dropna()["pos"].tolist() == pytest.approx([30, 40])
    assert table["none"].tolist() == pytest.approx([55] * len(table))


# --- claims: the paper's own numbers as analysis tables

TASKS = {"pos": 17, "dep": 46, "ps_fxn": 40, "ps_role": 46, "trec50": 50}
FOLLOWED, LAYERS, STEPS = ("pos", "dep", "ps_fxn", "ps_role"), (1, 2, 4, 6, 8, 10, 12), (0, 100, 176)
SETTINGS = {"tasks": list(TASKS), "table3": "tiny.0", "min_points": 6, "missing_labels": "shared",
            "cross_tasks": {"ps_fxn": ["ps_fxn", "ps_role", "pos"]}}  # fmt: skip
# five seeds of a probe, of standard deviation 1; patterns do not correlate
SEEDS = np.array([[-2, -1, 0, 1, 2], [2, -1, -2, -1, 2], [-1, 2, 0, -2, 1], [1, -4, 6, -4, 1]], dtype=float)
SEEDS /= SEEDS.std(axis=1, keepdims=True)


def probe_rows(about: dict, mean: float, sd: float, pattern: int = 0) -> list[dict]:
    return [
        about | {"first": 64, "second": 64, "alpha": 0.1, "probe_seed": seed, "n_configurations": 128,
                 "grid_stopping": "loss", "accuracy": (mean + sd * at) / 100}
        for seed, at in enumerate(SEEDS[pattern])
    ]  # fmt: skip


def correlated(r: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two positive vectors whose Pearson correlation is r."""
    drawn = rng.normal(size=(n, 2))
    x, y = np.linalg.qr(drawn - drawn.mean(axis=0))[0].T
    return 2 + x, 2 + r * x + (1 - r**2) ** 0.5 * y


def own_table_7() -> dict[str, list[dict]]:
    rng, tables = np.random.default_rng(0), {"clusters": [], "distances": [], "accuracy": []}
    paper = PUBLISHED[PUBLISHED["artifact"] == "table7"].set_index(["series", "x"])
    for size, task in product(("tiny", "mini", "small", "medium", "base"), TASKS):
        for state, adapted in (("pretrained", "pretrained"), ("finetuned", f"{task}.full.f1.s0")):
            name = published_cell(size, task, state)
            about = {"model": f"{size}.0/{adapted}", "task": task, "layer": 2}
            number = {x: paper["value"].get((name, x), np.nan) for x in ("accuracy", "clusters", "linear")}
            tables["accuracy"] += probe_rows(about, number["accuracy"], paper["error"][name, "accuracy"])
            similarity = paper["value"].get((name, "train_test_similarity"), 0.0)
            for split, vector in zip(("train", "test"), correlated(similarity, 10, rng)):
                tables["clusters"].append(
                    about | {"split": split, "n_points": 999, "n_labels": TASKS[task], "n_clusters": number["clusters"],
                             "floor": TASKS[task] + 2 * (task == "trec50"), "linear": bool(number["linear"])}
                )  # fmt: skip
                tables["distances"] += [
                    about | {"split": split, "label_a": a, "label_b": b, "points_a": 9, "points_b": 9, "distance": d}
                    for (a, b), d in zip(combinations("abcde", 2), vector)
                ]
    return tables


def own_table_5() -> dict[str, list[dict]]:
    """40 labels, of which the first two are each other's nearest; others are as far apart as the larger one says."""
    before = np.concatenate([[2.0, 2.0], np.linspace(4, 10, 38)])
    changes = {
        "pretrained": np.zeros(40),
        "ps_fxn.full.f1.s0": np.concatenate([[3.3, 3.3], np.linspace(3.3, 7.49, 38)]),
        "ps_role.full.f1.s0": np.concatenate([np.full(27, 1.896), np.full(13, -0.8)]),
        "pos.full.f1.s0": np.concatenate([[-0.5, -0.5], np.full(38, -1.742)]),
    }
    # of PS-role and POS no spread is published
    scores = {"pretrained": (87.75, 0.41), "ps_fxn.full.f1.s0": (89.58, 0.67), "ps_role.full.f1.s0": (88.53, 0.3),
              "pos.full.f1.s0": (83.24, 0.4)}  # fmt: skip
    distances, accuracy = [], []
    for pattern, (adapted, change) in enumerate(changes.items()):
        about, own = {"model": f"base.0/{adapted}", "task": "ps_fxn", "layer": 12}, before + change
        distances += [
            about | {"split": "train", "label_a": f"l{a:02d}", "label_b": f"l{b:02d}", "distance": max(own[a], own[b])}
            for a, b in combinations(range(40), 2)
        ]
        accuracy += probe_rows(about, *scores[adapted], pattern)
    return {"cross_distances": distances, "cross_accuracy": accuracy}


def last_layer(ends: pd.DataFrame, similarity: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Distances at start and end, of labels in pairs: each has a near one at the published distance, all others are
    far, and so that start and end correlate as published."""
    near, n_far = ends[["start", "end"]].to_numpy().T, 2 * len(ends) * (len(ends) - 1)
    x, y = rng.uniform(-1.7, 1.7, size=(2, n_far))

    def vectors(mixed: float) -> tuple[np.ndarray, np.ndarray]:
        far = 150 + 40 * x, 150 + 40 * (mixed * x + (1 - mixed**2) ** 0.5 * y)
        return tuple(np.concatenate(parts) for parts in zip(near, far))

    return vectors(brentq(lambda mixed: np.corrcoef(*vectors(mixed))[0, 1] - similarity, -0.999, 0.999))


def own_paths() -> dict[str, list[dict]]:
    """Figures 3, 5 and 7-10 have no published numbers: labels of low layers take one short way (INTJ and SYM another),
    those of high layers long ways of their own."""
    rng, distances, places = np.random.default_rng(1), [], []
    ends = PUBLISHED[PUBLISHED["artifact"] == "fig6_min_distance"].pivot(index="series", columns="x", values="value")
    similar = PUBLISHED[PUBLISHED["artifact"] == "fig4_similarity_at_end"].set_index(["series", "x"])["value"]
    for task in FOLLOWED:
        name = task.replace("_", "-")
        of_task = ends[ends.index.str.startswith(f"{name}/")]
        shown = [label.partition("/")[2].upper() for label in of_task.index]
        partners = [(label, f"{label}~") for label in shown]
        names = sorted(label for pair in partners for label in pair)
        pairs = partners + [pair for pair in combinations(names, 2) if pair not in partners]
        for layer in LAYERS:
            about = {"model": f"base.0/{task}.full.f1.s0", "task": task, "layer": layer}
            r = similar.get((name, str(layer)), 0.999)
            start, end = last_layer(of_task, r, rng) if layer == 12 else correlated(r, len(pairs), rng)
            middle = np.where(start < end, start - 0.1, end)  # the paper: distances may fall on the way
            distances += [
                about | {"step": step, "label_a": a, "label_b": b, "distance": d}
                for step, vector in zip(STEPS, (start, middle, end)) for (a, b), d in zip(pairs, vector)
            ]  # fmt: skip
            way = rng.normal(size=8)
            for label in [*names, "INTJ"] if task == "pos" else names:
                moved = 0.1 * (way if label not in ("INTJ", "SYM") else rng.normal(size=8)) if layer < 8 else None
                moved = 0.01 * rng.normal(size=8) + moved if layer < 8 else 5 * rng.normal(size=8)
                first = rng.normal(size=8)
                places += [
                    about | {"step": step, "label": label, "n_points": 1 if label == "INTJ" else 9,
                             "centroid": first + share * moved}
                    for step, share in zip(STEPS, (0, 0.5, 1))
                ]  # fmt: skip
    return {"path_distances": distances, "path_centroids": places}


@pytest.fixture(scope="module")
def own() -> dict[str, pd.DataFrame]:
    tables = own_table_7() | own_table_5() | own_paths()
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def judged(tables: dict[str, pd.DataFrame], **settings) -> dict:
    return {claim.name: claim for claim in all_claims(tables, SETTINGS | settings)}


def test_every_claim_holds_on_the_papers_own_numbers(own):
    found = all_claims(own, SETTINGS)
    assert verdicts(found) == expected_on_own_numbers("zhou2022")
    said = {claim.name: claim.evidence for claim in found}
    assert "accuracy rises in 24 of 25 (not: small.0/ps_fxn -1.18)" in said["tuning_improves"]
    assert "16 of 16" in said["similarity_falls"] and "15 of 16" in said["divergence_rarely_hurts"]
    assert "small.0/ps_fxn 0.44" in said["exception_is_least_similar"]
    assert "4 of 5" in said["smallest_is_mostly_not_linear"] and "9 of 9" in said["clusters_fall"]
    assert "tuned on ps_role 1.02" in said["related_tasks_help"] and "labels of one run" in said["related_tasks_help"]
    assert "probe seeds" in said["cross_accuracy_order"]
    assert "dep 1.00 to 0.52" in said["similarity_falls_with_depth"] and "ps_role 0.69" in said["similarity_stays"]


def renamed(frame: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """Models tuned on one task and on another change places."""
    names = {f"/{one}.": f"/{other}.", f"/{other}.": f"/{one}."}
    return frame.assign(model=frame["model"].str.replace("/(ps_fxn|pos)[.]", lambda m: names[m.group()], regex=True))


def spoilt(tables: dict[str, pd.DataFrame], claim: str) -> dict[str, pd.DataFrame]:
    """The paper's numbers with the one changed that a claim is about."""
    tables = {name: frame.copy() for name, frame in tables.items()}
    is_tuned = {name: ~frame["model"].str.endswith("pretrained") for name, frame in tables.items()}
    path_distances, centroids = tables["path_distances"], tables["path_centroids"]
    at_last = path_distances["layer"] == 12
    swapped_layers = {2: 12, 12: 2}
    if claim in ("tuning_improves", "divergence_rarely_hurts"):
        tables["accuracy"].loc[is_tuned["accuracy"], "accuracy"] -= 0.5
    elif claim == "similarity_falls":
        rows = is_tuned["distances"] & tables["distances"]["model"].str.startswith("mini")
        tables["distances"].loc[rows, "distance"] = np.tile(np.arange(10.0), rows.sum() // 10)
    elif claim == "exception_is_least_similar":
        tables["accuracy"].loc[tables["accuracy"]["model"] == "mini.0/pos.full.f1.s0", "accuracy"] = 0.5
    elif claim == "smallest_is_mostly_not_linear":
        before = tables["clusters"]["model"] == "tiny.0/pretrained"
        tables["clusters"].loc[before, "n_clusters"] = tables["clusters"].loc[before, "floor"]
    elif claim == "clusters_fall":
        tables["clusters"].loc[tables["clusters"]["model"] == "tiny.0/pos.full.f1.s0", "n_clusters"] = 4000
    elif claim == "labels_stay_separable":
        path_distances.loc[3, "distance"] = 0.0
    elif claim == "labels_move_apart":
        tables["path_distances"] = path_distances.assign(step=path_distances["step"].max() - path_distances["step"])
    elif claim == "growth_is_not_steady":
        halfway = at_last & (path_distances["step"] == 100)
        ends = [path_distances.loc[at_last & (path_distances["step"] == step), "distance"] for step in (0, 176)]
        path_distances.loc[halfway, "distance"] = (ends[0].to_numpy() + ends[1].to_numpy()) / 2
    elif claim == "closest_labels_part":
        tables["path_centroids"] = centroids.assign(step=centroids["step"].max() - centroids["step"])
    elif claim == "cross_tasks_stay_separable":
        rows = tables["cross_distances"]["model"] == "base.0/pos.full.f1.s0"
        tables["cross_distances"].loc[rows, "distance"] = 0.0
    elif claim in ("related_tasks_help", "labels_of_table_5"):
        tables["cross_distances"] = renamed(tables["cross_distances"], "ps_fxn", "pos")
    elif claim == "cross_accuracy_order":
        tables["cross_accuracy"] = renamed(tables["cross_accuracy"], "ps_fxn", "pos")
    elif claim == "distance_goes_with_accuracy":
        tables["cross_accuracy"]["accuracy"] = 1 - tables["cross_accuracy"]["accuracy"]
    elif claim == "similarity_falls_with_depth":
        tables["path_distances"] = path_distances.assign(layer=path_distances["layer"].replace(swapped_layers))
    elif claim == "similarity_stays":
        start, end = (at_last & (path_distances["step"] == step) for step in (0, 176))
        path_distances.loc[end, "distance"] = 300 - path_distances.loc[start, "distance"].to_numpy()
    elif claim in ("low_layers_move_little", "low_layers_move_in_few_directions"):
        tables["path_centroids"] = centroids.assign(layer=centroids["layer"].replace(swapped_layers))
    elif claim == "intj_and_sym_stand_out":
        in_low = centroids[(centroids["layer"] == 2) & (centroids["task"] == "pos")]
        usual = in_low[in_low["label"] == "NOUN"].set_index("step")["centroid"]
        for at, row in in_low[in_low["label"].isin(["INTJ", "SYM"])].iterrows():
            centroids.at[at, "centroid"] = usual[row["step"]]
    return tables


@pytest.mark.parametrize("claim", expected_on_own_numbers("zhou2022"))
def test_every_claim_fails_where_the_opposite_is_planted(own, claim):
    found = judged(spoilt(own, claim))[claim]
    assert found.verdict == FAILS, found.evidence


def test_all_distances_grow_if_all_do(own):
    """Without the labels of figure 6 that end no higher than they began."""
    frame = own["path_distances"]
    falling = "NMOD|CC:PRECONJ|OBL|CHARACTERISTIC"
    kept = ~frame["label_a"].str.contains(falling) & ~frame["label_b"].str.contains(falling)
    assert judged(own | {"path_distances": frame[kept]})["all_distances_grow"].verdict == HOLDS


def only(own: dict[str, pd.DataFrame], *encoders: str) -> dict[str, pd.DataFrame]:
    """Table 7 of these encoders alone."""
    pattern = "|".join(f"^{encoder}/" for encoder in encoders)
    return own | {
        name: own[name][own[name]["model"].str.contains(pattern)] for name in ("clusters", "distances", "accuracy")
    }


def test_one_encoder_decides_what_can_be_decided(own):
    """As `config/paper.yaml` has it: five cells of BERT-base, which is not the small one, and one that could fall."""
    found = judged(only(own, "base.0"), table3="base.0")
    undecided = {name for name, claim in found.items() if claim.verdict == UNCLEAR}
    assert undecided == {"exception_is_least_similar", "smallest_is_mostly_not_linear", "clusters_fall"}
    assert found["tuning_improves"].verdict == found["similarity_falls"].verdict == HOLDS
    assert "none clearly loses accuracy" in found["exception_is_least_similar"].evidence


def test_cells_at_their_floor_have_no_vote(own):
    """TREC-50 at 52 clusters cannot fall to 50."""
    tables, floor = dict(own), own["clusters"]["floor"]
    above = own["clusters"]["model"].str.endswith("pretrained") & (own["clusters"]["task"] != "trec50")
    tables["clusters"] = own["clusters"].assign(n_clusters=floor.where(~above, own["clusters"]["n_clusters"]))
    found = judged(tables)["clusters_fall"]
    assert found.verdict == HOLDS and "4 of 4" in found.evidence and "trec50" not in found.evidence
    tables["clusters"] = own["clusters"].assign(n_clusters=floor)
    assert judged(tables)["clusters_fall"].verdict == UNCLEAR


def test_a_single_exception_refutes_nothing_and_two_of_five_do(own):
    def with_losses(*tasks: str) -> str:
        tables = only(own, "base.0")
        lost = tables["accuracy"]["model"].isin([f"base.0/{task}.full.f1.s0" for task in tasks])
        tables["accuracy"] = tables["accuracy"].assign(accuracy=tables["accuracy"]["accuracy"] - 0.5 * lost)
        return judged(tables, table3="base.0")["tuning_improves"].verdict

    assert [with_losses(), with_losses("pos"), with_losses("pos", "dep")] == [HOLDS, UNCLEAR, FAILS]


def test_a_loss_within_the_spread_of_the_probes_seeds_is_no_exception(own):
    accuracy = own["accuracy"].copy()
    for task, lost in (("pos", 0.2), ("dep", 0.1)):
        for model in ("pretrained", f"{task}.full.f1.s0"):
            rows = (accuracy["model"] == f"base.0/{model}") & (accuracy["task"] == task)
            values = 0.9 + 0.01 * SEEDS[0] - lost / 100 * (model != "pretrained")
            accuracy.loc[rows, "accuracy"] = values
    found = judged(own | {"accuracy": accuracy})
    assert found["tuning_improves"].verdict == HOLDS and "22 of 25" in found["tuning_improves"].evidence
    assert "1 of these clear of the probe's spread" in found["tuning_improves"].evidence
    assert found["exception_is_least_similar"].verdict == HOLDS  # small/ps_fxn still


def test_few_cells_cannot_tell(own):
    tables = only(own, "base.0")
    found = judged({name: f[f["task"].isin(["pos", "dep"])] if name in ("clusters", "distances", "accuracy") else f
                    for name, f in tables.items()}, table3="base.0", tasks=["pos", "dep"])  # fmt: skip
    assert found["tuning_improves"].verdict == found["divergence_rarely_hurts"].verdict == UNCLEAR
    assert found["similarity_falls"].verdict == HOLDS  # of every cell: two may decide


def test_claims_across_tasks_need_what_they_compare(own):
    assert falling_pairs("a", ["a", "b", "c", "d"]) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "none"),
        ("c", "none"),
        ("none", "d"),
    ]
    assert falling_pairs("a", ["b", "c"]) == [("b", "none"), ("none", "c")]
    for tasks, verdict in ((["ps_fxn", "pos"], HOLDS), (["pos"], UNCLEAR), (["pos", "ps_fxn"], FAILS)):
        found = judged(own, cross_tasks={"ps_fxn": tasks})
        assert found["related_tasks_help"].verdict == found["cross_accuracy_order"].verdict == verdict, tasks
    without = {name: frame for name, frame in own.items() if not name.startswith("cross_")}
    found = judged(without, cross_tasks={})["related_tasks_help"]
    assert found.verdict == UNCLEAR and "not measured in this run" in found.evidence


def test_a_mixed_order_of_distances_and_accuracies_cannot_tell(own):
    accuracy = own["cross_accuracy"].copy()
    accuracy.loc[accuracy["model"].str.contains("ps_role"), "accuracy"] += 0.05
    found = judged(own | {"cross_accuracy": accuracy})["distance_goes_with_accuracy"]
    assert found.verdict == UNCLEAR and "0.80" in found.evidence


def test_shared_movements_of_the_last_layer_refute_few_directions_below(own):
    """Were the axes centred, movements of mean cosine 0.99 would seem as scattered as isotropic ones."""
    rng, centroids = np.random.default_rng(0), own["path_centroids"].copy()
    low = centroids["layer"] == 2
    centroids.loc[low, "centroid"] = pd.Series([rng.normal(size=8) for _ in range(low.sum())], centroids.index[low])
    top = (centroids["layer"] == 12) & (centroids["step"] == 176)
    start = centroids[(centroids["layer"] == 12) & (centroids["step"] == 0)].set_index(["task", "label"])["centroid"]
    for at, row in centroids[top].iterrows():
        centroids.at[at, "centroid"] = start[row["task"], row["label"]] + 50 + rng.normal(size=8)
    found = judged(own | {"path_centroids": centroids})["low_layers_move_in_few_directions"]
    assert found.verdict == FAILS and "1.00 (mean cosine" in found.evidence


# --- measured numbers


def test_similarities_are_measured_by_both_rules_and_one_is_compared(own):
    table = cells(own["clusters"], own["distances"], own["accuracy"], 6, "shared")
    rows = {(series, x): value for _, series, x, value in measured.of_table7(table, {"base.0": "base"}, "shared")}
    assert rows["base/pos/orig", "train_test_similarity"] == pytest.approx(0.97)
    assert ("base/pos/orig", "train_test_similarity, missing labels as 0") in rows
    rows = {x for _, _, x, _ in measured.of_table7(table, {"base.0": "base"}, "zero")}
    assert {"train_test_similarity", "train_test_similarity, shared labels"} <= rows


def test_a_run_that_finds_the_papers_numbers_is_within_all_tolerances(own):
    """Of everything that is planted above; table 6 with and without PUD's empty nodes."""
    table = cells(own["clusters"], own["distances"], own["accuracy"], 6, "shared")
    rows = measured.of_table7(
        table, {f"{size}.0": size for size in ("tiny", "mini", "small", "medium", "base")}, "shared"
    )
    rows += measured.of_table5(own["cross_distances"], own["cross_accuracy"])
    rows += measured.of_paths(own["path_distances"], own["path_centroids"], 6, "shared")
    sizes = {"POS": (16854, 4322, 17), "DEP": (16054, 4122, 46), "PS-fxn": (4282, 457, 40), "PS-role": (4282, 457, 46),
             "TREC-50": (5452, 500, 50)}  # fmt: skip
    columns = ["train points", "test points", "labels"]
    rows += measured.of_table6(
        pd.DataFrame.from_dict(sizes, "index", columns=columns).rename_axis("task").reset_index()
    )
    shapes = [("bert.0", 12, 768, 109.48), ("mini.0", 4, 256, 11.17)]
    shown = pd.DataFrame(shapes, columns=["encoder", "layers", "hidden size", "parameters (M)"])
    rows += measured.of_table1(shown, {"bert.0": "base", "mini.0": "mini"})
    found = compare(PUBLISHED, summarised(rows, measured.TOLERANCES), "zhou2022")
    missing = found[found["within"] == "not measured"]
    assert set(missing["artifact"]) == {"table1"} and set(missing["series"]) == {"tiny", "small", "medium"}
    assert set(found["within"]) == {"yes", "another rule", "not measured"}
    similarities = PUBLISHED["x"].eq("train_test_similarity") | PUBLISHED["artifact"].eq("fig4_similarity_at_end")
    assert (found["within"] == "another rule").sum() == similarities.sum()


# --- DirectProbe's rule, and figures


def test_the_rule_counts_clusters_and_distances():
    probe = load_script("scripts/directprobe")
    rng = np.random.default_rng(0)
    labels = np.repeat(["x", "y"], 20).astype(object)
    apart = rng.normal(size=(40, 3)) + np.where(labels == "x", 5, -5)[:, None]
    expected = {"n_points": 40, "n_labels": 2, "floor": 2, "n_clusters": 2, "linear": True}
    assert probe.clusters_row(apart, labels, True) == expected
    mixed = rng.normal(size=(40, 3))
    mixed[0] = mixed[39]
    found = probe.clusters_row(mixed, labels, True)
    assert not found["linear"] and found["floor"] == 4
    rows = [{"label_a": "x", "label_b": "y", "points_a": 20, "points_b": 20, "distance": 0.0}]
    assert list(probe.distance_rows(mixed, labels)) == rows


def test_figure_1_shows_labels_that_separate_and_labels_that_do_not():
    figure1 = load_script("papers/zhou2022/figures/fig1")
    from workflow.lib.methods.directprobe.clustering import probe

    assert [probe(points, y).n_clusters for points, y in figure1.two_scenes(0)] == [2, 3]


def test_shown_labels_are_those_of_extreme_increase():
    nearest = pd.DataFrame({name: [0.0, float(at)] for at, name in enumerate("abcdefgh")})
    assert load_script("papers/zhou2022/figures/nearest_labels").extremes(nearest) == ["h", "g", "f", "c", "b", "a"]


def test_published_ends_are_marked_for_the_labels_that_are_drawn():
    script = load_script("papers/zhou2022/figures/nearest_labels")
    _, (with_paper, without) = new_figure(ncols=2)
    nearest = pd.DataFrame({"SYM": [1.0, 2.0, 3.0], "ADP": [1.0, 1.0, 1.0]}, index=[0, 5, 8])
    paper = script.published_ends(PUBLISHED)
    script.draw_task(with_paper, "pos", nearest, paper)
    script.draw_task(without, "pos", nearest, paper.iloc[:0])
    crosses = [
        line.get_xydata().tolist() for line in with_paper.lines if line.get_marker() == "x" and len(line.get_xdata())
    ]
    assert crosses == [[[0.0, 3.9], [8.0, 12.8]]] and with_paper.get_ylim()[1] > 12.8
    assert not [line for line in without.lines if line.get_marker() == "x"]
    assert "paper" in [text.get_text() for text in with_paper.get_legend().get_texts()]


def test_the_legend_of_movements_stands_below_the_arrows():
    figure, axes = new_figure()
    load_script("papers/zhou2022/figures/movements").draw_layer(axes, pd.DataFrame(np.eye(6)[:, :3]), 1)
    figure.canvas.draw()
    assert axes.get_legend().get_window_extent().y1 < axes.get_window_extent().y0


def test_panels_of_movements_say_what_their_axes_hold():
    script = load_script("papers/zhou2022/figures/movements")
    _, axes = new_figure()
    moved = pd.DataFrame([[3.0, 4, 0], [6, 8, 0], [0, 0, 5]], index=["a", "b", "c"])
    script.draw_layer(axes, moved, 7)
    assert axes.get_title() == "layer 7: mean length 6.7\n2 axes: 100 %"


def test_figure_4_leaves_no_empty_axes_and_marks_only_tasks_that_compare():
    similarity = pd.DataFrame({1: [1.0, 0.8], 2: [1.0, 0.6]}, index=[0, 40])
    published = {"dep": pd.Series({"2": 0.5})}
    script = load_script("papers/zhou2022/figures/fig4")
    figure = script.draw(dict.fromkeys(("pos", "dep", "ps_fxn"), similarity), published)
    assert [axes.axison for axes in figure.axes] == [True, True, True, False]
    crosses = [sum(line.get_marker() == "x" and len(line.get_xdata()) for line in axes.lines) for axes in figure.axes]
    assert crosses == [0, 1, 0, 0] and figure.axes[0].get_ylim() == (0, 1.1)
    plt.close(figure)
