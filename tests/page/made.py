"""A small made run for tests of pages: two papers' artifacts, hostile names among them."""

from pathlib import Path

import pandas as pd

from workflow.lib.base.files import whole_file
from workflow.lib.page.content import VERDICTS, as_table, section
from workflow.lib.page.render import rendered
from workflow.lib.plotting.figures import curve, level, new_figure, save_figure

HOSTILE = "<script>document.title='in'</script>\"'&"
COLUMNS = ["paper", "artifact", "series", "x", "published", "measured", "sd", "n", "difference", "tolerance", "within"]
PAPER = {
    "key": "fifth2027",
    "title": f"A fifth paper {HOSTILE}",
    "authors": "Somebody, 2027",
    "address": "https://example.org/paper",
    "summary": f"What it asks. {HOSTILE}",
    "methods": {"rsa": f"How it is done. {HOSTILE}"},
    "artifacts": [
        {"paper": "fifth2027", "id": "fig1", "kind": "figure", "method": "rsa", "script": "figures/fig1.py",
         "caption": f"Similarity by layer. {HOSTILE}"},
        {"paper": "fifth2027", "id": "table1", "kind": "table", "method": "rsa", "script": "tables/table1.py",
         "caption": "Accuracy."},
    ],
}  # fmt: skip
TABLE = {
    "csv": "task,accuracy\nmnli,0.891\nqnli,0.5\nsst2,10.7\n",
    "md": "| task | accuracy |\n| --- | --- |\n| mnli | 0.89 |\n| qnli | 0.50 ± 0.1 |\n| sst2 | 10.7 |\n",
}
SCORES = pd.DataFrame(
    [
        ("fifth2027", "table1", "mnli", "accuracy", 0.9, 0.89, 0.01, 3, -0.01, 0.02, "yes"),
        ("fifth2027", "table1", "qnli", "accuracy", 0.9, 0.5, 0.01, 3, -0.4, 0.02, "no"),
        ("fifth2027", "table1", HOSTILE, "accuracy", 0.9, float("nan"), float("nan"), 0, float("nan"), 0.02, "needs x"),
        ("fifth2027", "fig1_rsa", "mnli", "1", 0.9, 0.9, 0.01, 3, 0.0, 0.02, "yes"),
    ],
    columns=COLUMNS,
)
CLAIMS = pd.DataFrame(
    [
        {"paper": "fifth2027", "name": f"claim_{n}", "says": f"Section {n} {HOSTILE}", "statement": f"Statement {n}.",
         "artifact": "fig1", "verdict": VERDICTS[n % 3], "evidence": f"points: mnli {n}; qnli {HOSTILE}"}
        for n in range(5)
    ]
)  # fmt: skip


def make_results(folder: Path, layers: int = 4) -> Path:
    """Files as the rules write them."""
    figures, tables = folder / "figures/fifth2027", folder / "tables/fifth2027"
    figure, axes = new_figure()
    curve(axes, range(layers + 1), [1 - n / 10 for n in range(layers + 1)], [0.1] * (layers + 1), f"mnli {HOSTILE}", 0)
    level(axes, 0.2, "chance")
    axes.set(xlabel="layer (0 = embeddings)", ylabel="similarity", title="(a) general text: all rows")
    save_figure(figure, [figures / f"fig1.{ending}" for ending in ("pdf", "png", "svg", "csv")])
    for ending, text in TABLE.items():
        with whole_file(tables / f"table1.{ending}") as beside:
            beside.write_text(text)
    (folder / "scorecard").mkdir()
    CLAIMS.to_parquet(folder / "scorecard/fifth2027.claims.parquet")
    return folder


def made_page(folder: Path, scores: pd.DataFrame = SCORES) -> str:
    results = make_results(folder)
    about = {"run": HOSTILE, "notes": [HOSTILE], "encoders": ["base"], "data": "1 real dataset"}
    about |= {"seeds": "fine-tuning seeds 0, 1"}
    shown = section(PAPER, results, scores, CLAIMS, [f"mnli of base.0 (seed 0) {HOSTILE}"])
    return rendered(
        "page.html", about=about, papers=[shown], verdicts=VERDICTS, took="1 min",
        by_rule=as_table(pd.DataFrame({"rule": ["draw"], "jobs": [1]})), machine="a machine", commit="abc",
        versions={"Python": "3"}, config=f"run: {HOSTILE}", written="today",
    )  # fmt: skip
