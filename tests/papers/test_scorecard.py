"""The scorecard's arithmetic."""

import logging
from types import SimpleNamespace

import pandas as pd

from tests.scripts import load_script, run_script
from workflow.lib.base.digests import ROOT
from workflow.lib.base.measured import COLUMNS, compare, summarised, tolerance_of
from workflow.papers.matton2019.measured import TOLERANCES


def scorecard():
    return load_script("scripts/scorecard")


def test_differences_and_tolerances():
    published = pd.read_csv(ROOT / "workflow/papers/matton2019/published.csv", dtype={"x": str})
    rows = [("table2", "imdb", "finetuned", 93.2 + d) for d in (-0.1, 0.1)] + [("table2", "dbpedia", "finetuned", 99.0)]
    measured = summarised(rows, TOLERANCES)
    numbers = compare(published, measured, "matton2019")
    assert len(numbers) == len(published)
    row = numbers.set_index(["artifact", "series", "x"]).loc
    assert row["table2", "imdb", "finetuned"]["within"] == "yes"
    # DBpedia has a tolerance of its own, because its accuracies leave little room
    assert row["table2", "dbpedia", "finetuned"]["within"] == "no"
    assert row["table2", "ag_news", "finetuned"]["within"] == "not measured"
    needed = {"table2/ag_news": "needs a licence", "table2/imdb": "needs another"}
    within = compare(published, measured, "matton2019", needed).set_index(["artifact", "series", "x"])["within"]
    assert within["table2", "ag_news", "finetuned"] == "needs a licence"
    assert within["table2", "imdb", "finetuned"] == "yes"  # it was measured all the same


def test_a_second_rule_stands_below_the_first_without_a_verdict():
    published = pd.DataFrame({"artifact": "a", "series": "s", "x": ["p", "q"], "value": [0.5, 0.7]})
    rows = [("a", "s", "p", 0.6), ("a", "s", "p, missing labels as 0", 0.3), ("a", "s", "other", 9.0)]
    numbers = compare(published, summarised(rows, {("a", "p"): 0.2}), "fifth2027")
    assert numbers["x"].tolist() == ["p", "p, missing labels as 0", "q"]
    assert numbers["within"].tolist() == ["yes", "another rule", "not measured"]
    assert numbers["difference"].round(6).tolist()[:2] == [0.1, -0.2]


def test_the_most_special_tolerance_counts():
    tolerances = {("a",): 1.0, ("a", "s"): 2.0, ("b", "x"): 3.0}
    assert tolerance_of(tolerances, "a", "s", "x") == 2 and tolerance_of(tolerances, "a", "t", "x") == 1
    assert tolerance_of(tolerances, "b", "s", "x") == 3 and tolerance_of(tolerances, "c", "s", "x") != 0


def test_repetitions_are_summarised():
    frame = summarised([("a", "s", "x", 1.0), ("a", "s", "x", 3.0), ("a", "t", "x", 5.0)], {("a",): 0.5})
    assert frame["measured"].tolist() == [2, 5] and frame["n"].tolist() == [2, 1]
    assert frame["tolerance"].tolist() == [0.5, 0.5] and frame["sd"].isna().tolist() == [False, True]


def test_a_run_without_scored_papers_has_an_empty_scorecard(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.lib.base.logs.to_rule_log", logging.getLogger)
    files = {name: str(tmp_path / f"scorecard.{name}") for name in ("md", "csv")}
    job = SimpleNamespace(
        input=SimpleNamespace(published=[], measured=[], claims=[]),
        output=SimpleNamespace(**files),
        params=SimpleNamespace(run="mine", notes=["a note"], unmeasured={}),
        log=[str(tmp_path / "log")],
    )
    run_script("scripts/scorecard", job)
    assert "# Scorecard of the run `mine`" in (tmp_path / "scorecard.md").read_text()
    assert pd.read_csv(files["csv"]).columns.tolist() == COLUMNS
