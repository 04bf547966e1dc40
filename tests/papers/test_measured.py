"""Measured numbers must carry the names of the published ones, or they would never stand beside them."""

import pandas as pd
import pytest

from workflow.lib.base.digests import ROOT
from workflow.papers.matton2019 import measured as matton
from workflow.papers.merchant2020 import measured as merchant
from workflow.papers.singh2020 import measured as singh
from workflow.papers.zhou2022 import measured as zhou

MODULES = {"matton2019": matton, "merchant2020": merchant, "singh2020": singh, "zhou2022": zhou}


def published(paper: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / f"workflow/papers/{paper}/published.csv", dtype={"x": str})


def keys(rows: list[tuple]) -> set[tuple]:
    return {row[:3] for row in rows}


def published_keys(paper: str, artifact: str) -> set[tuple]:
    frame = published(paper)
    frame = frame[frame["artifact"] == artifact]
    return set(zip(frame["artifact"], frame["series"], frame["x"]))


@pytest.mark.parametrize("paper", MODULES)
def test_tolerances_belong_to_published_numbers(paper):
    frame = published(paper)
    for artifact, *special in MODULES[paper].TOLERANCES:
        here = frame[frame["artifact"] == artifact]
        assert len(here), artifact
        assert not special or special[0] in {*here["series"], *here["x"]}, (artifact, special)


def test_matton_s_sizes():
    sizes = pd.DataFrame({"training rows": [1, 2, 3], "test rows": [4, 5, 6], "classes": [2, 4, 14]})
    assert keys(matton.of_sizes(sizes, ["imdb", "ag_news", "dbpedia"])) == published_keys("matton2019", "table1")


def test_matton_s_single_neurons():
    alone = pd.DataFrame({"task": "imdb", "model": "m", "accuracy": [0.5, 0.935, 0.95]})
    rows = [(artifact, series, x, value) for x, artifact, series, value in matton.of_single_neurons(alone)]
    assert keys(rows) == published_keys("matton2019", "fig6")
    assert {row[2]: row[3] for row in rows}["count_of_neurons_above_0.936"] == 1


def test_merchant_s_edges_and_baselines():
    tasks = ["ep_pos", "ep_dependencies", "ep_relations"]
    table = pd.DataFrame([{"task": task, "series": "base", "f1": 90.0} for task in tasks])
    series = ["lexical", "randomised", "mnli", "squad", "parse"]
    deltas = pd.DataFrame([{"task": task, "series": name, "delta": -1.0} for task in tasks for name in series])
    rows = keys(merchant.of_edges(table, deltas, tasks))
    assert rows <= published_keys("merchant2020", "table1") and len(rows) == 18
    assert not any(series == "pos" for _, series, _ in keys(merchant.of_edges(table, deltas, tasks[1:])))


def test_merchant_s_layers_are_counted_from_0():
    structural = pd.DataFrame(
        [
            {"probe": probe, "measure": measure, "series": series, "layer": layer, "value": 0.5}
            for probe, measure in merchant.STRUCTURAL
            for series in ("base", "mnli", "squad", "parse")
            for layer in range(13)
        ]
    )
    texts = {"mnli": "mnli-test", "squad": "squad-test"}
    similarity = pd.DataFrame(
        [
            {"series": series, "text": text, "encoder": "b.0", "seed": 0, "layer": layer, "similarity": 0.5}
            for series in ("mnli", "squad", "parse")
            for text in ("wikipedia-sentences", texts.get(series))
            for layer in range(13)
            if text
        ]
    )
    general = "wikipedia-sentences"
    settings = {"general": general, "texts": {task: {"own": own, "general": general} for task, own in texts.items()}}
    rows = keys(merchant.of_structural(structural) + merchant.of_similarity(similarity, settings))
    for artifact in (*merchant.STRUCTURAL.values(), "fig2_rsa", "fig5_rsa_mnli_model"):
        wanted = published_keys("merchant2020", artifact)
        assert wanted <= rows, (artifact, sorted(wanted - rows)[:3])


def test_merchant_s_depths():
    curves = pd.DataFrame(
        [{"task": task, "depth": k, "score": 0.5} for task in ("mnli", "parse", "squad") for k in range(13)]
    )
    rows = keys(merchant.of_depths(curves, curves))
    for artifact in ("fig3_freezing", "fig4_truncation"):
        assert published_keys("merchant2020", artifact) <= rows, artifact


def test_merchant_s_full_models():
    rows = [
        {"task": "mnli", "test_accuracy": 0.8},
        {"task": "squad", "test_f1": 0.8},
        {"task": "parse", "test_las": 0.8},
    ]
    heads = {"mnli": "sequence", "squad": "answers", "parse": "parser"}
    assert keys(merchant.of_full_models(pd.DataFrame(rows), heads)) <= published_keys("merchant2020", "section3")


def test_singh_s_sizes():
    sizes = pd.DataFrame({"training rows": [1, 2, 3], "test rows": [4, 5, 6]})
    assert keys(singh.of_sizes_table(sizes, ["sst2", "qnli", "cola"])) == published_keys("singh2020", "table1")


def test_zhou_s_cells():
    tasks, sizes = ["pos", "dep", "ps_fxn", "ps_role", "trec50"], ["tiny", "mini", "small", "medium", "base"]
    table = pd.DataFrame(
        [
            {"encoder": size, "task": task, "state": state, "accuracy": 90.0, "n_clusters": 5, "linear": True,
             "similarity_shared": 0.5, "similarity_zero": 0.4}
            for size in sizes for task in tasks for state in ("pretrained", "finetuned")
        ]
    )  # fmt: skip
    rows = keys(zhou.of_table7(table, {size: size for size in sizes}, "shared"))
    wanted = published_keys("zhou2022", "table7")
    assert wanted <= rows, sorted(wanted - rows)[:5]


def test_zhou_s_sizes_and_paths():
    sizes = pd.DataFrame(
        {"task": ["POS", "DEP", "PS-fxn", "PS-role", "TREC-50"], "train points": 1, "test points": 2, "labels": 3}
    )
    wanted = published_keys("zhou2022", "table6")
    assert wanted <= keys(zhou.of_table6(sizes)), sorted(wanted - keys(zhou.of_table6(sizes)))
