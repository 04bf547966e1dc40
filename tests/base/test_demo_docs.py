"""The demo's page is made from a run's verdicts; the gallery is copied by name."""

import pandas as pd

from workflow.lib.base.demo_docs import BEGIN, END, FIGURES, GALLERY, claims_table, figures_page, page
from workflow.lib.costs.table import plan_of
from workflow.papers import all_papers

COLUMNS = ["paper", "name", "says", "statement", "artifact", "verdict", "evidence"]


def made_run(folder):
    for key, paper in all_papers().items():
        if paper.claims:
            claims = [(key, name, "so", f"{key} says so.", "fig1", verdict, "points 1.0 ± 0.1")
                      for name, verdict in (("one", "holds"), ("two", "cannot tell"))]  # fmt: skip
            (folder / "scorecard").mkdir(parents=True, exist_ok=True)
            pd.DataFrame(claims, columns=COLUMNS).to_parquet(folder / f"scorecard/{key}.claims.parquet")
    (folder / "tables/beyond").mkdir(parents=True)
    (folder / "tables/beyond/pretraining_gain.md").write_text("| task |\n")
    return folder


def test_what_stands_between_the_markers_is_made_anew(tmp_path):
    text = page(f"# Demo\n{BEGIN}stale\n{END}after\n", made_run(tmp_path))
    assert text.startswith("# Demo\n") and text.endswith("after\n") and "stale" not in text
    assert "8 claims: 4 holds, 4 cannot tell; 50% decided." in text and "| matton2019 says so. | fig1 | holds |" in text
    assert page(text, tmp_path) == text


def test_a_table_counts_its_verdicts():
    claims = pd.DataFrame([("p", "n", "s", "S.", "fig2", "does not hold", "e")], columns=COLUMNS)
    assert "1 does not hold." in claims_table(claims, "p")


def test_every_figure_and_table_has_a_line_with_its_rules(tmp_path):
    plan = plan_of([])
    targets = [f"{made.kind}s/{key}/{id}" for key, of in plan.artifacts.items() for id, (made, _) in of.items()]
    for target in targets:
        benchmark = tmp_path / f"demo/benchmarks/{target}.tsv"
        benchmark.parent.mkdir(parents=True, exist_ok=True)
        benchmark.write_text("s\n2.0\n")
    made = figures_page(tmp_path / "demo", plan)
    assert len(targets) > 40 and all(f"`results/demo/{target}." in made for target in targets)
    (line,) = [line for line in made.splitlines() if "figures/merchant2020/fig2." in line]
    assert "| `draw`, `rsa` |" in line and "| 2 s |" in line and "| 0.0 min |" not in line
    assert all(f"`results/demo/{target}." in FIGURES.read_text() for target in targets), "run `make demo-docs`"


def test_every_picture_of_the_gallery_is_a_papers_figure():
    figures = {
        f"{key}_{entry['id']}" for key, paper in all_papers().items() for entry in paper.about["artifacts"]
        if entry["kind"] == "figure"
    }  # fmt: skip
    assert {path.stem for path in GALLERY.glob("*_*.png")} <= figures
