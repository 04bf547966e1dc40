"""The scorecard's arithmetic."""

import logging
from types import SimpleNamespace

import numpy as np
import pandas as pd

from tests.page.made import CLAIMS, SCORES
from tests.scripts import load_script, run_script
from workflow.lib.base.chance import at_chance, of_models
from workflow.lib.base.digests import ROOT
from workflow.lib.base.measured import COLUMNS, alone, compare, compared, summarised, tolerance_of
from workflow.lib.base.tables import write_table
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
        input=SimpleNamespace(published=[], measured=[], claims=[], metrics=[]),
        output=SimpleNamespace(**files),
        params=SimpleNamespace(run="mine", notes=["a note"], unmeasured={}, comparable=[], models={"given": []}),
        log=[str(tmp_path / "log")],
    )
    run_script("scripts/scorecard", job)
    assert "# Scorecard of the run `mine`" in (tmp_path / "scorecard.md").read_text()
    assert pd.read_csv(files["csv"]).columns.tolist() == COLUMNS


def test_no_published_number_stands_beside_stand_in_data(tmp_path):
    """In the table for machines, and in the one for readers."""
    file, measured = ROOT / "workflow/papers/matton2019/published.csv", tmp_path / "matton2019.measured.parquet"
    write_table(summarised([("table2", "imdb", "finetuned", 77.25)], TOLERANCES), measured)
    real, made_up = (compared([file], [measured], {}, comparable) for comparable in (["matton2019"], []))
    assert real["published"].notna().all() and len(real) > 1
    assert made_up["measured"].tolist() == [77.25] and made_up["within"].tolist() == ["stand-in data"]
    assert made_up[["published", "difference", "tolerance"]].isna().all(axis=None)
    text = scorecard().as_markdown("mine", made_up, CLAIMS.iloc[:0], [], [], {})
    assert "77.25" in text and "93.7" not in text and "| no |" not in text and "published |" not in text
    text = scorecard().as_markdown("mine", real, CLAIMS.iloc[:0], [], ["matton2019"], {})
    assert "| 93.7 | 77.25 | -16.45 | no |" in text


def test_a_scorecard_has_a_section_for_each_paper_and_folds_what_was_not_measured():
    numbers = pd.concat([SCORES, alone(SCORES.assign(paper="other2027"))])
    text = scorecard().as_markdown("mine", numbers, CLAIMS, [], ["fifth2027"], {"third2027": ["mnli of base.0"]})
    _, fifth, other, third = text.split("\n## ")
    assert fifth.startswith("fifth2027") and "Claims: " in fifth and "Statement 4." in fifth
    shown, _, rest = fifth.partition("<details>")
    assert "| no |" in shown and "needs x" not in shown and "needs x" in rest.partition("</details>")[0]
    assert "| no |" not in other and "0.89 ± 0.01" in other and "Statement" not in other
    assert third == "third2027\n\nAt chance: mnli of base.0.\n"


def scores_of(task: str, right: float, n: int = 300, share: float = 0.5) -> dict:
    """`share`: of the rows that have the most frequent label; `right`: of all rows."""
    truth = np.arange(n) >= share * n
    wrong = np.random.default_rng(0).permutation(n) >= right * n
    rows = {"row_truth": truth.astype(int).tolist(), "row_guess": (truth ^ wrong).astype(int).tolist()}
    return {"encoder": "base.0", "task": task, "seed": 0} | rows


def test_models_at_chance_are_named_and_others_are_not():
    tables = pd.DataFrame([scores_of("mnli", 0.51), scores_of("qnli", 0.9), scores_of("cola", 0.7, share=0.7),
                           scores_of("sst2", 0.2), scores_of("imdb", 0.54, n=30000)])  # fmt: skip
    assert at_chance(tables) == [
        "mnli of base.0 (seed 0): 0.51 against 0.50",
        "cola of base.0 (seed 0): 0.70 against 0.70",
        "sst2 of base.0 (seed 0): 0.20 against 0.50",
    ]


def test_models_of_a_paper_are_found_among_files_of_all(tmp_path):
    named = {"mnli.full.f1.s0": [scores_of("mnli", 0.5)], "sst2.full.f1.s0": [scores_of("sst2", 0.5)],
             "squad.full.f1.s0": [{"encoder": "base.0", "task": "squad", "seed": 0, "row_f1": [0.0]}]}  # fmt: skip
    files = [tmp_path / f"base.0/{name}.metrics.parquet" for name in named]
    for file, rows in zip(files, named.values()):
        write_table(rows, file)
    # answers to questions have no most frequent label
    said = of_models(map(str, files), ["base.0/mnli.full.f1.s0", "base.0/squad.full.f1.s0"])
    assert said == ["mnli of base.0 (seed 0): 0.50 against 0.50"]
