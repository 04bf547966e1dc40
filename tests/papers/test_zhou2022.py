"""zhou2022's numbers, figures' choices and claims, against planted truths and plain versions."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from tests.scripts import load_script
from workflow.lib.activations.cache import LayerWriter, layer_file
from workflow.lib.activations.labelled_vectors import LabelledVectors
from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.methods.directprobe.label_geometry import nearest_distances, spatial_similarity, without_small_labels
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances
from workflow.papers.zhou2022 import claims
from workflow.papers.zhou2022.numbers import (
    cells,
    changes_of_nearest,
    closest_labels,
    movements,
    nearest_by_step,
    published_cell,
    similarity_by_step,
)

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"


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


def test_similarity_compares_the_pairs_that_both_have_or_counts_missing_as_zero():
    one = distances_of(ab=1.0, ac=2.0, bc=3.0, ad=9.0)
    other = distances_of(ab=2.0, ac=4.0, bc=6.0)
    assert spatial_similarity(one, other, "shared") == pytest.approx(1.0)
    expected = np.corrcoef([1, 2, 3, 9], [2, 4, 6, 0])[0, 1]
    assert spatial_similarity(one, other, "zero") == pytest.approx(expected)
    assert np.isnan(spatial_similarity(one.head(2), other, "shared"))  # two pairs always correlate


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
    similarity = similarity_by_step(way, points, 6)
    assert similarity.loc[5, 1] == pytest.approx(1.0) and similarity.loc[0, 2] == pytest.approx(1.0)
    assert similarity.loc[5, 2] == pytest.approx(np.corrcoef([1, 2, 4], [2, 1, 8])[0, 1])


def test_a_task_without_enough_labels_says_what_to_do():
    way = path({0: {1: distances_of(ab=1.0)}})
    with pytest.raises(UserError, match=r"lower zhou2022\.min_points"):
        nearest_by_step(way, pd.Series({"a": 9, "b": 2}), 6, 1)


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


def test_the_closest_labels_by_hulls_and_then_by_centroids():
    pairs = {pair: 5.0 for pair in combinations("abcd", 2)} | {("b", "c"): 1.0, ("b", "d"): 1.0, ("c", "d"): 1.0}
    way = path({0: {1: distances_of(**{"".join(pair): d for pair, d in pairs.items()})}})
    spread_out = centroid_frame({(0, 1, name): [float(at), 0.0] for at, name in enumerate("abcd")})
    assert closest_labels(way, spread_out) == ("b", "c", "d")
    overlapping = way.assign(distance=0.0)
    assert closest_labels(overlapping, centroid_frame(
        {(0, 1, name): [at, 0.0] for at, name in zip((0.0, 0.1, 9.0, 0.2), "abcd")})) == ("a", "b", "d")  # fmt: skip


def test_names_of_published_cells():
    assert published_cell("base", "ps_fxn", "finetuned") == "base/ps-fxn/tuned"
    published = pd.read_csv(ROOT / "workflow/papers/zhou2022/published.csv")
    known = set(published.loc[published["artifact"] == "table7", "series"])
    tasks = ("pos", "dep", "ps_fxn", "ps_role", "trec50")
    assert {published_cell("tiny", task, state) for task in tasks for state in ("pretrained", "finetuned")} <= known


def planted_tables(gain: float = 0.05, similarity=(0.9, 0.6), clusters=(9, 3)) -> dict[str, pd.DataFrame]:
    tables = {"clusters": [], "similarity": [], "accuracy": []}
    for task in ("pos", "dep", "ps_fxn", "trec50"):
        for at, model in enumerate(("tiny.0/pretrained", f"tiny.0/{task}.full.f1.s0")):
            key = {"model": model, "task": task, "layer": 2}
            tables["accuracy"] += [
                key | {"first": 32, "second": 64, "alpha": 0.1, "probe_seed": seed, "n_configurations": 8,
                       "accuracy": 0.7 + at * gain + 0.01 * seed}
                for seed in (0, 1, 2)
            ]  # fmt: skip
            tables["clusters"] += [
                key | {"split": split, "n_points": 50, "n_labels": 3, "n_clusters": clusters[at], "linear": at == 1}
                for split in ("train", "test")
            ]
            tables["similarity"].append(key | {"shared": similarity[at], "zero": 0.0})
    # a model probed for another task belongs to table 5, not to table 7
    stranger = {"model": "tiny.0/pos.full.f1.s0", "task": "ps_fxn", "layer": 2}
    tables["similarity"].append(stranger | {"shared": 0.1, "zero": 0.1})
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def test_a_cell_joins_probe_clusters_and_similarity():
    table = cells(**planted_tables())
    assert len(table) == 8
    row = table.query("task == 'ps_fxn' and state == 'finetuned'").iloc[0]
    assert row["accuracy"] == pytest.approx(76.0) and row["accuracy_sd"] == pytest.approx(100 * np.std([0, 0.01, 0.02]))
    assert (row["sizes"], row["n_clusters"], row["similarity_shared"]) == ("32, 64", 3, 0.6)


def test_tables_2_3_4_and_7():
    probing = load_script("papers/zhou2022/tables/probing")
    published = pd.read_csv(ROOT / "workflow/papers/zhou2022/published.csv")
    rows = probing.summary(cells(**planted_tables()), ["tiny.0"], ["pos", "trec50"])
    assert rows["accuracy (%)"].tolist() == pytest.approx([71, 76, 71, 76])
    assert "paper: accuracy" not in probing.with_paper(rows.copy(), published, {})
    rows = probing.with_paper(rows, published, {"tiny.0": "tiny"})
    table2 = probing.table("table2", rows)
    assert table2.loc[0, "tuned: similarity"] == 0.6 and table2.loc[0, "original: accuracy (%)"] == pytest.approx(71)
    assert np.isnan(table2.loc[0, "original: similarity"])  # undefined, as the labels did not separate
    table3 = probing.table("table3", rows)
    assert table3[["original: linear", "tuned: linear"]].to_numpy().tolist() == [["no", "yes"]] * 2
    table4 = probing.table("table4", rows)
    assert table4.loc[0, "original: clusters"] == "9" and table4.loc[0, "tuned: paper: clusters"] == 51
    assert probing.table("table7", rows)["paper: accuracy"].tolist() == [90.76, 91.67, 68.12, 84.04]


def cross_distances() -> pd.DataFrame:
    frames = []
    for model, factor in {"pretrained": 1.0, "ps_fxn.full.f1.s0": 3.0, "pos.full.f1.s0": 0.5}.items():
        for split in ("train", "test"):
            pairs = {f"{a}{b}": factor * (1 + at) for at, (a, b) in enumerate(combinations("abcd", 2))}
            frames.append(distances_of(**pairs).assign(model=f"base.0/{model}", task="ps_fxn", split=split, layer=4))
    return pd.concat(frames)


def test_table_5_counts_labels_whose_nearest_came_closer_or_went_away():
    changes = changes_of_nearest(cross_distances(), "ps_fxn")
    assert changes["ps_fxn"]["change"].tolist() == [2.0, 2.0, 4.0, 6.0]
    accuracy = pd.DataFrame([
        {"model": f"base.0/{model}", "task": "ps_fxn", "accuracy": value}
        for model, value in {"pretrained": 0.5, "ps_fxn.full.f1.s0": 0.75, "pos.full.f1.s0": 0.25}.items()
    ])  # fmt: skip
    table = load_script("papers/zhou2022/tables/table5").compare(
        cross_distances(), accuracy, {"ps_fxn": ["ps_fxn", "pos"]}
    )
    assert table["accuracy (%)"].tolist() == [50, 75, 25]
    assert table["increased"].tolist()[1:] == ["4", "0"] and table["decreased"].tolist()[1:] == ["0", "4"]
    assert table["average increase"].tolist()[1:] == [3.5, -0.875]


# --- claims


@pytest.mark.parametrize("gain, verdict", [(0.05, HOLDS), (-0.05, FAILS)])
def test_claim_on_accuracy(gain, verdict):
    table = cells(**planted_tables(gain=gain))
    claim = claims.nearly_all("tuning_improves", claims.change_in(table, "accuracy"), "accuracy rises")
    assert claim.verdict == verdict
    assert "4 of 4" in claim.evidence if gain > 0 else "tiny.0/dep -5.00" in claim.evidence


def test_few_cells_cannot_tell():
    assert claims.nearly_all("tuning_improves", pd.Series({"a": 1.0, "b": 1.0}), "rises").verdict == UNCLEAR


@pytest.mark.parametrize("clusters, verdict", [((9, 3), HOLDS), ((9, 12), FAILS), ((3, 3), UNCLEAR)])
def test_claim_on_clusters(clusters, verdict):
    assert claims.clusters_fall(cells(**planted_tables(clusters=clusters))).verdict == verdict


def test_claim_on_related_tasks():
    claim = claims.related_tasks_help(cross_distances(), {"ps_fxn": ["ps_fxn", "pos"]})
    assert claim.verdict == HOLDS and "tuned on pos -0.88" in claim.evidence
    assert claims.related_tasks_help(cross_distances(), {"ps_fxn": ["pos", "ps_fxn"]}).verdict == FAILS
    assert claims.related_tasks_help(cross_distances(), {"ps_fxn": ["pos"]}).verdict == UNCLEAR


def test_claims_on_depth():
    ends = pd.DataFrame({1: [1.0, 0.99, 1.0, 0.98], 4: [0.7, 0.6, 0.65, 0.62]}, index=list("wxyz"))
    falls, stays = claims.depth_claims(ends)
    assert falls.verdict == HOLDS and stays.verdict == HOLDS
    falls, stays = claims.depth_claims(ends.rename(columns={1: 4, 4: 1}).assign(**{}))
    assert falls.verdict == FAILS
    assert claims.depth_claims(ends - 0.4)[1].verdict == FAILS


def test_claims_on_movements():
    rng = np.random.default_rng(0)
    frames = []
    for task in ("pos", "dep", "ps_fxn"):
        places = {}
        for label in "abcdefghijkl":
            places |= {(0, 1, label): np.zeros(8), (9, 1, label): rng.normal() * np.eye(8)[0] * 0.1}
            places |= {(0, 2, label): np.zeros(8), (9, 2, label): rng.normal(size=8)}
        frames.append(centroid_frame(places).assign(task=task))
    little, few = claims.movement_claims(pd.concat(frames))
    assert little.verdict == HOLDS and few.verdict == HOLDS


# --- DirectProbe's rule and figure 1


def test_the_rule_counts_clusters_and_distances():
    probe = load_script("scripts/directprobe")
    rng = np.random.default_rng(0)
    labels = np.repeat(["x", "y"], 20).astype(object)
    apart = rng.normal(size=(40, 3)) + np.where(labels == "x", 5, -5)[:, None]
    assert probe.clusters_row(apart, labels, True) == {"n_points": 40, "n_labels": 2, "n_clusters": 2, "linear": True}
    mixed = rng.normal(size=(40, 3))
    assert not probe.clusters_row(mixed, labels, True)["linear"]
    assert [row["distance"] for row in probe.distance_rows(mixed, labels)] == [0.0]
    assert np.isnan(probe.similarity_row(pd.DataFrame({"split": []}), False)["shared"])


def test_figure_1_shows_labels_that_separate_and_labels_that_do_not():
    figure1 = load_script("papers/zhou2022/figures/fig1")
    from workflow.lib.methods.directprobe.clustering import probe

    assert [probe(points, y).n_clusters for points, y in figure1.two_scenes(0)] == [2, 3]


def test_shown_labels_are_those_of_extreme_increase():
    nearest = pd.DataFrame({name: [0.0, float(at)] for at, name in enumerate("abcdefgh")})
    assert load_script("papers/zhou2022/figures/nearest_labels").extremes(nearest) == ["h", "g", "f", "c", "b", "a"]
