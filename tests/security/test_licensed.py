"""Text under licence stays in results/<run>/data: what is made from it are vectors, scores and tables."""

import json
import logging
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
import yaml

from tests import tiny
from tests.page.made import PAPER, SCORES, make_results
from tests.scripts import run_script
from workflow.lib.base.digests import ROOT
from workflow.lib.base.errors import UserError
from workflow.lib.base.tables import read_table, write_text_tables
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.page.content import VERDICTS, section
from workflow.lib.page.render import rendered
from workflow.scripts.fetch_dataset import fetch

REGISTRY = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
DATASET, SPLITS, MODEL = "ep_constituents", ("train", "dev", "test"), "base.0/pretrained"
MARKS = ["kestrelword", "heronword"]  # of the licensed sentences


def lines(n: int) -> str:
    rows = []
    for at in range(n):
        words = ["the", MARKS[at % 2], "sat", "on", "that", MARKS[(at + 1) % 2]]
        targets = [{"span1": [0, 2], "label": "NP"}, {"span1": [2, 6], "label": "VP"}]
        rows.append(json.dumps({"text": " ".join(words), "targets": targets, "info": {"source": MARKS[0]}}))
    return "\n".join(rows) + "\n"


def settings(licensed: Path, split: str) -> dict:
    words = {"entry": REGISTRY[DATASET], "dataset": DATASET, "split": split, "rows": None, "seed": 0, "mirror": None}
    return words | {"licensed": str(licensed)}


def job(results: Path, name: str, **parts) -> SimpleNamespace:
    return SimpleNamespace(log=[str(results / "logs" / f"{name}.log")], threads=1, **parts)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A run on a folder of licensed data, by the scripts of its rules: rows, vectors, probes, a table, a page."""
    folder = tmp_path_factory.mktemp("licensed")
    results, licensed = folder / "results/toy", folder / "licensed"
    [source] = REGISTRY[DATASET]["sources"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workflow.lib.base.logs.to_rule_log", to_file)
        for split in SPLITS:
            file = licensed / source["raw"] / REGISTRY[DATASET]["splits"][split]["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(lines(12))
            out = results / f"data/{DATASET}/{split}.parquet"
            of_split = job(
                results, split, output=[str(out)], params=SimpleNamespace(settings=settings(licensed, split))
            )
            run_script("scripts/fetch_dataset", of_split)
        tiny.save(results / "encoders/base.0", tiny.encoder(), tiny.wrapped(tiny.wordpiece()))
        analyse(results)
    make_results(results)
    scores = read_table(results / "scores.parquet")
    write_text_tables(scores, results / "tables/fifth2027/table1.csv", results / "tables/fifth2027/table1.md")
    shown = section(PAPER, results, SCORES.iloc[:0], pd.DataFrame(columns=["artifact", "verdict"]))
    about = {"run": "toy", "notes": [], "encoders": ["base"], "data": "1 real dataset", "seeds": ""}
    page = rendered("page.html", about=about, papers=[shown], verdicts=VERDICTS, took="", by_rule=None, machine="",
                    commit="", versions={}, config=f"licensed: {licensed}", written="")  # fmt: skip
    (results / "scorecard.html").write_text(page)
    return results


def analyse(results: Path) -> None:
    torch.set_num_threads(1)
    data = [str(results / f"data/{DATASET}/{split}.parquet") for split in SPLITS]
    items = [f"{MODEL}/span/{DATASET}-{split}" for split in SPLITS]
    work = {item: {"places": [f"{DATASET}/{split}"], "unit": "span", "layers": "all", "max_tokens": 40}
            for item, split in zip(items, SPLITS)}  # fmt: skip
    caches = [str(results / "activations" / item) for item in items]
    params = SimpleNamespace(work=work, settings={"batch_size": 8, "dtype": "float16"})
    inputs = SimpleNamespace(models=[str(results / "encoders/base.0")], data=data)
    run_script("scripts/cache_activations", job(results, "caches", input=inputs, params=params, output=caches))
    how = {"projection": 8, "hidden": 8, "learning_rate": 0.01, "validate_every": 5, "max_validations": 2}
    params = SimpleNamespace(work={f"{MODEL}/{DATASET}": items}, settings=how, seed=0)
    inputs = SimpleNamespace(activations=caches, data=data)
    outputs = [str(results / "scores.parquet")]
    run_script("scripts/edges", job(results, "edges", input=inputs, params=params, output=outputs))


def to_file(path: str) -> logging.Logger:
    """As a rule's, but for pytest's own."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    log = logging.getLogger(Path(path).stem)
    log.addHandler(logging.FileHandler(path))
    log.setLevel(logging.INFO)
    return log


def everything_in(path: Path) -> str:
    """As text; of Parquet its cells and metadata, which are compressed."""
    if path.suffix != ".parquet":
        return path.read_bytes().decode("utf-8", errors="replace")
    table = pq.read_table(path, partitioning=None)
    columns = [str(table[name].to_pylist()) for name in table.column_names if name != "vector"]
    return f"{table.schema.names} {table.schema.metadata} {' '.join(columns)}"


def test_licensed_words_are_in_the_rows_and_nowhere_else(results):
    rows, about = read_dataset(results / f"data/{DATASET}/train.parquet")
    assert rows["words"].to_pylist()[0][1] == MARKS[0]
    assert about["source"].endswith("from a folder of licensed data")  # and not where that folder is
    files = [path for path in results.rglob("*") if path.is_file()]
    kinds = {path.suffix for path in files}
    assert {".parquet", ".log", ".csv", ".md", ".svg", ".html", ".safetensors", ".json"} <= kinds
    for path in files:
        is_data = path.is_relative_to(results / "data")
        assert is_data == any(mark in everything_in(path) for mark in MARKS), path


@pytest.mark.parametrize("broken", [
    '{"text": "the kestrelword", "targets": [{"span1": [0, 9], "label": "NP"}]}', '{"text": "kestrelword", "targets"',
    '{"text": ["kestrelword"], "targets": []}', '{"text": "kestrelword"}', '"kestrelword"',
])  # fmt: skip
def test_a_fault_in_a_licensed_file_is_named_by_its_line_and_not_quoted(tmp_path, broken):
    [source] = REGISTRY[DATASET]["sources"]
    file = tmp_path / source["raw"] / REGISTRY[DATASET]["splits"]["train"]["file"]
    file.parent.mkdir(parents=True)
    file.write_text(lines(1) + broken + "\n")
    with pytest.raises(UserError, match="line 2") as error:
        fetch(tmp_path / "out", **settings(tmp_path, "train"))
    assert not any(mark in str(error.value) for mark in MARKS)
