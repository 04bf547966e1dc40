"""Distances of weights on six families of tiny encoders, with changes whose norms are known in closed form."""

import copy

import pytest
import torch
from transformers import AutoModel

from tests.families import FAMILIES, family_config
from workflow.lib.base.errors import UserError
from workflow.lib.encoders.layers import blocks, linear_projections, output_projection
from workflow.lib.methods.weights.distances import attention_output, block_distances

torch.set_num_threads(1)
N_LAYERS, WIDTH, INNER = 3, 16, 24
ATTENTION_OUTPUTS = {
    "bert": "attention.output.dense", "roberta": "attention.output.dense", "electra": "attention.output.dense",
    "distilbert": "attention.out_lin", "mpnet": "attention.attn.o", "modernbert": "attn.Wo",
}  # fmt: skip
NORMS = ["frobenius", "spectral"]


def make(family, seed=0, **changes):
    torch.manual_seed(seed)
    config = family_config(family, N_LAYERS, WIDTH, heads=2, inner=INNER)
    for name, value in changes.items():
        setattr(config, name, value)
    return AutoModel.from_config(config)


@pytest.fixture(scope="module", params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture(scope="module")
def before(family):
    return make(family)


@pytest.fixture
def after(before):
    return copy.deepcopy(before)


def names_of(model):
    return list(linear_projections(blocks(model)[0]))


def found(rows, value="distance"):
    return {(row["layer"], row["projection"], row["norm"]): row[value] for row in rows}


def change(linear, matrix):
    with torch.no_grad():
        linear.weight.add_(matrix)


def test_a_model_has_no_distance_to_itself(before, after):
    asked = ["output", "attention_output", "all", *names_of(before)]
    rows = block_distances(before, after, asked, NORMS)
    expected = [(layer, name, norm) for layer in range(1, N_LAYERS + 1) for name in asked for norm in NORMS]
    assert [(row["layer"], row["projection"], row["norm"]) for row in rows] == expected
    assert all(row["distance"] == row["relative"] == 0 for row in rows)


def test_a_rank_one_change_has_one_norm(before, after):
    left, right = torch.randn(WIDTH), torch.randn(INNER)
    change(output_projection(blocks(after)[1]), torch.outer(left, right))
    size = (left.norm() * right.norm()).item()
    distance = found(block_distances(before, after, ["output", "all"], NORMS))
    for norm in NORMS:
        for name in ("output", "all"):
            assert distance[2, name, norm] == pytest.approx(size, rel=1e-5)
            assert distance[1, name, norm] == distance[3, name, norm] == 0


def test_a_scaled_identity_has_its_closed_forms(before, after, family):
    assert attention_output(blocks(after)[0]) is linear_projections(blocks(after)[0])[ATTENTION_OUTPUTS[family]]
    change(attention_output(blocks(after)[0]), 0.25 * torch.eye(WIDTH))
    distance = found(block_distances(before, after, ["attention_output", ATTENTION_OUTPUTS[family], "output"], NORMS))
    for name in ("attention_output", ATTENTION_OUTPUTS[family]):
        assert distance[1, name, "frobenius"] == pytest.approx(0.25 * WIDTH**0.5, rel=1e-5)
        assert distance[1, name, "spectral"] == pytest.approx(0.25, rel=1e-5)
        assert distance[2, name, "frobenius"] == 0
    assert distance[1, "output", "frobenius"] == 0


def test_weights_grown_by_a_factor_moved_by_that_share(before, after):
    for block in blocks(after):
        for linear in linear_projections(block).values():
            change(linear, 0.5 * linear.weight.detach())
    rows = block_distances(before, after, ["output", "attention_output", "all", *names_of(before)], NORMS)
    assert [row["relative"] for row in rows] == pytest.approx([0.5] * len(rows), rel=1e-6)


def test_all_is_the_norm_of_everything_at_once(before, after):
    """Against one long vector, as fine-tuning would change it: everywhere, a little; biases and norms do not count."""
    with torch.no_grad():
        for parameter in after.parameters():
            parameter.add_(0.01 * torch.randn_like(parameter))
    rows = block_distances(before, after, ["all", *names_of(before)], NORMS)
    distance, relative = found(rows), found(rows, "relative")
    for layer in range(1, N_LAYERS + 1):
        old, new = (
            torch.cat([linear.weight.flatten() for linear in linear_projections(blocks(m)[layer - 1]).values()])
            for m in (before, after)
        )
        assert distance[layer, "all", "frobenius"] == pytest.approx((new - old).norm().item(), rel=1e-5)
        assert relative[layer, "all", "frobenius"] == pytest.approx(((new - old).norm() / old.norm()).item(), rel=1e-5)
        parts = [distance[layer, name, "spectral"] for name in names_of(before)]
        assert distance[layer, "all", "spectral"] == pytest.approx(sum(part**2 for part in parts) ** 0.5)
        for name in names_of(before):
            assert 0 < distance[layer, name, "spectral"] < distance[layer, name, "frobenius"]


def test_distance_is_symmetric_and_relative_is_not(before, after):
    change(output_projection(blocks(after)[2]), torch.ones(WIDTH, INNER))
    there = block_distances(before, after, ["output"], ["frobenius"])[2]
    back = block_distances(after, before, ["output"], ["frobenius"])[2]
    # a matrix of ones: every entry moved by one
    assert there["distance"] == back["distance"] == pytest.approx((WIDTH * INNER) ** 0.5, rel=1e-6)
    assert there["relative"] > back["relative"]


def test_weights_that_were_zero_have_no_relative_distance():
    before, after = make("bert"), make("bert")
    with torch.no_grad():
        output_projection(blocks(before)[0]).weight.zero_()
    row = block_distances(before, after, ["output"], ["frobenius"])[0]
    assert row["distance"] > 0 and row["relative"] != row["relative"]


def test_unknown_names_come_with_the_nearest():
    model = make("bert")
    with pytest.raises(UserError, match=r"norm 'frobenus'.*did you mean 'frobenius'"):
        block_distances(model, model, ["output"], ["frobenus"])
    with pytest.raises(UserError, match=r"projection 'atention_output'.*did you mean 'attention_output'"):
        block_distances(model, model, ["output", "atention_output"], NORMS)
    with pytest.raises(UserError, match=r"did you mean 'attention\.self\.query'"):
        block_distances(model, model, ["attention.self.qery"], NORMS)


def test_models_that_do_not_match_are_refused():
    model = make("bert")
    with pytest.raises(UserError, match=r"3 blocks .* 2"):
        block_distances(model, make("bert", num_hidden_layers=2), ["output"], NORMS)
    with pytest.raises(UserError, match="'output' of block 1 has another shape"):
        block_distances(model, make("bert", intermediate_size=32), ["output"], NORMS)
    with pytest.raises(UserError, match="shape"):
        block_distances(model, make("modernbert"), ["all"], NORMS)
