"""A sweep on disk: how much it takes on its way, what stays, and that a killed one goes on where it was."""

import logging
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
from workflow.lib.base.errors import UserError
from workflow.lib.base.names import task_of
from workflow.lib.base.tables import read_tables
from workflow.lib.data.dataset_files import write_dataset
from workflow.lib.training import finetuning, loop, state

torch.set_num_threads(1)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{number}" for number in range(40)]
RUNS = ["full.f1.s0", "freeze-1.f1.s0", "full.f0.5.s0", "truncate-1.f1.s0", "reinit-1.f1.s3", "reinit-2.f0.5.s0"]
MODELS = [f"base.0/toy.{run}" for run in RUNS] + ["base.0/other.full.f1.s0"]
DEMO = yaml.safe_load((ROOT / "config/config.yaml").read_text())
SETTINGS = DEMO["training"] | {"epochs": 2, "batch_size": 8, "dataset": "toy", "train_split": "train",
                               "evaluate": "test", "head": "sequence", "save_every": 0}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """An encoder wide enough that its weights are more than the files around them, and two splits of two datasets."""
    root = tmp_path_factory.mktemp("sweep")
    built = Tokenizer(models.WordLevel({word: at for at, word in enumerate(SPECIAL + WORDS)}, unk_token="[UNK]"))
    built.pre_tokenizer = pre_tokenizers.Whitespace()
    built.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=built, model_max_length=16, **names)
    config = BertConfig(vocab_size=45, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=128, max_position_embeddings=16)  # fmt: skip
    torch.manual_seed(0)
    tokenizer.save_pretrained(root / "base.0")
    BertModel(config, add_pooling_layer=False).save_pretrained(root / "base.0")
    for dataset, step in (("toy", 2), ("other", 3)):
        for split in ("train", "test"):
            rows = [
                {"id": f"{n}", "text": f"w{n % 40} w{n % 7}", "text_pair": None, "label": n % step % 2}
                for n in range(24)
            ]
            write_dataset(root / dataset / f"{split}.parquet", rows, dataset=dataset, split=split, kind="text",
                          labels=["a", "b"], source="test")  # fmt: skip
    return root


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)  # or it would replace pytest's


def job(folder: Path, output: Path, models: list[str] = MODELS, layers: int = 2) -> SimpleNamespace:
    """As the rule has it: one scores and one distances file per run."""
    files = {table: [str(output / f"{model}.{table}.parquet") for model in models] for table in ("scores", "distances")}
    data = [str(folder / dataset / f"{split}.parquet") for dataset in ("other", "toy") for split in ("train", "test")]
    return SimpleNamespace(
        input=SimpleNamespace(encoders=[str(folder / "base.0")], data=data),
        output=SimpleNamespace(**files),
        params=SimpleNamespace(settings={model: SETTINGS | {"dataset": task_of(model)} for model in models},
                               layers=dict.fromkeys(models, layers), modules="",
                               weights={"projections": ["output"], "norms": ["frobenius"]}),
        log=[str(output.with_suffix(".log"))],
        threads=1,
    )  # fmt: skip


def run(snakemake: SimpleNamespace) -> dict[str, pd.DataFrame]:
    """Both tables of all runs."""
    run_script("scripts/sweep", snakemake)
    return {table: read_tables(files) for table, files in vars(snakemake.output).items()}


def assert_same(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame]) -> None:
    for table in ("scores", "distances"):
        pd.testing.assert_frame_equal(one[table], other[table], check_exact=True)


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory) -> SimpleNamespace:
    """All runs in one process: their tables, and the disk that was taken whenever a state had been saved."""
    output, taken, save = tmp_path_factory.mktemp("whole") / "sweeps", [], torch.save

    def watched(*args, **kwargs):
        save(*args, **kwargs)
        taken.append((bytes_in(output, "*.scores.resume.pt*"), bytes_in(output)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "save", watched)
        patch.setattr(state, "SHARE", float("inf"))
        patch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)
        tables = run(job(folder, output))
    return SimpleNamespace(tables=tables, taken=taken, output=output)


def bytes_in(folder: Path, pattern: str = "*") -> int:
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


def test_every_run_has_its_row_of_scores_and_distances_of_its_blocks(whole):
    scores, distances = whole.tables["scores"], whole.tables["distances"]
    keys = ["encoder", "task", "recipe", "fraction", "seed"]
    rows = scores[keys].itertuples(index=False)
    assert [
        f"{encoder}/{task}.{recipe}.f{fraction:g}.s{seed}" for encoder, task, recipe, fraction, seed in rows
    ] == MODELS
    assert list(scores["n_train"]) == [round(24 * fraction) for fraction in scores["fraction"]]
    assert {"test_accuracy", "test_matthews"} <= set(scores)
    blocks = distances.groupby(keys, sort=False)["layer"].apply(list)
    assert list(blocks) == [[1] if "truncate-1" in model else [1, 2] for model in MODELS]
    frozen = distances[distances["recipe"] == "freeze-1"].set_index("layer")["distance"]
    assert frozen[1] == 0 < frozen[2]


def test_a_sweep_never_holds_more_than_two_training_states(whole, folder):
    """One state, and the next one while it replaces it: three times the weights each, however many runs there are."""
    state = 3.3 * bytes_in(folder / "base.0")  # the head and the names of parameters are the rest
    assert state / 2 < max(of_states for of_states, _ in whole.taken) < 2 * state
    assert max(of_all - of_states for of_states, of_all in whole.taken) < 20_000 * len(MODELS)  # tables
    left = {str(path.relative_to(whole.output)) for path in whole.output.rglob("*") if path.is_file()}
    assert left == {f"{model}.{table}.parquet" for model in MODELS for table in ("scores", "distances")}


def test_runs_that_share_a_process_have_the_numbers_of_separate_ones(folder, whole, tmp_path):
    separate = [run(job(folder, tmp_path, [model])) for model in MODELS]
    assert_same(
        {name: pd.concat([one[name] for one in separate], ignore_index=True) for name in whole.tables}, whole.tables
    )


def test_a_run_is_the_fine_tuning_that_its_name_says(folder, whole, tmp_path):
    inputs = (str(folder / name) for name in ("base.0", "toy/train.parquet", "toy/test.parquet"))
    task, table = finetuning.Task(*inputs, SETTINGS), whole.tables["scores"].set_index(["task", "recipe", "fraction"])
    for recipe, fraction, seed in (("reinit-1", 1.0, 3), ("full", 0.5, 0)):
        alone = task.tune(recipe, fraction, seed, tmp_path / recipe).scores
        assert table.loc[("toy", recipe, fraction)][list(alone)].to_dict() == alone


def killed_at(monkeypatch, begun: list, at: int) -> None:
    """Ends the job when the run of this number begins; all that begin are listed."""
    tune = finetuning.Task.tune

    def killed(self, recipe, fraction, seed, output):
        begun.append(f"base.0/{self.settings['dataset']}.{recipe}.f{fraction:g}.s{seed}")
        if len(begun) == at:
            raise KeyboardInterrupt
        return tune(self, recipe, fraction, seed, output)

    monkeypatch.setattr(finetuning.Task, "tune", killed)


def test_a_killed_sweep_goes_on_with_the_next_run(folder, whole, tmp_path, monkeypatch):
    """Snakemake wipes the outputs of a job that failed, but not what stands beside them."""
    begun = []
    killed_at(monkeypatch, begun, 4)
    work = job(folder, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(work)
    for file in [*work.output.scores, *work.output.distances]:
        Path(file).unlink(missing_ok=True)
    again = run(work)
    assert begun[4:] == MODELS[3:]  # none of the first three once more
    assert_same(again, whole.tables)
    assert not [path for path in tmp_path.rglob(".*")]


@pytest.mark.parametrize("change", ["settings", "weights"])
def test_a_finished_run_of_other_settings_is_done_again(folder, tmp_path, monkeypatch, change):
    begun = []
    killed_at(monkeypatch, begun, 2)
    work = job(folder, tmp_path, MODELS[:2])
    with pytest.raises(KeyboardInterrupt):
        run(work)
    if change == "settings":
        work.params.settings = {model: of | {"learning_rate": 0.5} for model, of in work.params.settings.items()}
    else:
        work.params.weights = {"projections": ["output"], "norms": ["spectral"]}
    tables = run(work)
    assert begun[2:] == MODELS[:2]
    assert change == "settings" or set(tables["distances"]["norm"]) == {"spectral"}


def test_killed_between_a_run_and_its_cleaning_leaves_no_training_state(folder, tmp_path, monkeypatch):
    """Its numbers are kept, so nothing would read the state any more; and it is three times the encoder."""
    remove, work = state.SavedState.remove, job(folder, tmp_path, MODELS[:1])

    def killed(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(state.SavedState, "remove", killed)
    with pytest.raises(KeyboardInterrupt):
        run(work)
    monkeypatch.setattr(state.SavedState, "remove", remove)
    run(work)
    assert not [path for path in tmp_path.rglob(".*")]


def test_an_encoder_of_another_depth_is_refused_before_any_training(folder, tmp_path, monkeypatch):
    begun = []
    killed_at(monkeypatch, begun, 1)
    with pytest.raises(UserError, match=r"encoder base\.0 has 2 layers, not the 12 that encoders\.base\.layers says"):
        run(job(folder, tmp_path, layers=12))
    assert not begun


def test_out_of_memory_goes_on_in_halves_and_keeps_its_steps(folder, tmp_path, monkeypatch):
    """Also if it is killed on the way, and runs out of memory once more when it is called again."""
    inputs = (str(folder / name) for name in ("base.0", "toy/train.parquet", "toy/test.parquet"))
    task = finetuning.Task(*inputs, SETTINGS | {"save_every": 1})

    def noted(encoder, into):
        into.mkdir(parents=True, exist_ok=True)

    whole = task.tune("full", 1.0, 0, tmp_path / "whole", noted)
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
        task.tune("full", 1.0, 0, tmp_path / "halves", noted)
    halves = task.tune("full", 1.0, 0, tmp_path / "halves", noted)
    assert done == [2, 2, 2, 2, "kill", 2, 2, 2]  # three updates an epoch, the first epoch was not lost
    steps = [sorted(path.name for path in tuned.state.folder.iterdir()) for tuned in (whole, halves)]
    assert steps[0] == steps[1] == [f"{step:05d}" for step in range(7)]
