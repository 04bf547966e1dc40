"""Encoders that come with the workflow are what their records say."""

import json
import logging
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
import yaml
from safetensors.torch import load_file
from transformers import BertConfig, BertForPreTraining

from tests.scripts import run_script
from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.corpus.tasks import generate
from workflow.lib.encoders.loading import load_encoder, load_tokenizer
from workflow.lib.encoders.shipped import FOLDER, record_of, shipped_files, shipped_folder
from workflow.lib.encoders.shipping import WEIGHTS, checked_weights, ship
from workflow.lib.training.pretraining.loop import held_out_losses
from workflow.lib.training.pretraining.pairs import read_pairs

DEMO = yaml.safe_load((ROOT / "config/config.yaml").read_text())
SHIPPED = sorted(path.name for path in FOLDER.iterdir())


def test_every_shipped_encoder_of_the_demo_is_there_and_small():
    named = [f"{name}.{seed}" for name, entry in DEMO["encoders"].items() if entry["source"] == "shipped"
             for seed in entry["seeds"]]  # fmt: skip
    assert sorted(named) == SHIPPED and named.count("base.0") == 1 and len(named) >= 5
    assert sum(path.stat().st_size for path in FOLDER.rglob("*")) < 12e6


@pytest.mark.parametrize("encoder", SHIPPED)
def test_records_are_of_the_demos_recipe(encoder):
    record, (name, _, seed) = record_of(encoder), encoder.partition(".")
    shape = {key: value for key, value in DEMO["encoders"][name].items() if key not in ("source", "seeds")}
    assert record["shape"] == shape and record["seed"] == int(seed) and record["language"] == DEMO["language"]
    assert record["pretraining"] == DEMO["pretraining"]
    assert record["rows"] == DEMO["datasets"]["wikipedia"]["rows"]["pretrain"]
    steps = np.genfromtxt(shipped_folder(encoder) / "history.csv", delimiter=",", names=True)["step"]
    assert steps[-1] == record["pretraining"]["steps"] and (shipped_folder(encoder) / "training.log").stat().st_size


@pytest.fixture(scope="module")
def held_out() -> pa.Table:
    rows = DEMO["datasets"]["wikipedia"]["rows"]
    made = generate("wikipedia", "sentences", rows, DEMO["seed"], DEMO["language"])
    return pa.table({name: [row[name] for row in made] for name in ("id", "text")})


@pytest.mark.parametrize("encoder", SHIPPED)
def test_losses_on_held_out_text_are_those_of_the_record(encoder, held_out):
    """Measured before the weights were rounded to float16."""
    folder, record = shipped_folder(encoder), record_of(encoder)
    model = BertForPreTraining(BertConfig.from_pretrained(folder))
    model.bert.load_state_dict({name: torch.from_numpy(w) for name, w in checked_weights(folder).items()})
    heads = {name: weight.float() for name, weight in load_file(folder / WEIGHTS[1]).items()}
    model.cls.load_state_dict(heads, strict=False)  # the decoder's weights are the embeddings
    model.tie_weights()
    tokenizer = load_tokenizer(folder)
    special = {name: getattr(tokenizer, f"{name}_token_id") for name in ("pad", "cls", "sep", "mask")}
    pairs = read_pairs(held_out, tokenizer, record["pretraining"]["max_tokens"])
    found = held_out_losses(model, pairs, special, record["pretraining"]["mask_share"])
    assert found == pytest.approx(record["held_out"], rel=0.01)
    assert found["next_sentence_accuracy"] > 0.6 and found["word_loss"] < 3  # it has learnt something


def test_unpacked_encoders_load_and_have_a_pooler(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)
    job = SimpleNamespace(input=shipped_files(SHIPPED[-1]), output=[str(tmp_path / "x.0")], log=[str(tmp_path / "log")])
    run_script("scripts/unpack_encoder", job)
    encoder, shape = load_encoder(tmp_path / "x.0"), record_of(SHIPPED[-1])["shape"]
    assert encoder.config.num_hidden_layers == shape["layers"] and encoder.pooler is not None
    assert load_tokenizer(tmp_path / "x.0").model_max_length == DEMO["pretraining"]["max_tokens"]


def test_other_weights_than_the_recorded_ones_are_refused(tmp_path):
    copied = shutil.copytree(shipped_folder(SHIPPED[-1]), tmp_path / "copy")
    with (copied / WEIGHTS[0]).open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x01")
    with pytest.raises(UserError, match="not what its record says"):
        checked_weights(copied)


def test_shipping_again_gives_the_same_files(tmp_path):
    """From an unpacked encoder: rounding to float16 twice changes nothing."""
    source, encoder = tmp_path / "trained", SHIPPED[-1]
    shutil.copytree(shipped_folder(encoder), source)
    pd.read_csv(source / "history.csv").to_parquet(source / "history.parquet")
    ship(source, source / "training.log", record_of(encoder)["language"], tmp_path / "shipped")
    assert json.loads((tmp_path / "shipped/pretraining.json").read_text()) == record_of(encoder)
