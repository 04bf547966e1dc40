"""The scorecard's arithmetic."""

import importlib.util

import pandas as pd

from workflow.lib.modules import ROOT, SCRIPTS


def scorecard():
    spec = importlib.util.spec_from_file_location("scorecard", SCRIPTS / "scorecard/scorecard.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_differences_and_tolerances():
    published = pd.read_csv(ROOT / "config/published/matton2019.csv", dtype={"x": str})
    measured = pd.DataFrame(
        [("table2", "imdb", "finetuned", 93.2, 0.1, 3), ("table2", "dbpedia", "finetuned", 99.0, 0.1, 3)],
        columns=["artifact", "series", "x", "measured", "sd", "n"],
    )
    numbers = scorecard().compare(published, measured, "matton2019")
    assert len(numbers) == len(published)
    row = numbers.set_index(["artifact", "series", "x"]).loc
    assert row["table2", "imdb", "finetuned"]["within"] == "yes"
    # DBpedia has a tolerance of its own, because its accuracies leave little room
    assert row["table2", "dbpedia", "finetuned"]["within"] == "no"
    assert row["table2", "ag_news", "finetuned"]["within"] == "not measured"
