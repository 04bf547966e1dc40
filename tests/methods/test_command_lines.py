"""Methods on a user's own vectors, from the command line (DirectProbe's has tests of its own)."""

import json

import numpy as np
import pandas as pd
import pytest

from workflow.lib.methods.directprobe.__main__ import main as directprobe
from workflow.lib.methods.neurons.__main__ import main as neurons
from workflow.lib.methods.rsa.__main__ import main as rsa
from workflow.lib.methods.structural.__main__ import main as structural


def answer(main, capsys, *arguments: object) -> dict:
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(main, capsys, *arguments: object) -> str:
    assert main(list(map(str, arguments))) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "Traceback" not in error
    return error


def test_rsa_of_layers_by_the_kernels_themselves(tmp_path, capsys):
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(3, 40, 8)), rng.normal(size=(3, 40, 5))
    np.savez(tmp_path / "one.npz", X=one)
    np.savez(tmp_path / "other.npz", X=other)
    found = answer(rsa, capsys, tmp_path / "one.npz", tmp_path / "other.npz")["similarity"]
    above = np.triu_indices(40, 1)
    for layer, value in enumerate(found):
        kernels = []
        for x in (one[layer], other[layer]):
            unit = x / np.linalg.norm(x, axis=1, keepdims=True)
            kernels.append((unit @ unit.T)[above])
        assert value == pytest.approx(np.corrcoef(*kernels)[0, 1], abs=1e-10)
    assert rsa([str(tmp_path / "one.npz"), str(tmp_path / "one.npz")]) == 0
    assert capsys.readouterr().out.splitlines() == [f"layer {n}: 1.0000" for n in range(3)]
    np.savez(tmp_path / "fewer.npz", X=one[0][:20])
    assert "shapes" in refusal(rsa, capsys, tmp_path / "one.npz", tmp_path / "fewer.npz")


def planted(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Dimension 3 tells the labels apart, the others nothing."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, 6)), rng.integers(0, 2, n)
    x[:, 3] += 6.0 * y
    return x, np.array(["no", "yes"])[y]


def test_neurons_finds_the_planted_one_in_both_formats(tmp_path, capsys):
    (x, y), (x_test, y_test) = planted(200, 0), planted(100, 1)
    np.savez(tmp_path / "mine.npz", X=x, y=y, X_test=x_test, y_test=y_test)
    found = answer(neurons, capsys, tmp_path / "mine.npz", "--neurons", 2)
    assert found["labels"] == ["no", "yes"] and found["steps"][1]["neuron"] == 3
    assert found["steps"][1]["test_accuracy"] > 0.98 and found["steps"][0]["cv_accuracy"] is None
    vectors, labels = list(np.concatenate([x, x_test])), np.concatenate([y, y_test])
    frame = pd.DataFrame({"vector": vectors, "label": labels, "split": ["train"] * 200 + ["test"] * 100})
    frame.to_parquet(tmp_path / "mine.parquet")
    assert answer(neurons, capsys, tmp_path / "mine.parquet", "--neurons", 2) == found
    np.savez(tmp_path / "alone.npz", X=x, y=y)
    assert "lacks X_test" in refusal(neurons, capsys, tmp_path / "alone.npz")
    np.savez(tmp_path / "new.npz", X=x, y=y, X_test=x_test, y_test=np.full(100, "maybe"))
    assert "label 'maybe'" in refusal(neurons, capsys, tmp_path / "new.npz")


def sentences(n: int, seed: int) -> dict[str, np.ndarray]:
    """Chains: the depth of a word is its place, and lies along one dimension of its vector, with its distances."""
    rng, x, sentence, head = np.random.default_rng(seed), [], [], []
    for number in range(n):
        length = int(rng.integers(6, 10))
        steps = np.eye(12)[:length].cumsum(axis=0)  # squared distances of two words are the number of steps between
        x.append(steps)
        sentence += [number] * length
        head += list(range(length))
    return {"X": np.concatenate(x), "sentence": np.array(sentence), "head": np.array(head)}


def test_structural_probes_find_planted_trees(tmp_path, capsys):
    parts = {"": sentences(80, 0), "_dev": sentences(20, 1), "_test": sentences(30, 2)}
    arrays = {f"{name}{ending}": values for ending, part in parts.items() for name, values in part.items()}
    np.savez(tmp_path / "words.npz", **arrays)
    found = answer(structural, capsys, tmp_path / "words.npz")
    assert found["distance"]["spearman"] > 0.95 and found["distance"]["uuas"] > 0.95
    assert found["depth"]["root_accuracy"] > 0.95
    broken = arrays | {"head": np.where(arrays["head"] == 0, 1, arrays["head"])}
    np.savez(tmp_path / "broken.npz", **broken)
    assert "0 roots where a tree has exactly one" in refusal(structural, capsys, tmp_path / "broken.npz")
    circle = arrays["head"].copy()
    circle[1:3] = [3, 2]  # words 2 and 3 of the first sentence are each other's heads
    np.savez(tmp_path / "circle.npz", **arrays | {"head": circle})
    assert "run in a circle" in refusal(structural, capsys, tmp_path / "circle.npz")
    np.savez(tmp_path / "part.npz", **{name: array for name, array in arrays.items() if not name.endswith("_dev")})
    assert "lacks X_dev" in refusal(structural, capsys, tmp_path / "part.npz")


def test_directprobe_reads_parquet_too(tmp_path, capsys):
    frame = pd.DataFrame({"vector": list(np.eye(4)), "label": [0, 0, 1, 1]})
    frame.to_parquet(tmp_path / "points.parquet")
    assert answer(directprobe, capsys, tmp_path / "points.parquet")["distances"] == [[0, 1, pytest.approx(1.0)]]
    (tmp_path / "no.parquet").write_text("nothing")
    assert "cannot be read as Parquet" in refusal(directprobe, capsys, tmp_path / "no.parquet")
