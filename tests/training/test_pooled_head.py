"""The head `pooled` is transformers' own classifier for every class of encoder, on our encoder."""

import copy

import numpy as np
import pytest
import torch
import transformers

from tests.families import FAMILIES, family_config
from tests.training.test_training import LABELS, SETTINGS, examples, make  # noqa: F401  (a fixture)
from workflow.lib.base.errors import UserError
from workflow.lib.encoders.layers import parts
from workflow.lib.encoders.loading import load_encoder
from workflow.lib.encoders.pooler import READ_BY_CLASSIFIERS, pooler_of
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.encoders.states import model_inputs
from workflow.lib.training import loop
from workflow.lib.training.heads import head_class
from workflow.lib.training.heads.classification import UnitBatch
from workflow.lib.training.heads.pooled import PooledHead
from workflow.lib.training.heads.tunable import Tunable
from workflow.lib.training.state import SavedState


def encoder_of(family: str) -> transformers.PreTrainedModel:
    torch.manual_seed(0)
    return transformers.AutoModel.from_config(family_config(family, 2, 16, 2, 24)).eval()


@pytest.fixture
def batch() -> UnitBatch:
    ids = torch.randint(5, 99, (4, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[2, 6:] = 0
    inputs = {
        "input_ids": ids.masked_fill(mask == 0, 1),
        "attention_mask": mask,
        "token_type_ids": torch.zeros_like(ids),
    }
    return UnitBatch(inputs, [], torch.tensor([0, 1, 1, 0]))


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_and_gradients_are_those_of_transformers_classifier(family, batch):
    encoder = encoder_of(family)
    ours = Tunable(encoder, PooledHead.on(encoder, LABELS, {"dropout": 0.1})).eval()
    config = copy.deepcopy(encoder.config)
    config.num_labels = len(LABELS)
    theirs = transformers.AutoModelForSequenceClassification.from_config(config).eval()
    theirs.base_model.load_state_dict(encoder.state_dict())
    missing, unexpected = theirs.load_state_dict(ours.head.classifier.state_dict(), strict=False)
    assert not unexpected and all(key.startswith(theirs.base_model_prefix) for key in missing)
    logits = ours(batch), theirs(**model_inputs(theirs, batch.inputs)).logits
    torch.testing.assert_close(*logits)
    for side in logits:
        side.square().sum().backward()
    gradients = dict(theirs.base_model.named_parameters())
    for name, parameter in encoder.named_parameters():
        torch.testing.assert_close(parameter.grad, gradients[name].grad, msg=name)


@pytest.mark.parametrize("family", FAMILIES)
def test_only_what_the_class_reads_of_a_pooler_is_kept(family, tmp_path, batch):
    encoder = encoder_of(family)
    encoder.save_pretrained(tmp_path)
    config, head = encoder.config, PooledHead.on(encoder, LABELS, {"dropout": 0.1})
    reads_pooler = config.model_type in READ_BY_CLASSIFIERS
    assert (encoder.pooler is not None) == reads_pooler == (pooler_of(tmp_path) is not None)
    assert ("pooler" in {part.name for part in parts(encoder)}) == reads_pooler
    assert not any("given" in name for name in head.state_dict())
    if reads_pooler:  # layer probes read [CLS] as the head does
        output = encoder(**model_inputs(encoder, batch.inputs))
        pooled = pooler_of(tmp_path)(output.last_hidden_state[:, 0].detach().numpy())
        np.testing.assert_allclose(pooled, output.pooler_output.detach(), atol=1e-6)


def test_a_missing_pooler_is_made_anew(batch):
    encoder = encoder_of("bert")
    encoder.pooler = None
    model = Tunable(encoder, PooledHead.on(encoder, LABELS, {"dropout": 0.1}))
    assert encoder.pooler.dense.weight.shape == (16, 16) and model(batch).shape == (4, len(LABELS))


def test_the_pooler_learns_like_the_last_layer_and_is_stored(examples, tmp_path):  # noqa: F811
    torch.manual_seed(0)
    encoder = transformers.BertModel(make(dropout=0.0).encoder.config)
    model = Tunable(encoder, PooledHead.on(encoder, LABELS, {"dropout": 0.0}))
    before = encoder.pooler.dense.weight.detach().clone()
    settings = SETTINGS | {"epochs": 12, "learning_rate": 5e-3}
    history = loop.train(model, examples, settings, 0, SavedState(tmp_path / "model", settings))
    assert not torch.equal(encoder.pooler.dense.weight, before)
    outcomes = model.head.outcomes(model, examples)
    assert history[-1]["loss"] < 0.9 * history[0]["loss"] and len(outcomes["guess"]) == examples.n_rows
    np.testing.assert_array_equal(outcomes["truth"], examples.numbers)  # in the order of the rows
    encoder.save_pretrained(tmp_path / "saved")
    torch.testing.assert_close(load_encoder(tmp_path / "saved").pooler.dense.weight, encoder.pooler.dense.weight)


def test_other_heads_drop_the_pooler():
    encoder = encoder_of("bert")
    head_class("sequence").on(encoder, LABELS, {"dropout": 0.1})
    assert encoder.pooler is None and "pooler" not in {part.name for part in parts(encoder)}


def test_re_initialisation_keeps_the_pooler():
    encoder = encoder_of("bert")
    before = encoder.pooler.dense.weight.detach().clone()
    apply_recipe(encoder, "reinit-2", seed=0)
    assert torch.equal(encoder.pooler.dense.weight, before)


def test_an_encoder_without_a_classifier_is_refused(monkeypatch):
    def refuse(config):
        raise ValueError("unrecognised")

    monkeypatch.setattr(transformers.AutoModelForSequenceClassification, "from_config", refuse)
    with pytest.raises(UserError, match="no classifier for BertModel; use `head: sequence`"):
        PooledHead.on(encoder_of("bert"), LABELS, {"dropout": 0.1})
