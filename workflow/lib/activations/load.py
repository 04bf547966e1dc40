"""Cached vectors for your own analyses: numbers, labels, and the rows that they belong to.

from workflow.lib.activations.load import load_activations
found = load_activations("demo", "base.0/imdb.full.f1.s0", "imdb", "test", layer=4)
found.X, found.y, found.rows    # vectors, label names, a frame whose rows are the vectors' rows of the dataset
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workflow.lib.activations.cache import layer_files, read_units, read_vectors
from workflow.lib.base.errors import UserError, nearest
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.labelled_units import labelled_units

HEADS = {"cls": "sequence", "word": "word", "target": "word"}  # whose labels are a unit's own


@dataclass
class Activations:
    X: np.ndarray  # (n, width) float32
    y: np.ndarray | None  # (n,) label names: of the text, or the word's UPOS or span label; None if units have none
    rows: pd.DataFrame  # (n) the dataset's row of every vector, and `example` and `unit` as in the cache


def load_activations(
    run: str | Path, model: str, dataset: str, split: str, layer: int, unit: str | None = None
) -> Activations:
    """`run`: its name in results, or its folder. `model`: `base.0/pretrained`, or a tuned one as under `models`.

    `unit`: cls, word, target, span, sampled, sampled_first; may be left out where only one of them is cached.
    """
    results = Path(run) if Path(run).is_dir() else Path("results") / run
    folder = _folder(results / "activations" / model, f"{dataset}-{split}", unit)
    files = layer_files(folder)
    if layer not in files:
        raise UserError(f"{folder} has no layer {layer}; it has {', '.join(map(str, files))}")
    table, info = read_dataset(results / "data" / dataset / f"{split}.parquet")
    example, of_unit = read_units(files[layer])
    rows = table.to_pandas().iloc[example].reset_index(drop=True).assign(example=example, unit=of_unit)
    vectors = read_vectors(files[layer]).astype(np.float32, copy=False)
    return Activations(vectors, _labels(table, info, folder.parent.name, example, of_unit), rows)


def _folder(model: Path, name: str, unit: str | None) -> Path:
    found = sorted(path for path in model.glob(f"*/{name}") if unit in (None, path.parent.name))
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"{model} has {name} by several units: name one of {', '.join(p.parent.name for p in found)}")
    if not model.is_dir():
        models = [f"{path.parent.name}/{path.name}" for path in model.parents[1].glob("*/*")]
        raise UserError(f"{model} has no cached vectors{nearest('/'.join(model.parts[-2:]), models)}")
    there = sorted({path.name for path in model.glob("*/*") if path.parent.name != "steps"})
    raise UserError(f"{model} has no {name}{nearest(name, there)}; it has {', '.join(there)}")


def _labels(table, info: dict, unit: str, example: np.ndarray, of_unit: np.ndarray) -> np.ndarray | None:
    is_labelled = info["labels"] if info["kind"] == "text" else info["kind"] in ("treebank", "spans")
    if unit not in HEADS or not is_labelled:
        return None
    units = labelled_units(table, info, HEADS[unit])
    places = units.words[0] if len(units.words) else np.zeros(len(units), np.int64)
    label = pd.Series(units.label, index=pd.MultiIndex.from_arrays([units.example, places]))
    return label.reindex(pd.MultiIndex.from_arrays([example, of_unit])).to_numpy().astype(str)
