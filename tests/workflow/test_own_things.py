"""A user's own dataset, encoder and analyses, without an edit of any tracked file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

from tests.scripts import load_script
from tests.workflow.conftest import ROOT
from workflow.lib.activations.load import load_activations
from workflow.lib.base.errors import UserError

MINE = """
run: mine
papers: [matton2019]
datasets: {reviews: {source: file, path: reviews.csv, text: [title, review], label: mood, test_share: 0.25}}
tasks: {reviews: {dataset: reviews}}
matton2019: {tasks: [reviews]}
"""


def test_a_csv_through_matton2019(finished):
    rng, moods = np.random.default_rng(0), ["cross", "glad", "sad"]
    rows = [
        (f"{number} of it", f"a {moods[number % 3]} text {rng.integers(9)}", moods[number % 3]) for number in range(80)
    ]
    frame = pd.DataFrame(rows, columns=["title", "review", "mood"])
    frame.to_csv(finished.folder / "reviews.csv", index=False)
    (finished.folder / "mine.yaml").write_text(MINE)
    finished.second_run("mine")
    asked = ("--rerun-triggers", "mtime", "--configfile", "config/tiny.yaml", "mine.yaml")
    finished.snakemake("matton2019", *asked, preset=None)
    made = finished.folder / "results/mine"
    table = pd.read_csv(made / "tables/matton2019/table1.csv").iloc[0].tolist()
    assert "reviews" in table and 60 in table and 20 in table and 3 in table
    assert "reviews" in (made / "scorecard/matton2019.html").read_text()
    assert "reviews" in pd.read_csv(made / "figures/matton2019/fig4.csv")["series"].tolist()
    found = load_activations(made, "base.0/pretrained", "reviews", "train", layer=2)
    assert len(found.X) == 60 and set(found.y) == set(moods)
    assert all(mood in text for mood, text in zip(found.y, found.rows["text"]))


GIVEN = """
run: pair
papers: [given]
tuned: {theirs: {encoder: base.0, path: results/tiny/models/base.0/mnli.full.f1.s0}}
given: {text: wikipedia/sentences, treebank: ewt, edge_tasks: [ep_dependencies], tasks: [imdb, pos]}
"""


def test_a_model_that_others_tuned_is_judged_as_our_own(finished):
    """Theirs is ours under another name: what is measured of it must be what was measured of ours."""
    (finished.folder / "pair.yaml").write_text(GIVEN)
    made = finished.second_run("pair")
    asked = ("--rerun-triggers", "mtime", "--configfile", "config/tiny.yaml", "pair.yaml")
    finished.snakemake("given", *asked, preset=None)
    for analysis in (
        "rsa/{}/wikipedia-sentences/similarity",
        "structural/{}/ewt/scores",
        "edges/{}/ep_dependencies/scores",
    ):
        ours = pd.read_parquet(made / f"tiny/analysis/{analysis.format('base.0/mnli.full.f1.s0')}.parquet")
        theirs = pd.read_parquet(made / f"pair/analysis/{analysis.format('base.0/theirs.given')}.parquet")
        pd.testing.assert_frame_equal(ours.drop(columns="model"), theirs.drop(columns="model"), check_exact=False)
    distances = pd.read_csv(made / "pair/figures/given/weights.csv")
    assert (distances["y"] > 0).all() and distances["series"].unique().tolist() == ["theirs"]
    edges = pd.read_csv(made / "pair/tables/given/edges.csv")
    assert edges["model"].tolist() == ["theirs"] * 2 and edges["probe"].tolist() == ["mix", "top"]
    labels = pd.read_csv(made / "pair/tables/given/labels.csv")
    assert labels["model"].tolist() == ["base.0, before", "theirs"] * 2
    has_neuron = labels.set_index("task")["best neuron (%)"].notna()
    assert has_neuron.to_dict() == {"imdb": True, "pos": False}  # words have no [CLS] vector
    assert "theirs" in (made / "pair/scorecard/given.html").read_text()


def test_a_model_of_another_vocabulary_is_refused():
    class Tokenizer:
        def __init__(self, *pieces):
            self.pieces = pieces

        def get_vocab(self):
            return {piece: number for number, piece in enumerate(self.pieces)}

    check = load_script("scripts/take_model").check_tokens
    check(Tokenizer("a", "b"), Tokenizer("a", "b"), "theirs")
    with pytest.raises(UserError, match="theirs has another vocabulary"):
        check(Tokenizer("a", "b"), Tokenizer("b", "a"), "theirs")


def test_vectors_rows_and_labels_belong_together(finished):
    results = finished.folder / "results/tiny"
    train, test = (
        load_activations(results, "base.0/pretrained", "imdb", split, layer=2) for split in ("train", "test")
    )
    assert train.X.dtype == np.float32 and len(train.X) == len(train.y) == len(train.rows)
    names = {0: "neg", 1: "pos"}
    assert [names[label] for label in test.rows["label"]] == test.y.tolist()
    stored = pd.read_parquet(results / "activations/base.0/pretrained/cls/imdb-train/layer-02.parquet")
    assert np.array_equal(train.X, np.stack(stored["vector"])) and train.rows["example"].tolist() == list(range(60))
    words = load_activations(results, "base.0/pos.full.f1.s0", "pud", "train", layer=1)
    for tags, at, label in zip(words.rows["upos"], words.rows["unit"], words.y):
        assert tags[at] == label


@pytest.mark.parametrize(
    "model, dataset, layer, said",
    [
        ("base.0/pretraind", "imdb", 2, "did you mean 'base.0/pretrained'?"),
        ("base.0/pretrained", "imbd", 2, "did you mean 'imdb-test'?"),
        ("base.0/pretrained", "imdb", 7, "has no layer 7; it has 2"),
    ],
)
def test_what_is_not_there_is_named(finished, model, dataset, layer, said):
    with pytest.raises(UserError, match=said.replace("?", r"\?")):
        load_activations(finished.folder / "results/tiny", model, dataset, "test", layer)


def test_the_example_config_stacks_on_the_laptop_preset(finished, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "roberta", "num_hidden_layers": 5, "hidden_size": 256}')
    text = (ROOT / "config/mine.example.yaml").read_text()
    (finished.folder / "mine.yaml").write_text(text.replace("~/models/roberta-base", str(tmp_path)))
    assert len(yaml.safe_load(text)) <= 8
    asked = ("--dry-run", "--configfile", "config/laptop.yaml", "mine.yaml")
    output = finished.snakemake("matton2019", *asked, preset=None)
    assert "results/mine/figures/matton2019/fig4.pdf" in output and "results/mine/encoders/small.0" in output


ROBERTA = """
run: roberta
papers: [matton2019, zhou2022]
encoders: {mine: {source: folder, path: models/roberta}}
matton2019: {encoders: [mine.0], tasks: [imdb]}
zhou2022: {encoders: [mine.0], tasks: [pos], table2: mine.0, table3: mine.0, tracked_encoder: mine.0,
           tracked_tasks: [pos], cross_tasks: {}}
"""


def roberta_folder(folder: Path, texts: list[str]) -> None:
    """As the Hub has them: byte-level pieces that begin with a space, no token types, positions that begin at 2."""
    built = Tokenizer(models.BPE())
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    letters = pre_tokenizers.ByteLevel.alphabet()
    built.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=400, special_tokens=marks, initial_alphabet=letters)
    )
    built.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), marks))
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=built, **names, cls_token="<s>", sep_token="</s>", model_max_length=126
    )
    config = RobertaConfig(vocab_size=len(wrapped), hidden_size=24, num_hidden_layers=2, num_attention_heads=2,
                           intermediate_size=32, max_position_embeddings=128, type_vocab_size=1)  # fmt: skip
    torch.manual_seed(0)
    RobertaModel(config).save_pretrained(folder)
    wrapped.save_pretrained(folder)


def test_a_roberta_folder_through_two_papers(finished):
    made = finished.folder / "results"
    texts = pd.read_parquet(made / "tiny/data/imdb/train.parquet")["text"].tolist()
    roberta_folder(finished.folder / "models/roberta", texts)
    (finished.folder / "roberta.yaml").write_text(ROBERTA)
    output = finished.snakemake("--configfile", "config/tiny.yaml", "roberta.yaml", preset=None)
    assert "under an encoder of real text (mine)" in output
    for figure in ("matton2019/fig1", "matton2019/fig4", "zhou2022/fig4", "zhou2022/fig7"):
        assert len(pd.read_csv(made / f"roberta/figures/{figure}.csv")), figure
    words = load_activations(made / "roberta", "mine.0/pretrained", "pud", "train", layer=2)
    assert [tags[at] for tags, at in zip(words.rows["upos"], words.rows["unit"])] == words.y.tolist()
