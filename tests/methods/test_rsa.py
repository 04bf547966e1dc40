"""RSA: against the plain formula and rsatoolbox, where it must be 1, 0 or unmoved, and from caches to the table."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from tests.scripts import run_script
from workflow.lib.activations.cache import LayerWriter, layer_file, read_vectors
from workflow.lib.base.errors import UserError
from workflow.lib.base.tables import read_table
from workflow.lib.methods.rsa.layers import compare
from workflow.lib.methods.rsa.plan import reads
from workflow.lib.methods.rsa.similarity import sample_tokens, similarity


def plain(base, tuned):
    """What the paper says, word by word: kernels, upper triangles, Pearson."""
    upper, kernels = np.triu_indices(len(base), k=1), []
    for vectors in (base, tuned):
        unit = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        kernels.append((unit @ unit.T)[upper])
    return np.corrcoef(*kernels)[0, 1]


def vectors(n, width, seed, mean=0.0):
    """Decaying spectrum, as hidden states have; `mean` pushes all of them into a cone."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) * np.arange(1, width + 1) ** -0.5 + mean * rng.normal(size=width)


# ---- the score


@pytest.mark.parametrize("n, width", [(3, 2), (3, 50), (40, 7), (200, 64), (64, 200), (700, 32)])
@pytest.mark.parametrize("mean", [0, 0.5, 20])
def test_it_is_the_plain_formula(n, width, mean):
    base = vectors(n, width, 1, mean)
    for tuned in (vectors(n, width, 2), base + 0.5 * vectors(n, width, 3), vectors(n, 5, 4)):
        assert similarity(base, tuned) == pytest.approx(plain(base, tuned), abs=1e-8)


def test_narrow_cones_cost_no_digits():
    """Cosines of 0.99999 that differ in the sixth digit: there a float32 kernel is wrong in the third."""
    base = vectors(400, 32, 1, mean=30.0).astype(np.float32)
    tuned = base + 0.5 * vectors(400, 32, 2).astype(np.float32)
    unit = base / np.linalg.norm(base, axis=1, keepdims=True)
    assert 1e-7 < (unit @ unit.T).std() < 1e-4
    assert similarity(base, tuned) == pytest.approx(plain(base, tuned), abs=1e-9)


def test_rsatoolbox_agrees():
    """rsatoolbox 0.3.2: compare(calc_rdm(base, "correlation"), calc_rdm(tuned, "correlation"), method="corr").

    Its correlation distance is 1 - cosine where a vector has mean zero, as each has here. The numbers are its answers.
    """
    for n, answer in ((40, 0.583655085868894), (7, 0.6417226342684823)):
        k = np.arange(1, 8 * n + 1, dtype=float)
        base = np.sin(k**1.5).reshape(n, 8) + 2
        tuned = base + 0.8 * np.cos(2.3 * k**1.2).reshape(n, 8)
        base, tuned = (rows - rows.mean(axis=1, keepdims=True) for rows in (base, tuned))
        assert similarity(base, tuned) == pytest.approx(answer, abs=1e-12)


def test_turning_and_scaling_a_space_changes_nothing():
    base = vectors(150, 24, 1, mean=0.4)
    turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(24, 24)))
    scales = np.random.default_rng(6).lognormal(size=(150, 1))  # a cosine knows no lengths
    assert similarity(base, base) == pytest.approx(1, abs=1e-12)
    assert similarity(base, base @ turn) == pytest.approx(1, abs=1e-9)
    assert similarity(base, 1e-30 * scales * base) == pytest.approx(1, abs=1e-9)
    other = vectors(150, 24, 2)
    assert similarity(base @ turn, 1e30 * other) == pytest.approx(similarity(base, other), abs=1e-9)
    assert similarity(base, other) == pytest.approx(similarity(other, base), abs=1e-12)


def test_moving_a_space_does_change_it():
    """Cosines are taken from the origin: a score of centred vectors would miss what fine-tuning adds to all alike."""
    base = vectors(150, 24, 1)
    assert similarity(base, base + 1.5) < 0.9


def test_unrelated_spaces_score_near_zero():
    scores = [similarity(vectors(300, 40, 2 * seed), vectors(300, 40, 2 * seed + 1)) for seed in range(5)]
    assert max(map(abs, scores)) < 0.05


def test_opposite_kernels_score_minus_one():
    angle = np.array([0.0, 0.2, 1.5])  # three pairs, and a second triangle whose cosines mirror theirs
    base = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    kernel = 1.2 * np.eye(3) - 0.2 * (base @ base.T)
    tuned = np.linalg.cholesky(kernel)
    assert similarity(base, tuned) == pytest.approx(-1, abs=1e-9)


def test_more_noise_means_less_similarity():
    base, noise = vectors(300, 32, 1, mean=0.5), vectors(300, 32, 2)
    scores = [similarity(base, base + share * noise) for share in (0, 0.1, 0.3, 1, 3)]
    assert scores == sorted(scores, reverse=True) and scores[0] > 0.999 and scores[-1] < 0.5


@pytest.mark.parametrize(
    "base, message",
    [
        (np.ones((2, 4)), "2 tokens are too few"),
        (np.ones((5, 4)), "equally similar"),
        (np.eye(5), "equally similar"),
        (np.eye(5) * [1, 1, 0, 0, 1], "2 of 5 vectors are zero"),
        (np.full((5, 4), np.inf), "no finite number"),
    ],
)
def test_what_has_no_score_is_said(base, message):
    with pytest.raises(UserError, match=message):
        similarity(base, vectors(len(base), 6, 1))


def test_unequal_numbers_of_tokens_are_refused():
    with pytest.raises(UserError, match="5 tokens cannot be compared with 6"):
        similarity(vectors(5, 3, 1), vectors(6, 3, 1))


# ---- which tokens


EXAMPLES = np.repeat(np.arange(100), np.random.default_rng(0).integers(1, 12, 100))


@pytest.mark.parametrize("per_example", [1, 2, 5])
def test_few_tokens_of_each_example(per_example):
    for rows in sample_tokens(EXAMPLES, 60, per_example, 3, seed=0):
        assert len(rows) == 60 == len(set(rows)) and np.bincount(EXAMPLES[rows]).max() <= per_example


def test_too_few_tokens_are_all_taken():
    possible = int(np.minimum(np.bincount(EXAMPLES), 2).sum())
    for rows in sample_tokens(EXAMPLES, 10_000, 2, 2, seed=0):
        assert len(rows) == possible and set(EXAMPLES[rows]) == set(range(100))


def test_samples_are_seeded_and_differ_and_more_of_them_change_nothing():
    three, five = (sample_tokens(EXAMPLES, 40, 2, n, seed=1) for n in (3, 5))
    assert all(np.array_equal(one, same) for one, same in zip(three, five))
    assert len({tuple(rows) for rows in five + sample_tokens(EXAMPLES, 40, 2, 3, seed=2)}) == 8


def test_every_token_has_its_chance():
    """Where all examples are equally long, each token is drawn about as often as any other."""
    drawn = np.bincount(np.concatenate(sample_tokens(np.repeat(np.arange(25), 8), 40, 2, 500, seed=0)), minlength=200)
    assert drawn.sum() == 20_000 and drawn.min() > 60 and drawn.max() < 140  # 100, give or take four deviations


# ---- from two caches to a table


def test_a_target_names_the_text_or_its_first_texts_alone():
    model = "base.0/mnli.full.f1.s0"
    assert [cache.item for cache in reads({}, model, "mnli-test")] == [
        "base.0/pretrained/sampled/mnli-test", f"{model}/sampled/mnli-test"
    ]  # fmt: skip
    assert [cache.item for cache in reads({}, model, "mnli-test.first")] == [
        "base.0/pretrained/sampled_first/mnli-test", f"{model}/sampled_first/mnli-test"
    ]  # fmt: skip


def cache(folder, layers, example, unit=None, dtype="float32", group=7, dataset="digest"):
    """A cache as extraction writes it, in row groups; `layers` are arrays of the tokens' vectors."""
    folder.mkdir(parents=True)
    for number, rows in enumerate(layers):
        writer = LayerWriter(layer_file(folder, number), rows.shape[1], dtype, {"dataset": dataset})
        for start in range(0, len(rows), group):
            part = slice(start, start + group)
            units = np.arange(len(rows))[part] if unit is None else unit[part]
            writer.write(example[part], units, rows[part])
        writer.close()
    return folder


SETTINGS = {"tokens": 60, "samples": 3, "per_example": 2, "seed": 0}


@pytest.fixture
def caches(tmp_path):
    """Three layers of 300 tokens of 60 examples; the tuned model is the base with more noise layer by layer."""
    base = [vectors(300, 12, layer, mean=0.3) for layer in range(3)]
    tuned = [rows + 0.4 * layer * vectors(300, 12, 10 + layer) for layer, rows in enumerate(base)]
    example = np.repeat(np.arange(60), 5)
    for model, layers in (("pretrained", base), ("tuned", tuned)):
        cache(tmp_path / model / "sampled" / "wikipedia-sentences", layers, example)
    return tmp_path


def folders(caches):
    return [caches / model / "sampled" / "wikipedia-sentences" for model in ("pretrained", "tuned")]


def test_all_layers_and_samples_with_their_counts(caches):
    rows = list(compare(*folders(caches), **SETTINGS))
    assert [(row["layer"], row["sample"]) for row in rows] == [(at, n) for at in range(3) for n in range(3)]
    assert {row["n_tokens"] for row in rows} == {60} and all(30 <= row["n_examples"] <= 60 for row in rows)
    by_layer = [[row["similarity"] for row in rows if row["layer"] == layer] for layer in range(3)]
    assert min(by_layer[0]) > 0.999999 and min(by_layer[0]) > max(by_layer[1]) and min(by_layer[1]) > max(by_layer[2])
    assert len(set(by_layer[2])) == 3
    assert rows == list(compare(*folders(caches), **SETTINGS))


def test_both_models_are_read_at_the_same_tokens(caches):
    [base, tuned] = folders(caches)
    [drawn] = sample_tokens(np.repeat(np.arange(60), 5), 60, 2, 1, seed=0)
    expected = plain(*(read_vectors(layer_file(folder, 1))[drawn] for folder in (base, tuned)))
    row = list(compare(base, tuned, **SETTINGS | {"samples": 1}))[1]
    assert row["similarity"] == pytest.approx(expected, abs=1e-9) and row["n_examples"] == len(set(drawn // 5))


def test_fewer_tokens_than_asked_for_are_told(caches):
    row = next(compare(*folders(caches), **SETTINGS | {"tokens": 5000}))
    assert (row["n_tokens"], row["n_examples"]) == (120, 60)


def refused(message, base, tuned, **changes):
    with pytest.raises(UserError, match=message) as error:
        list(compare(base, tuned, **SETTINGS | changes))
    assert "\n" not in str(error.value)


def test_caches_that_do_not_belong_together_are_refused(caches, tmp_path):
    base, _ = folders(caches)
    layers, example = [vectors(300, 12, layer) for layer in range(3)], np.repeat(np.arange(60), 5)
    odd = {
        "examples": cache(tmp_path / "examples", layers, np.repeat(np.arange(50), 6)),
        "units": cache(tmp_path / "units", layers, example, unit=np.arange(300) + 1),
        "rows": cache(tmp_path / "rows", [rows[:-1] for rows in layers], example[:-1]),
        "dataset": cache(tmp_path / "dataset", layers, example, dataset="other"),
    }
    for folder in odd.values():
        refused("do not hold the same tokens of the same rows", base, folder)
    refused("have 3 and 2 layers", base, cache(tmp_path / "layers", layers[:2], example))


def test_zero_vectors_are_named_by_layer(caches, tmp_path):
    base, _ = folders(caches)
    layers = [vectors(300, 12, layer) for layer in range(3)]
    layers[2][:] = 0
    tuned = cache(tmp_path / "zero", layers, np.repeat(np.arange(60), 5))
    refused(r"layer 2, .*zero/layer-02\.parquet: 60 of 60 vectors are zero", base, tuned)


def test_two_tokens_are_too_few(caches):
    refused("has 2 tokens to compare; 3 are needed", *folders(caches), tokens=2)


def test_half_precision_is_read_as_it_is_stored(caches, tmp_path):
    """Sums are made in float64 either way: only the rounding of the vectors themselves is left."""
    base, tuned = folders(caches)
    halves = [
        cache(tmp_path / name, [read_vectors(layer_file(whole, layer)) for layer in range(3)],
              np.repeat(np.arange(60), 5), dtype="float16")
        for name, whole in (("half-base", base), ("half-tuned", tuned))
    ]  # fmt: skip
    full, half = ([row["similarity"] for row in compare(*both, **SETTINGS)] for both in ((base, tuned), halves))
    np.testing.assert_allclose(half, full, atol=2e-3)
    assert half != full


def test_layers_have_the_numbers_of_their_files(caches, tmp_path):
    """A cache that holds the blocks alone begins at 1."""
    both = [tmp_path / "blocks" / folder.parents[1].name for folder in folders(caches)]
    for whole, blocks in zip(folders(caches), both):
        blocks.mkdir(parents=True)
        for layer in (1, 2):
            layer_file(blocks, layer).write_bytes(layer_file(whole, layer).read_bytes())
    whole = [row for row in compare(*folders(caches), **SETTINGS) if row["layer"]]
    assert list(compare(*both, **SETTINGS)) == whole
    refused("have 3 and 2 layers", folders(caches)[0], both[1])


def test_the_script_writes_the_table_of_a_model_and_a_text(caches, tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)  # or it would replace pytest's
    caches_of = ["/".join(folder.parts[-4:]) for folder in folders(caches)]
    job = SimpleNamespace(
        input=SimpleNamespace(activations=list(map(str, folders(caches)))),
        output=[str(tmp_path / "similarity.parquet")],
        log=[str(tmp_path / "log")],
        params=SimpleNamespace(work={"base.0/mnli.full.f1.s0/wikipedia-sentences": caches_of},
                               settings={key: SETTINGS[key] for key in ("tokens", "samples", "per_example")}, seed=0),
    )  # fmt: skip
    run_script("scripts/rsa", job)
    table = read_table(tmp_path / "similarity.parquet")
    assert list(table.columns) == ["model", "text", "layer", "sample", "n_tokens", "n_examples", "similarity"]
    assert set(table["model"]) == {"base.0/mnli.full.f1.s0"} and set(table["text"]) == {"wikipedia-sentences"}
    rows = list(compare(*folders(caches), **SETTINGS))
    assert table[list(rows[0])].to_dict("records") == rows
