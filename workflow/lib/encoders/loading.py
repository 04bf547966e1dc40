"""Loads an encoder and its tokenizer from a folder, without network access or remote code."""

import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from tokenizers import pre_tokenizers
from torch import nn
from transformers import (
    MODEL_MAPPING,
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertTokenizerFast,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging as transformers_logging

from workflow.lib.base.errors import UserError
from workflow.lib.base.seals import check_seal
from workflow.lib.encoders.layers import embeddings
from workflow.lib.encoders.states import StateReader, model_inputs

# re-exports what callers need together with a loaded encoder
__all__ = ["StateReader", "load_encoder", "load_tokenizer", "max_tokens", "model_inputs"]


def load_encoder(folder: str | Path) -> PreTrainedModel:
    """The bare encoder in float32 and eval mode, with its pooler if the folder holds one's weights."""
    _check_folder(folder, "encoder")
    check_seal(folder)
    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = (BertConfig if _is_early_bert(folder) else AutoConfig).from_pretrained(folder, **local)
        kind = MODEL_MAPPING[type(config)]
        # always one of torch's: the folder's config could name one to download
        local |= {"attn_implementation": "sdpa" if kind._supports_sdpa else "eager"}
        with _quietly():
            # without a dtype the checkpoint's own would be taken, and half precision ruins the analyses
            model, info = AutoModel.from_pretrained(
                folder, config=config, dtype=torch.float32, output_loading_info=True, **local
            )
    except Exception as error:  # anything: what is in a folder is anybody's
        raise UserError(f"encoder folder {folder} cannot be loaded: {_why(error)}") from error
    lacking = sorted(info["missing_keys"])
    if lacking and all(key.startswith("pooler.") for key in lacking):
        model.pooler = None  # else a checkpoint without one would get a random one
    elif lacking:
        # transformers would only warn, and go on with random weights
        raise UserError(f"encoder folder {folder} lacks {len(lacking)} of the model's weights, such as {lacking[0]}")
    return model


def load_tokenizer(folder: str | Path, for_words: bool = False) -> PreTrainedTokenizerBase:
    """A fast tokenizer. `for_words`: inputs are lists of words; a byte-level tokenizer needs a space before each."""
    _check_folder(folder, "tokenizer")
    check_seal(folder)
    try:
        kind = BertTokenizerFast if _is_early_bert(folder) else AutoTokenizer
        tokenizer = kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise UserError(f"tokenizer folder {folder} cannot be loaded: {_why(error)}") from error
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        # without a vocabulary, transformers 5 builds a tokenizer of special tokens only
        raise UserError(f"tokenizer folder {folder} holds no vocabulary (tokenizer.json, vocab.txt or vocab.json)")
    if not tokenizer.is_fast:
        raise UserError(f"tokenizer folder {folder} has no tokenizer.json; words cannot be aligned with their pieces")
    if for_words:
        _space_before_words(tokenizer)
    return tokenizer


def max_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """Maximum input length with special tokens. RoBERTa and MPNet count positions from their padding index + 1."""
    tables = [
        module
        for name, module in embeddings(model).named_modules()
        if isinstance(module, nn.Embedding) and name.endswith("position_embeddings")
    ]
    if tables:
        offset = 0 if tables[0].padding_idx is None else tables[0].padding_idx + 1
        n_positions = tables[0].num_embeddings - offset
    else:
        n_positions = model.config.max_position_embeddings
    return min(n_positions, tokenizer.model_max_length)


def _space_before_words(tokenizer: PreTrainedTokenizerBase) -> None:
    """Make a byte-level tokenizer add a space before each word of a list; otherwise it reads the list as one long word,
    and transformers 5 no longer raises an error."""
    pre = tokenizer.backend_tokenizer.pre_tokenizer
    for step in pre if isinstance(pre, pre_tokenizers.Sequence) else [pre]:
        if isinstance(step, pre_tokenizers.ByteLevel):
            step.add_prefix_space = True


def _check_folder(folder: str | Path, role: str) -> None:
    # transformers would look for a missing folder's name on the Hub
    if not (Path(folder) / "config.json").is_file() and not (Path(folder) / "tokenizer_config.json").is_file():
        raise UserError(f"{role} folder {folder} does not exist or has no config.json")


def _is_early_bert(folder: str | Path) -> bool:
    """BERTs of before there were other models, such as Google's miniatures: their config names no kind of model."""
    path = Path(folder) / "config.json"
    about = json.loads(path.read_text()) if path.is_file() else {"model_type": None}
    return "model_type" not in about and "type_vocab_size" in about


def _why(error: Exception) -> str:
    if isinstance(error, pickle.UnpicklingError):
        # torch's own message advises to load it all the same
        return "its weights hold more than tensors, and that could run code; nothing was run (use model.safetensors)"
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


@contextmanager
def _quietly() -> Iterator[None]:
    """No progress bar and no report of a pre-training head's unused weights; the caller checks for missing ones."""
    level, bars = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()
