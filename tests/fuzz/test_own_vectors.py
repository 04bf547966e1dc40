"""Methods on the command line, on damaged .npz and Parquet files: vectors, labels and trees are those of the file."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.fuzz import array_damage, table_damage
from tests.fuzz.damage import fuzzed
from tests.fuzz.published import is_tree
from workflow.lib.methods.directprobe.__main__ import probe_file
from workflow.lib.methods.neurons.__main__ import task_of
from workflow.lib.methods.rsa.__main__ import report as rsa
from workflow.lib.methods.structural.__main__ import words_in

X = np.array([[0.0, 0.1], [0.3, 1.0], [4.0, 0.2], [4.5, 1.5]])
POINTS = {"X": X, "y": np.array([0, 0, 1, 1]), "X_test": X[:2] + 0.1, "y_test": np.array([0, 1])}
NAMED = POINTS | {"y": np.array(["no", "no", "yes", "yes"]), "y_test": np.array(["no", "yes"])}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        yield


def names(labels: np.ndarray) -> list[str]:
    return [label.decode() if isinstance(label, bytes) else str(label) for label in labels.tolist()]


def test_directprobe(tmp_path):
    file = tmp_path / "toy.npz"

    def read(drawn):
        arrays, chosen = drawn
        left = array_damage.write(file, [POINTS, NAMED][arrays], chosen)
        return left, probe_file(file, strict_spheres=True, with_distances=True)

    def check(drawn, result):
        left, found = result
        assert 1 <= found["n_clusters"] <= len(found["clusters"])
        assert all(np.isfinite(distance) and distance >= 0 for *_, distance in found["distances"])
        if not drawn[1][1]:
            x, y, clusters = left["X"], left["y"], np.array(found["clusters"])
            assert x.dtype.kind in "fiu" and len(x) == len(y) == len(clusters) and np.isfinite(x).all()
            assert all(len(set(names(y[clusters == number]))) == 1 for number in clusters)
            if "y_test" in left:
                right = sum(label in names(y) for label in names(left["y_test"]))
                assert 0 <= found["test_accuracy"] <= right / len(left["y_test"])

    fuzzed(st.tuples(st.integers(0, 1), array_damage.FILES), read, check, least=20)


def test_rsa(tmp_path):
    file, other = tmp_path / "toy.npz", tmp_path / "toy2.npz"
    np.savez(other, X=np.array([[1.0, 0.5, 0.1], [0.2, 1.0, 0.3], [1.0, 1.0, 0.0], [-1.0, 0.4, 0.2]]))
    space = {"X": X + 1, "more": X}

    def read(chosen):
        left = array_damage.write(file, space, chosen)
        return left, rsa(SimpleNamespace(before=file, after=other))["similarity"]

    def check(chosen, result):
        left, found = result
        assert all(-1 <= value <= 1 for value in found) and len(found) == 1
        if not chosen[1]:
            kernels = []
            for x in (left["X"].astype(float).reshape(4, -1), np.load(other)["X"]):
                x = x / np.abs(x).max(axis=1, keepdims=True)
                unit = x / np.linalg.norm(x, axis=1, keepdims=True)
                kernels.append((unit @ unit.T)[np.triu_indices(4, 1)])
            assert left["X"].dtype.kind in "fiu" and found[0] == pytest.approx(np.corrcoef(*kernels)[0, 1], abs=1e-5)

    fuzzed(array_damage.FILES, read, check)


def test_labelled_vectors_for_neurons(tmp_path):
    file = tmp_path / "toy.npz"

    def read(drawn):
        arrays, chosen = drawn
        return array_damage.write(file, [POINTS, NAMED][arrays], chosen), task_of(file)

    def check(drawn, result):
        left, task = result
        assert np.isfinite(task.train).all() and np.isfinite(task.test).all() and len(task.labels) > 1
        assert len(task.train) == len(task.train_labels) and len(task.test) == len(task.test_labels)
        if not drawn[1][1]:
            assert np.allclose(task.train, left["X"].astype(np.float32)) and left["X"].dtype.kind in "fiu"
            for name, numbered in (("y", task.train_labels), ("y_test", task.test_labels)):
                for label, number in zip(left[name].tolist(), numbered, strict=True):
                    same = names(left["y"][[other == label for other in left["y"].tolist()]])
                    assert task.labels[number] in same or str(label) == task.labels[number]

    fuzzed(st.tuples(st.integers(0, 1), array_damage.FILES), read, check)


def test_parquet(tmp_path):
    file = tmp_path / "toy.parquet"
    table = [("vector", np.concatenate([X, POINTS["X_test"]]).tolist()), ("label", [*"aabb", *"ab"])]
    table += [("split", ["train"] * 4 + ["test"] * 2)]

    def read(chosen):
        return table_damage.write(file, table, chosen, {}), task_of(file)

    def check(chosen, result):
        made, task = result
        if not chosen[1]:
            rows = made.to_pylist()
            assert made.column_names.count("vector") == made.column_names.count("label") == 1
            for split, x, y in (("train", task.train, task.train_labels), ("test", task.test, task.test_labels)):
                part = [row for row in rows if row["split"] == split]
                assert np.allclose(x, np.array([row["vector"] for row in part]))
                assert [task.labels[n] for n in y] == [str(row["label"]) for row in part]

    fuzzed(table_damage.FILES, read, check)


def test_trees_of_words(tmp_path):
    file = tmp_path / "toy.npz"
    part = {"X": np.tile(X, (2, 1))[:5], "sentence": np.array([0, 0, 0, 1, 1]), "head": np.array([2, 0, 2, 0, 1])}
    words = {f"{name}{ending}": array for ending in ("", "_dev", "_test") for name, array in part.items()}

    def read(chosen):
        return array_damage.write(file, words, chosen), words_in(file)

    def check(chosen, result):
        left, (vectors, trees) = result
        assert len({x.shape[1] for x in vectors.values()}) == 1
        for ending, x in vectors.items():
            assert trees[ending].length.sum() == len(x) and np.isfinite(x).all()
            if not chosen[1]:
                sentence, head = left[f"sentence{ending}"], left[f"head{ending}"]
                of_sentence = {key: head[sentence == key].tolist() for key in sentence.tolist()}
                assert trees[ending].length.tolist() == list(map(len, of_sentence.values()))
                assert all(map(is_tree, of_sentence.values())) and head.dtype.kind in "iu"

    fuzzed(array_damage.FILES, read, check)
