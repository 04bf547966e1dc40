"""docs/demo.md, docs/figures.md and the gallery from a finished demo run: `make demo-docs`.

What stands between the markers is made from the run's scorecard; the text around them is written by hand.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from workflow.lib.base.digests import ROOT
from workflow.lib.base.plan import Plan
from workflow.lib.base.verdicts import UNCLEAR
from workflow.lib.costs.planned import CACHING
from workflow.lib.costs.table import plan_of, rows_of
from workflow.papers import all_papers

RUN, PAGE, GALLERY = ROOT / "results/demo", ROOT / "docs/demo.md", ROOT / "docs/gallery"
FIGURES = ROOT / "docs/figures.md"
PREPARING = ("finetune_model", *CACHING)  # what nearly every figure needs
BEGIN, END = "<!-- made by `make demo-docs` from results/demo, from here -->\n", "<!-- to here -->\n"


MEASURES = {"las": "LAS", "f1": "F1", "accuracy": "accuracy"}
FIGURES_HOW = """\
# Figures and tables: targets, rules, scripts, times

Made by `make demo-docs` from the demo. `snakemake --cores all <target>` makes one figure or table, and all that it
needs; `snakemake --cores all <paper>` those of a paper. Rules: what draws or tabulates, and the analyses and sweeps
that it reads. Times: of that job alone once these are there, as measured; and of everything that the target needs, from
nothing, on one core, by `make plan`'s estimate (without data, imports and drawing; on one machine less is needed,
because targets share most of it).
"""


def claims_table(claims: pd.DataFrame, title: str) -> str:
    counts = claims["verdict"].value_counts()
    lines = [f"## {title}", "", ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) + ".", "",
             "| claim | read from | verdict | evidence |", "| --- | --- | --- | --- |"]  # fmt: skip
    lines += [f"| {c.statement} | {c.artifact} | {c.verdict} | {c.evidence} |" for c in claims.itertuples()]
    return "\n".join(lines) + "\n"


def scored(files: Iterable[Path]) -> pd.DataFrame:
    """Test scores of models and sweeps, in points, each by its task's own measure."""
    metrics = pd.concat(map(pd.read_parquet, files), ignore_index=True)
    metrics = metrics[metrics["fraction"] == 1].drop_duplicates(["encoder", "task", "recipe", "seed"])
    there = [f"test_{name}" for name in MEASURES if f"test_{name}" in metrics]
    return metrics.assign(
        score=100 * metrics[there].bfill(axis=1).iloc[:, 0],
        measure=metrics[there].notna().idxmax(axis=1).str.removeprefix("test_").map(MEASURES),
        is_trained=~metrics["encoder"].str.startswith("untrained"),
    )


def models_tables(run: Path) -> str:
    """What fine-tuning reaches, what it reaches without pre-training, and what re-initialisation costs."""
    models = scored(run.glob("models/*/*.metrics.parquet")).query("recipe == 'full'")
    lines = ["| task | measure | fine-tuned | models | the same from an untrained encoder | gained |",
             "| --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    high = 0
    for task, of_task in models.groupby("task"):
        trained = of_task[of_task["is_trained"] & ~of_task["encoder"].str.startswith("demo_")]["score"]
        untrained = of_task[~of_task["is_trained"]]["score"]
        high += trained.mean() >= 80
        without = (
            [f"{untrained.mean():.1f}", f"{trained.mean() - untrained.mean():.1f}"] if len(untrained) else ["", ""]
        )
        spread = f" ± {trained.std():.1f}" if len(trained) > 1 else ""
        cells = [task, of_task["measure"].iloc[0], f"{trained.mean():.1f}{spread}", str(len(trained)), *without]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", f"{high} of {models['task'].nunique()} tasks at 80 or more.", "",
              "| task | fine-tuned | all layers re-initialised | lost |", "| --- | --- | --- | --- |"]  # fmt: skip
    sweeps = scored(run.glob("sweeps/*/*.scores.parquet"))
    deepest = sweeps["recipe"].str.extract(r"^reinit-(\d+)$")[0].astype(float)
    for task, of_task in sweeps[deepest == deepest.max()].groupby("task"):
        same = sweeps[(sweeps["recipe"] == "full") & (sweeps["task"] == task)]
        same = same[same["encoder"].isin(of_task["encoder"])]["score"].mean()
        lost = of_task["score"].mean()
        lines.append(f"| {task} | {same:.1f} | {lost:.1f} | {same - lost:.1f} |")
    return "\n".join(["## What models reach\n", *lines]) + "\n"


def generated(run: Path) -> str:
    parts, verdicts = [], []
    for key, paper in all_papers().items():
        if paper.claims:
            claims = pd.read_parquet(run / f"scorecard/{key}.claims.parquet")
            verdicts += claims["verdict"].tolist()
            parts.append(claims_table(claims, key))
    counts = pd.Series(verdicts).value_counts()
    each = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    total = f"{len(verdicts)} claims: {each}; {1 - counts.get(UNCLEAR, 0) / len(verdicts):.0%} decided.\n"
    return "\n".join([models_tables(run), f"## Claims\n\n{total}", *parts])


def page(text: str, run: Path) -> str:
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{generated(run)}\n{END}{after}"


def figures_page(run: Path, plan: Plan) -> str:
    """Which target draws which figure, by which rules and script, and how long that takes."""
    lines = [FIGURES_HOW]
    for key, made in plan.artifacts.items():
        rows = []
        for id, (artifact, _) in made.items():
            folder = f"{artifact.kind}s/{key}/{id}"
            drawn = pd.read_csv(run / f"benchmarks/{folder}.tsv", sep="\t")["s"].iloc[0]
            part = plan.only(key, id)
            needed = rows_of(part)
            minutes = 0.0 if needed.empty else 60 * (needed["core_hours"] + needed["gpu_hours"]).sum()
            ending, rule = {"figure": ("png", "draw"), "table": ("md", "tabulate")}[artifact.kind]
            rules = ", ".join([f"`{rule}`", *(f"`{name}`" for name in part.items if name not in PREPARING)])
            script = f"[{artifact.script}](../workflow/papers/{key}/{artifact.script})"
            target = f"`results/{run.name}/{folder}.{ending}`"
            rows.append(f"| {artifact.title} | {target} | {rules} | {script} | {drawn:.0f} s | {minutes:.1f} min |")
        if rows:
            head = ["| | target | rules | script | alone | from nothing |", "| --- | --- | --- | --- | --- | --- |"]
            lines += [f"## {key}: {plan.papers[key].about['title']}\n", *head, *rows, ""]
    return "\n".join(lines)


def screenshot(run: Path) -> None:
    """The top of the page, as the README shows it; only where there is a Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium: docs/gallery/page.png stays as it is", file=sys.stderr)
        return
    asked = [browser, "--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,900"]
    asked += [f"--screenshot={GALLERY / 'page.png'}", (run / "scorecard.html").resolve().as_uri()]
    subprocess.run(asked, check=True, capture_output=True)


def copy_gallery(run: Path) -> None:
    """Pictures that docs/gallery.md shows, by the names they have there: <paper>_<id>.png."""
    for picture in GALLERY.glob("*_*.png"):
        paper, _, id = picture.stem.partition("_")
        shutil.copy(run / "figures" / paper / f"{id}.png", picture)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(), RUN))
    FIGURES.write_text(figures_page(RUN, plan_of([])))
    copy_gallery(RUN)
    screenshot(RUN)
