"""No code of a model's folder runs, whatever it holds: weights that are pickles, modules, templates, kernels."""

import json
import os
import pickle
import shutil
from pathlib import Path

import pytest
import torch

from tests import tiny
from workflow.lib.base.errors import UserError
from workflow.lib.encoders.loading import load_encoder, load_tokenizer, max_tokens
from workflow.lib.encoders.shapes import shape_of
from workflow.lib.training.state import SavedState


class Poison:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch '{self.mark}'",)


@pytest.fixture(scope="module", params=["bert", "mpnet"])
def sound(request, tmp_path_factory) -> Path:
    """MPNet has no choice of attention of its own."""
    folder = tmp_path_factory.mktemp("sound") / request.param
    return tiny.save(folder, tiny.encoder(request.param), tiny.wrapped(tiny.wordpiece()))


@pytest.fixture
def folder(sound, tmp_path):
    """A copy to spoil, with modules that leave a mark where they are imported."""
    made = Path(shutil.copytree(sound, tmp_path / "folder"))
    for name in ("modeling.py", "tokenization.py", "configuration.py", "__init__.py", "setup.py"):
        (made / name).write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\nclass Config: pass\nclass Model: pass\n")
    yield made
    assert not (tmp_path / "mark").exists()


def change(folder: Path, file: str, **values) -> None:
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def refused(load, folder: Path) -> str:
    with pytest.raises(UserError, match=f"folder {folder} ") as error:
        load(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("way", ["pickle", "torch", "among tensors", "shards"])
def test_weights_that_are_more_than_tensors_are_refused(folder, tmp_path, way):
    (folder / "model.safetensors").unlink()
    file, poison = folder / "pytorch_model.bin", Poison(tmp_path / "mark")
    if way == "shards":
        file = folder / "pytorch_model-00001-of-00001.bin"
        index = {"metadata": {}, "weight_map": {"embeddings.word_embeddings.weight": file.name}}
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    if way == "pickle":
        file.write_bytes(pickle.dumps(poison))
    else:
        torch.save({"a": torch.zeros(2), "b": poison} if way == "among tensors" else poison, file)
    said = refused(load_encoder, folder)
    assert "more than tensors" in said and "weights_only" not in said  # no advice to load them all the same


def test_safe_weights_are_taken_where_both_lie(folder, tmp_path):
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Poison(tmp_path / "mark")))
    assert load_encoder(folder).config.hidden_size == 16


def test_a_known_kind_with_code_beside_it_is_loaded_as_that_kind(folder, sound):
    change(folder, "config.json", auto_map={"AutoConfig": "configuration.Config", "AutoModel": "modeling.Model"})
    assert type(load_encoder(folder)) is type(load_encoder(sound))


@pytest.mark.parametrize("where", ["modeling.Model", "org/name--modeling.Model"])
def test_an_unknown_kind_with_code_beside_it_is_refused(folder, where):
    names = {"AutoConfig": where, "AutoModel": where}
    change(folder, "config.json", model_type="of_somebody", auto_map=names, architectures=["Model"])
    refused(load_encoder, folder)


def test_no_attention_is_fetched_that_a_folder_names(folder):
    change(folder, "config.json", attn_implementation="org/kernel", _attn_implementation="org/kernel")
    assert load_encoder(folder).config._attn_implementation in ("sdpa", "eager")


@pytest.mark.parametrize("values", [
    {"hidden_size": "abc"}, {"num_attention_heads": 0}, {"hidden_size": -1}, {"dtype": "__class__"},
    {"hidden_act": "__import__('os').abort"}, {"transformers_weights": "../../x.bin"},
    {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
], ids=str)  # fmt: skip
def test_shapes_that_are_none_are_one_line(folder, values):
    change(folder, "config.json", **values)
    refused(load_encoder, folder)


@pytest.mark.parametrize("text", ["[]", "5", '"x"', "[" * 100_000, "{", ""])
def test_configs_that_are_none_are_one_line(folder, text):
    (folder / "config.json").write_text(text)
    refused(load_encoder, folder)
    config = {"encoders": {"own": {"path": str(folder)}}}
    assert shape_of(config, "own.0", "layers") is None  # and the plan goes on, so that a rule says what is wrong


@pytest.mark.parametrize("layers", ["__class__", -1, 0, 1e9, 10**9, [2], {"a": 1}, True, None])
def test_a_plan_takes_only_numbers_from_a_folder(tmp_path, layers):
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": layers}))
    assert shape_of({"encoders": {"own": {"path": str(tmp_path)}}}, "own", "layers") is None


TEMPLATE = (
    "{{ ''.__class__.__mro__[1].__subclasses__() }}{% for x in cycler.__init__.__globals__.os.popen('touch MARK') %}"
)


@pytest.mark.parametrize("values", [
    {"auto_map": {"AutoTokenizer": ["tokenization.Model", "tokenization.Model"]}},
    {"tokenizer_class": "Model", "auto_map": {"AutoTokenizer": ["tokenization.Model", None]}},
    {"chat_template": TEMPLATE}, {"chat_template": [{"name": "default", "template": TEMPLATE}]},
], ids=str)  # fmt: skip
def test_a_tokenizer_s_code_and_templates_are_never_run(folder, tmp_path, values):
    change(folder, "tokenizer_config.json", **json.loads(json.dumps(values).replace("MARK", str(tmp_path / "mark"))))
    (folder / "chat_template.jinja").write_text(TEMPLATE.replace("MARK", str(tmp_path / "mark")))
    tokenizer = load_tokenizer(folder)
    assert tokenizer("the cat", "a dog")["input_ids"] and max_tokens(load_encoder(folder), tokenizer) <= 128
    tokenizer.save_pretrained(tmp_path / "kept")  # as the rule that fetches it does
    load_tokenizer(tmp_path / "kept")
    assert not list((tmp_path / "kept").rglob("*.py"))


@pytest.mark.parametrize("values", [{"tokenizer_class": 5}, {"cls_token": 5}], ids=str)
def test_tokenizers_that_are_none_are_one_line(folder, values):
    change(folder, "tokenizer_config.json", **values)
    refused(load_tokenizer, folder)


def test_a_saved_state_that_is_more_than_tensors_is_not_resumed(tmp_path):
    state = SavedState(tmp_path / "model", {"steps": 1})
    torch.save({"settings": repr({"steps": 1}), "rng": Poison(tmp_path / "mark")}, state.path)
    with pytest.raises(UserError, match=r"is damaged \(UnpicklingError\)"):
        state.load()
    assert not (tmp_path / "mark").exists()
