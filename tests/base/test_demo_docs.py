"""The demo's page is made from a run's verdicts; the gallery is copied by name."""

import pandas as pd

from workflow.lib.base.demo_docs import BEGIN, END, FIGURES, GALLERY, claims_table, figures_page, models_tables, page
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
    write_scores(folder)
    return folder


def write_scores(folder):
    def score(encoder, task, recipe, seed, **scores):
        row = {"encoder": encoder, "task": task, "recipe": recipe, "fraction": 1.0, "seed": seed, **scores}
        stage, ending = ("models", "metrics") if recipe == "full" else ("sweeps", "scores")
        for place, what in {(stage, ending), ("sweeps", "scores")}:
            path = folder / f"{place}/{encoder}/{task}.{recipe}.f1.s{seed}.{what}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pd.DataFrame([row]).to_parquet(path)

    score("base.0", "imdb", "full", 0, test_accuracy=0.9)
    score("base.0", "imdb", "full", 1, test_accuracy=0.8)
    score("untrained.0", "imdb", "full", 0, test_accuracy=0.6)
    score("demo_tiny.0", "imdb", "full", 0, test_accuracy=0.1)
    score("base.0", "imdb", "reinit-2", 0, test_accuracy=0.55)
    score("base.0", "imdb", "reinit-1", 0, test_accuracy=0.7)
    score("base.0", "squad", "full", 0, test_f1=0.5, test_exact_match=0.4)


def test_scores_are_means_by_task_and_encoders_are_kept_apart(tmp_path):
    write_scores(tmp_path)
    said = models_tables(tmp_path)
    assert "| imdb | accuracy | 85.0 ± 7.1 | 2 | 60.0 | 25.0 |" in said and "| squad | F1 | 50.0 | 1 |  |  |" in said
    assert "1 of 2 tasks at 80 or more." in said and "| imdb | 85.0 | 55.0 | 30.0 |" in said


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
