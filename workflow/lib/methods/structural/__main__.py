"""`python -m workflow.lib.methods.structural words.npz`: are parse trees in the vectors of words?

Arrays, one entry per word: X (vectors), sentence (its number; words of a sentence stand together), head (the place of
the word's head in its sentence, from 1; 0 = root). The same with _dev (stops training) and _test (is scored).
"""

import sys
from pathlib import Path

import numpy as np
import torch

from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import heads_fault
from workflow.lib.methods.arrays import labels, points, read_arrays, run_command
from workflow.lib.methods.structural.gold_trees import Trees, trees_of
from workflow.lib.methods.structural.scores import Evaluation
from workflow.lib.methods.structural.settings import settings_from
from workflow.lib.methods.structural.training import train_probes

NEEDED, PARTS = ("X", "sentence", "head"), ("", "_dev", "_test")


def trees_in(arrays: dict[str, np.ndarray], path: Path, ending: str) -> Trees:
    sentence, head = (labels(arrays, f"{name}{ending}", path) for name in ("sentence", "head"))
    if head.dtype.kind not in "iu":
        raise UserError(f"{path}: head{ending} must be whole numbers")
    if not len(sentence) == len(head) == len(arrays[f"X{ending}"]) > 0:
        raise UserError(f"{path}: X{ending}, sentence{ending} and head{ending} differ in length, or are empty")
    begins = np.flatnonzero(np.append(True, sentence[1:] != sentence[:-1]))
    if len(np.unique(sentence)) < len(begins):
        raise UserError(f"{path}: words of a sentence of sentence{ending} do not stand together")
    heads = [part.tolist() for part in np.split(head, begins[1:])]
    for number, of_sentence in zip(sentence[begins], heads):
        if fault := heads_fault(of_sentence):
            raise UserError(f"{path}, sentence {number} of head{ending}: {fault}")
    return trees_of(heads, [["X"] * len(of_sentence) for of_sentence in heads])


def words_in(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Trees]]:
    """Vectors and trees of the parts, by their endings."""
    arrays = read_arrays(path, NEEDED, PARTS[1:])
    if missing := [f"X{ending}" for ending in PARTS if f"X{ending}" not in arrays]:
        raise UserError(f"{path} lacks {' and '.join(missing)}")
    vectors = {ending: points(arrays, path, ending) for ending in PARTS}
    if len({x.shape[1] for x in vectors.values()}) > 1:
        raise UserError(f"{path}: X, X_dev and X_test differ in width")
    return vectors, {ending: trees_in(arrays, path, ending) for ending in PARTS}


def report(options) -> dict:
    arrays, trees = words_in(options.words)
    vectors = {ending: torch.from_numpy(x) for ending, x in arrays.items()}
    settings = settings_from({"rank": min(options.rank, vectors[""].shape[1])})
    train, dev = (({0: vectors[ending]}, trees[ending]) for ending in ("", "_dev"))
    evaluation, found, lines = Evaluation(trees["_test"], settings.min_length, settings.max_length), {}, []
    for probe in train_probes(train, dev, settings, options.seed):
        scores = getattr(evaluation, probe.probe)((vectors["_test"] @ probe.weights).numpy())
        found[probe.probe] = {measure: value for measure, (value, _) in scores.measures.items()}
        said = ", ".join(f"{measure} {value:.4f}" for measure, value in found[probe.probe].items())
        lines.append(f"{probe.probe} probe ({probe.epochs} epochs): {said}")
    return found | {"lines": lines}


def add_options(parser) -> None:
    parser.add_argument("words", type=Path, help="an .npz or .parquet file")
    parser.add_argument("--rank", type=int, default=512, help="of the projection; at most the width")
    parser.add_argument("--seed", type=int, default=0)


def main(arguments: list[str] | None = None) -> int:
    return run_command("structural", __doc__, report, add_options, arguments)


if __name__ == "__main__":
    sys.exit(main())
