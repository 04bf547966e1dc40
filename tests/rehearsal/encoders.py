"""Encoders of true shape with random weights, in the layouts that the Hub's repositories have.

bert-base-uncased   model.safetensors with the parameters' old names (LayerNorm's gamma and beta), both pre-training
                    heads, tokenizer.json
miniatures          pytorch_model.bin, vocab.txt and a config.json that names neither model_type nor architectures
MultiBERTs          pytorch_model.bin with the buffer position_ids, vocab.txt, tokenizer_config.json
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertForPreTraining, BertTokenizerFast

VOCABULARY = 30522
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
OF_CONFIG = ("hidden_size", "hidden_act", "initializer_range", "vocab_size", "hidden_dropout_prob",
             "num_attention_heads", "type_vocab_size", "max_position_embeddings", "num_hidden_layers",
             "intermediate_size", "attention_probs_dropout_prob")  # fmt: skip


def vocabulary(texts: list[str]) -> list[str]:
    """As long as BERT's: word pieces of these texts, filled up with unused ones."""
    trained = BertWordPieceTokenizer(lowercase=True)
    trained.train_from_iterator(texts, vocab_size=4000, min_frequency=2, special_tokens=SPECIAL, show_progress=False)
    pieces = sorted(trained.get_vocab(), key=trained.get_vocab().get)
    return pieces + [f"[unused{at}]" for at in range(VOCABULARY - len(pieces))]


def write_encoder(folder: Path, layers: int, width: int, layout: str, pieces: list[str], seed: int = 0) -> Path:
    """`layout`: base, miniature or multibert."""
    torch.manual_seed(seed)
    shape = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": max(1, width // 64)}
    config = BertConfig(vocab_size=VOCABULARY, intermediate_size=4 * width, **shape)
    weights = {name: value.contiguous().clone() for name, value in BertForPreTraining(config).state_dict().items()}
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    about = {key: getattr(config, key) for key in OF_CONFIG}
    if layout == "base":
        old = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
               for name, value in weights.items()}  # fmt: skip
        save_file(old, folder / "model.safetensors", metadata={"format": "pt"})
        BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
        about |= {"model_type": "bert", "architectures": ["BertForMaskedLM"], "transformers_version": "4.6.0.dev0"}
    elif layout == "miniature":
        torch.save(weights, folder / "pytorch_model.bin")
    else:
        weights["bert.embeddings.position_ids"] = torch.arange(512)[None]
        torch.save(weights, folder / "pytorch_model.bin")
        (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "model_max_length": 512}))
        about |= {"model_type": "bert", "architectures": ["BertForPreTraining"]}
    (folder / "config.json").write_text(json.dumps(about, indent=2))
    return folder
