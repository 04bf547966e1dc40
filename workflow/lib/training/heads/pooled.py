"""A label for each text by transformers' own classifier for the encoder's class, on its pre-trained pooler, if any.

BERT's puts the pooler (a dense layer and tanh on [CLS], trained in pre-training) between the encoder and one linear
layer; RoBERTa's, ELECTRA's, DistilBERT's, MPNet's and ModernBERT's have a new dense layer of their own there. None of
that is written again here: the library's model runs as it is, with our encoder's output handed in where it would call
its own encoder.
"""

import copy
from typing import Self

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from workflow.lib.base.errors import UserError
from workflow.lib.encoders.states import model_inputs
from workflow.lib.training.heads.classification import LinearHead, UnitBatch

DROPOUTS = ("classifier_dropout", "seq_classif_dropout", "hidden_dropout_prob")  # by whatever name a class knows it


class GivenOutput(nn.Module):
    """Stands where a classifier has its encoder."""

    output: BaseModelOutput

    def forward(self, *args, **kwargs) -> BaseModelOutput:
        return self.output


class PooledHead(LinearHead):
    name, outcomes_are_rows = "pooled", True

    def __init__(self, classifier: PreTrainedModel, labels: list[str]):
        nn.Module.__init__(self)
        self.n_labels, self.classifier = len(labels), classifier
        self.given = GivenOutput()
        setattr(classifier, classifier.base_model_prefix, self.given)

    @classmethod
    def on(cls, encoder: PreTrainedModel, labels: list[str], settings: dict) -> Self:
        classifier = new_classifier(encoder, len(labels), settings["dropout"])
        pooler = getattr(classifier.base_model, "pooler", None)
        if pooler is None:
            encoder.pooler = None  # this class reads none: not trained, not stored
        elif getattr(encoder, "pooler", None) is None:
            encoder.pooler = pooler  # a new one, as transformers would make
        return cls(classifier, labels)

    def reads(self, output: BaseModelOutput) -> BaseModelOutput:
        return output

    def forward(self, output: BaseModelOutput, batch: UnitBatch) -> torch.Tensor:
        self.given.output = output
        return self.classifier(**model_inputs(self.classifier, batch.inputs)).logits


def new_classifier(encoder: PreTrainedModel, n_labels: int, dropout: float) -> PreTrainedModel:
    """With an encoder of one layer, which is not used."""
    config = copy.deepcopy(encoder.config)
    config.num_labels, config.num_hidden_layers = n_labels, 1
    if getattr(config, "layer_types", None) is not None:
        config.layer_types = config.layer_types[:1]
    for name in DROPOUTS:
        if hasattr(config, name):
            setattr(config, name, dropout)
    try:
        return AutoModelForSequenceClassification.from_config(config)
    except ValueError as error:
        kind = type(encoder).__name__
        raise UserError(f"head `pooled`: transformers has no classifier for {kind}; use `head: sequence`") from error
