"""Tokenizers and encoders of a few pieces and layers, whose ids fit tests/families.py: no download."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerFast

from tests.families import family_config
from workflow.lib.encoders.states import StateReader

SPECIAL = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]


def wordpiece() -> Tokenizer:
    letters = "abcdefghijklmnopqrstuvwy'.-`"  # without x, z and digits
    pieces = ["it", "do", "##lievably", "un", "##be", "the", "cat", "sat", "on", "mat", "dog", "##s", "that", "and"]
    vocab = list(dict.fromkeys([*SPECIAL, *letters, *("##" + letter for letter in letters), *pieces]))
    built = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(vocab)}, unk_token="[UNK]"))
    built.normalizer = normalizers.BertNormalizer(lowercase=True)
    built.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return built


def wrapped(built: Tokenizer, longest: int = 128) -> PreTrainedTokenizerFast:
    ends = [(mark, SPECIAL.index(mark)) for mark in ("[CLS]", "[SEP]")]
    built.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ends)
    names = dict(zip(("cls_token", "pad_token", "sep_token", "unk_token", "mask_token"), SPECIAL))
    return PreTrainedTokenizerFast(
        tokenizer_object=built, model_max_length=longest, **names,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip


def encoder(family: str = "bert", layers: int = 2, width: int = 16, seed: int = 0, **changes) -> PreTrainedModel:
    """Weights large enough that texts differ."""
    config = family_config(family, layers, width, heads=2, inner=24)
    changes = {"initializer_range": 0.3} | changes
    for name, value in changes.items():
        setattr(config, name, value)
    torch.manual_seed(seed)
    return AutoModel.from_config(config).eval()


def hidden_states(model: PreTrainedModel, batch: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """All layers of a batch."""
    states = []
    StateReader(model).run(batch, lambda _, state: states.append(state))
    return states


def save(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> Path:
    """As the rules of encoders and models leave them."""
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder
