"""Does half precision move a number? Caches stored in float16, forward passes in bfloat16 and float16, and training in
bfloat16, against float32, on the demo's models (results/demo must be there).

python -m tests.benchmarks.bench_precision
"""

import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from accelerate.state import AcceleratorState

from tests.scripts import load_script
from workflow.lib.activations.caching import cache_dataset
from workflow.lib.activations.labelled_vectors import LabelledVectors
from workflow.lib.costs.table import plan_of
from workflow.lib.methods.directprobe.clustering import probe
from workflow.lib.methods.directprobe.label_hulls import label_hull_distances
from workflow.lib.methods.linear import fit_softmax
from workflow.lib.methods.rsa.layers import compare
from workflow.lib.training.finetuning import Task

RUN, ENCODERS = Path("results/demo"), [f"base.{seed}" for seed in range(3)]
VARIANTS = {
    "float32": (None, "float32"),
    "stored as float16": (None, "float16"),
    "forward in bfloat16": (torch.bfloat16, "float16"),
    "forward in float16": (torch.float16, "float16"),
}


def cached(script, model: Path, encoder: str, unit: str, place: str, into: Path, forward, dtype: str, **how) -> Path:
    precision = torch.autocast("cpu", forward) if forward else nullcontext()
    settings = {"layers": "all", "max_tokens": 128, "batch_size": 64, "dtype": dtype} | how
    paths = (str(RUN / f"data/{place}.parquet"),)
    with precision:
        cache_dataset(*script.loaded(model), RUN / "encoders" / encoder, paths, into, settings | {"unit": unit})
    return into


def numbers(script, encoder: str, folder: Path, variant: tuple) -> dict[str, float]:
    base, tuned = RUN / "encoders" / encoder, RUN / "models" / encoder / "mnli.full.f1.s0"
    sampling = {"rows": 1000, "per_row": 3, "seed": 0}
    rsa = [cached(script, model, encoder, "sampled", "mnli/test", folder / f"{at}", *variant, **sampling)
           for at, model in enumerate((base, tuned))]  # fmt: skip
    rows = pd.DataFrame(compare(*rsa, tokens=1500, samples=1, per_example=3, seed=0))
    found = {f"similarity, layer {layer}": value for layer, value in zip(rows["layer"], rows["similarity"])}
    texts = {split: cached(script, RUN / "models" / encoder / "imdb.full.f1.s0", encoder, "cls", f"imdb/{split}",
                           folder / split, *variant, layers="last") for split in ("train", "test")}  # fmt: skip
    (x, y), (x_test, y_test) = (
        (units.layer(units.last), units.labels)
        for units in (LabelledVectors(texts[split], RUN / f"data/imdb/{split}.parquet", "sequence") for split in texts)
    )
    found["probe accuracy"] = 100 * float(np.mean(fit_softmax(x, y).predict(x_test) == y_test))
    if encoder == ENCODERS[0]:
        words = cached(script, RUN / "models" / encoder / "ps_fxn.full.f1.s0", encoder, "target", "ps_fxn/train",
                       folder / "words", *variant, layers="last")  # fmt: skip
        units = LabelledVectors(words, RUN / "data/ps_fxn/train.parquet", "word")
        codes = np.unique(units.labels.astype(str), return_inverse=True)[1]
        found["clusters"] = probe(units.layer(units.last), codes).n_clusters
        distances = [gap.distance for gap in label_hull_distances(units.layer(units.last), units.labels).values()]
        found |= {"smallest label distance": min(distances), "mean label distance": float(np.mean(distances))}
    return found


def trained(plan, encoder: str, task: str, precision: str) -> float:
    settings = plan.training(f"{encoder}/{task}.full.f1.s0") | {"precision": precision, "save_every": 0}
    data = [str(RUN / f"data/{settings['dataset']}/{settings[split]}.parquet") for split in ("train_split", "evaluate")]
    AcceleratorState._reset_state(reset_partial_state=True)  # one precision a process is what Accelerate expects
    with tempfile.TemporaryDirectory() as folder:
        run = Task(str(RUN / "encoders" / encoder), *data, settings).tune("full", 1.0, 0, Path(folder) / "model")
    return 100 * run.scores["test_accuracy"]


if __name__ == "__main__":
    if not (RUN / "scorecard.md").exists():
        sys.exit(print(f"{RUN} is not there: make figures first"))
    torch.set_num_threads(1)
    script, rows = load_script("scripts/cache_activations"), []
    for encoder in ENCODERS:
        for name, variant in VARIANTS.items():
            with tempfile.TemporaryDirectory() as folder:
                found = numbers(script, encoder, Path(folder), variant)
            rows += [
                {"number": key, "variant": name, "encoder": encoder, "value": value} for key, value in found.items()
            ]
    table = pd.DataFrame(rows).pivot(index=["number", "encoder"], columns="variant", values="value")[list(VARIANTS)]
    off = table.sub(table["float32"], axis=0).abs().groupby("number").max()
    off["float32"] = table["float32"].groupby("number").mean()
    print("mean in float32, and the largest difference from it:\n", off.to_string(float_format="{:.5f}".format))
    plan = plan_of([])
    runs = [{"task": task, "encoder": encoder, precision: trained(plan, encoder, task, precision)}
            for task in ("imdb", "qnli") for encoder in ENCODERS for precision in ("float32", "bf16")]  # fmt: skip
    print(pd.DataFrame(runs).groupby(["task", "encoder"]).first().round(2).to_string())
