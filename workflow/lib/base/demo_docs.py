"""docs/demo.md, docs/figures.md and the gallery from a finished demo run: `make demo-docs`.

What stands between the markers is made from the run's scorecard; the text around them is written by hand.
"""

import shutil
import subprocess
import sys
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
    gain = "## Does pre-training matter in the demo?\n\n" + (run / "tables/beyond/pretraining_gain.md").read_text()
    return "\n".join([total, *parts, gain])


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
