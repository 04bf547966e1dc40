"""The pre-trained pooler that stands between [CLS] and BERT's classifiers, read from a folder without the encoder."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors import safe_open

READ_BY_CLASSIFIERS = ("bert",)  # model types; the classifiers of the others have a new layer of their own instead


def pooler_of(folder: str | Path) -> Callable[[np.ndarray], np.ndarray] | None:
    """From (rows, width) [CLS] vectors to pooled ones; None where transformers' classifier reads no pooler."""
    kind = json.loads((Path(folder) / "config.json").read_text())["model_type"]
    weights = Path(folder) / "model.safetensors"
    if kind not in READ_BY_CLASSIFIERS or not weights.is_file():
        return None
    with safe_open(weights, framework="numpy") as file:
        names = [f"pooler.dense.{name}" for name in ("weight", "bias")]
        if not set(names) <= set(file.keys()):
            return None
        weight, bias = (file.get_tensor(name).astype(np.float32) for name in names)
    return lambda vectors: np.tanh(vectors @ weight.T + bias)
