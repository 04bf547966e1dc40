"""A sweep on disk: how much it takes on its way, what stays, and that a killed one goes on where it was."""

import os
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
import yaml
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from tests.scripts import run_script
from workflow.lib.base.digests import ROOT
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.training import finetuning, loop

torch.set_num_threads(1)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{number}" for number in range(40)]
RECIPES = [(1, "full"), (1, "freeze-1"), (0.5, "full"), (1, "truncate-1"), (1, "reinit-1"), (0.5, "reinit-2")]
RUNS = [("base.0", 0, *run) for run in RECIPES] + [("base.1", 3, *run) for run in RECIPES[:2]]
DEMO = yaml.safe_load((ROOT / "config/config.yaml").read_text())
SETTINGS = DEMO["training"] | {"epochs": 2, "batch_size": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Encoders wide enough that their weights are more than the files around them, and two splits of texts."""
    root = tmp_path_factory.mktemp("sweep")
    built = Tokenizer(models.WordLevel({word: at for at, word in enumerate(SPECIAL + WORDS)}, unk_token="[UNK]"))
    built.pre_tokenizer = pre_tokenizers.Whitespace()
    built.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=built, model_max_length=16, **names)
    config = BertConfig(vocab_size=45, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=128, max_position_embeddings=16)  # fmt: skip
    for seed in (0, 1):
        torch.manual_seed(seed)
        tokenizer.save_pretrained(root / f"base.{seed}")
        BertModel(config, add_pooling_layer=False).save_pretrained(root / f"base.{seed}")
    for split in ("train", "test"):
        rows = [{"id": f"{n}", "text": f"w{n % 40} w{n % 7}", "text_pair": None, "label": n % 2} for n in range(24)]
        write_dataset(root / f"{split}.parquet", rows, dataset="toy", split=split, kind="text", labels=["a", "b"],
                      source="test")  # fmt: skip
    return root


def job(folder: Path, output: Path) -> SimpleNamespace:
    output.mkdir(exist_ok=True)
    return SimpleNamespace(
        input=SimpleNamespace(encoders=[str(folder / "base.0"), str(folder / "base.1")],
                              train=str(folder / "train.parquet"), evaluate=str(folder / "test.parquet")),
        output=SimpleNamespace(scores=str(output / "00.parquet"), distances=str(output / "00.distances.parquet")),
        params=SimpleNamespace(runs=RUNS, settings=SETTINGS, layers={"base.0": 2, "base.1": 2}, modules="",
                               distances={"projections": ["output"], "norms": ["frobenius"]}),
        wildcards=SimpleNamespace(task="toy"),
        log=[str(output.with_suffix(".log"))],
        threads=1,
    )  # fmt: skip


def run(snakemake: SimpleNamespace) -> pd.DataFrame:
    run_script("scripts/sweep", snakemake)
    return pd.read_parquet(snakemake.output.scores)


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_a_sweep_never_holds_more_than_two_training_states(folder, tmp_path, monkeypatch):
    """One state, and the next one while it replaces it: three times the weights each, however many runs there are."""
    taken, save = [], torch.save

    def watched(*args, **kwargs):
        save(*args, **kwargs)
        taken.append(bytes_in(tmp_path / "sweep"))

    monkeypatch.setattr(torch, "save", watched)
    table = run(job(folder, tmp_path / "sweep"))
    assert list(table[["encoder", "seed", "fraction", "recipe"]].itertuples(index=False, name=None)) == RUNS
    assert list(table["n_train"]) == [round(24 * fraction) for *_, fraction, _ in RUNS]
    state = 3.3 * bytes_in(folder / "base.0")  # the head and the names of parameters are the rest
    assert state / 2 < max(taken) < 2 * state
    assert sorted(os.listdir(tmp_path / "sweep")) == ["00.distances.parquet", "00.parquet"]


def test_a_killed_sweep_goes_on_with_the_next_run(folder, tmp_path, monkeypatch):
    whole = run(job(folder, tmp_path / "whole"))
    tune, begun = finetuning.Task.tune, []

    def killed(self, recipe, fraction, seed, output):
        begun.append((Path(self.folder).name, seed, fraction, recipe))
        if len(begun) == 4:
            raise KeyboardInterrupt
        return tune(self, recipe, fraction, seed, output)

    monkeypatch.setattr(finetuning.Task, "tune", killed)
    with pytest.raises(KeyboardInterrupt):
        run(job(folder, tmp_path / "killed"))
    assert not (tmp_path / "killed/00.parquet").exists()
    again = run(job(folder, tmp_path / "killed"))
    assert begun[4:] == RUNS[3:]  # none of the first three once more
    pd.testing.assert_frame_equal(again, whole)
    distances = [pd.read_parquet(tmp_path / name / "00.distances.parquet") for name in ("killed", "whole")]
    pd.testing.assert_frame_equal(*distances)


def test_runs_are_those_of_their_encoder_and_seed(folder, tmp_path):
    table = run(job(folder, tmp_path / "sweep"))
    for encoder, seed in (("base.0", 0), ("base.1", 3)):
        inputs = (str(folder / name) for name in (encoder, "train.parquet", "test.parquet"))
        alone = finetuning.Task(*inputs, SETTINGS).tune("freeze-1", 1.0, seed, tmp_path / "alone").scores
        row = table.query("encoder == @encoder and recipe == 'freeze-1'").iloc[0]
        assert row[list(alone)].to_dict() == alone


def test_out_of_memory_goes_on_in_halves_and_keeps_its_steps(folder, tmp_path, monkeypatch):
    """Also if it is killed on the way, and runs out of memory once more when it is called again."""
    inputs = (str(folder / name) for name in ("base.0", "train.parquet", "test.parquet"))
    task = finetuning.Task(*inputs, SETTINGS | {"save_every": 1})
    whole = task.tune("full", 1.0, 0, tmp_path / "whole")
    update, done = loop._update, []

    def short_of_memory(*args):
        if args[-1]["accumulation"] == 1:
            raise torch.OutOfMemoryError
        if len(done) == 4:  # in the second epoch
            done.append("kill")
            raise KeyboardInterrupt
        done.append(args[-1]["accumulation"])
        return update(*args)

    monkeypatch.setattr(loop, "_update", short_of_memory)
    with pytest.raises(KeyboardInterrupt):
        task.tune("full", 1.0, 0, tmp_path / "halves")
    halves = task.tune("full", 1.0, 0, tmp_path / "halves")
    assert done == [2, 2, 2, 2, "kill", 2, 2, 2]  # three updates an epoch, the first epoch was not lost
    steps = [sorted(path.name for path in tuned.state.folder.iterdir()) for tuned in (whole, halves)]
    assert steps[0] == steps[1] == [f"{step:05d}" for step in range(7)]
