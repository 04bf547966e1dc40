"""The scorecard's arithmetic."""

import pandas as pd

from tests.scripts import load_script
from workflow.lib.base.digests import ROOT


def scorecard():
    return load_script("scripts/scorecard")


def test_differences_and_tolerances():
    published = pd.read_csv(ROOT / "workflow/papers/matton2019/published.csv", dtype={"x": str})
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
