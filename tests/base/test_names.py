"""Names are taken apart into what they were made of."""

import itertools

import pytest

from workflow.lib.base import names

ENCODERS = ["base.0", "bert_large.12"]
TASKS = ["mnli", "ud_pos"]
RECIPES = ["full", "freeze-3", "truncate-11", "frozen"]
FRACTIONS = [1, 0.5, 0.01, 0.125]
TUNED = list(itertools.product(ENCODERS, TASKS, RECIPES, FRACTIONS, [0, 17]))
TARGETS = ["imdb", "cls/imdb-train", "steps/word/ud_pos-dev"]


def test_a_tuned_model_says_how_it_was_made():
    for encoder, task, recipe, fraction, seed in TUNED:
        model = names.tuned(encoder, task, recipe, fraction, seed)
        assert names.encoder_of(model) == encoder and names.task_of(model) == task
        said = names.recipe_of(model)
        assert (said[0], said[1], float(said[2]), int(said[3])) == (task, recipe, fraction, seed)
        assert not names.is_pretrained(model) and names.is_pretrained(names.pretrained(encoder))


def test_no_two_models_share_a_name():
    models = {names.tuned(*made) for made in TUNED} | set(map(names.pretrained, ENCODERS))
    assert len(models) == len(TUNED) + len(ENCODERS)


@pytest.mark.parametrize("target", TARGETS)
def test_an_item_is_a_model_and_its_target(target):
    for model in [names.pretrained("base.0"), *(names.tuned(*made) for made in TUNED)]:
        item = f"{model}/{target}"
        assert (names.model_of(item), names.target_of(item)) == (model, target)
        assert names.encoder_of(item) == names.encoder_of(model)


def test_a_place_is_found_again_in_its_folder():
    for place in ("imdb/train", "ud_pos/dev2", "wikipedia/sentences"):
        assert names.place_of(names.folder_name(place)) == place and "/" not in names.folder_name(place)


def test_files_of_different_things_have_different_names():
    models = [names.pretrained("base.0"), *(names.tuned(*made) for made in TUNED)]
    files = [names.model_folder(model) for model in models]
    files += [names.metrics_file(model) for model in models]
    files += [names.sweep_file(model, table) for model in models for table in ("scores", "distances")]
    files += [names.cache_folder(f"{model}/{target}") for model in models for target in TARGETS]
    files += names.analysis_files("pca", "accuracy", models, iter(TARGETS))
    assert len(set(files)) == len(files) and all(file.startswith("<results>/") for file in files)
    assert names.model_folder("base.0/pretrained") == names.encoder_folder("base.0")


def test_inputs_are_found_by_their_whole_names():
    """A neighbour's name may end with the same."""
    files = ["r/data/my_imdb/train.parquet", "r/data/imdb/train.parquet", "r/data/imdb/test.parquet"]
    assert names.file_of(files, "imdb/train") == files[1]
    items = ["base.0/pretrained/cls/imdb-train", "base.0/pretrained/steps/cls/imdb-train", "base.0/imdb.full.f1.s1"]
    folders = [f"r/activations/{item}" for item in (f"my_{items[0]}", *items, f"{items[2]}0")]
    for item in items:
        assert names.folder_of(folders, item) == f"r/activations/{item}"
    with pytest.raises(StopIteration):
        names.folder_of(folders, "base.0/pretrained/word/imdb-train")


@pytest.mark.parametrize(
    "fraction, name", [(1, "1"), (1.0, "1"), (0.5, "0.5"), (5e-5, "0.00005"), (0.1234567, "0.1234567")]
)
def test_shares_are_written_without_exponents(fraction, name):
    model = names.tuned("base.0", "imdb", "reinit-2", fraction, 3)
    assert model == f"base.0/imdb.reinit-2.f{name}.s3" and names.recipe_of(model) == ("imdb", "reinit-2", name, "3")
