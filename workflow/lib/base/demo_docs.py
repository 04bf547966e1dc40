"""docs/demo.md, docs/figures.md and the gallery from a finished demo run: `make demo-docs`.

What stands between the markers is made from the run's scorecard; the text around them is written by hand.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

from workflow.lib.base.digests import ROOT
from workflow.lib.base.verdicts import UNCLEAR
from workflow.papers import Artifact, all_papers

RUN, PAGE, GALLERY = ROOT / "results/demo", ROOT / "docs/demo.md", ROOT / "docs/gallery"
FIGURES = ROOT / "docs/figures.md"
BEGIN, END = "<!-- made by `make demo-docs` from results/demo, from here -->\n", "<!-- to here -->\n"


FIGURES_HOW = """\
# Figures and tables: targets, scripts, times

Made by `make demo-docs` from the demo. `snakemake --cores all <target>` makes one figure or table, and all that it
needs; `snakemake --cores all <paper>` those of a paper. Rule `draw` draws figures, `tabulate` writes tables. Seconds
are of that job alone, once its analyses are there: which methods those are stands in the papers' READMEs.
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


def figures_page(run: Path) -> str:
    """Which target draws which figure, by which script, and how long that took once its analyses were there."""
    lines = [FIGURES_HOW]
    for key, paper in all_papers().items():
        rows = []
        for entry in paper.about["artifacts"]:
            artifact = Artifact(key, **entry)
            folder = f"{artifact.kind}s/{key}/{artifact.id}"
            benchmark = run / f"benchmarks/{folder}.tsv"
            if not benchmark.is_file():
                continue
            seconds = pd.read_csv(benchmark, sep="\t")["s"].iloc[0]
            ending = {"figure": "png", "table": "md"}[artifact.kind]
            script = f"[{artifact.script}](../workflow/papers/{key}/{artifact.script})"
            target = f"`results/{run.name}/{folder}.{ending}`"
            rows.append(f"| {artifact.title} | {target} | {script} | {seconds:.0f} |")
        if rows:
            head = ["| | target | script | seconds |", "| --- | --- | --- | --- |"]
            lines += [f"## {key}: {paper.about['title']}\n", *head, *rows, ""]
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
    FIGURES.write_text(figures_page(RUN))
    copy_gallery(RUN)
    screenshot(RUN)
