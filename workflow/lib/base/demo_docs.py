"""docs/demo.md and the README's gallery from a finished demo run: `make demo-docs`.

What stands between the markers is made from the run's scorecard; the text around them is written by hand.
"""

import shutil
from pathlib import Path

import pandas as pd

from workflow.lib.base.digests import ROOT
from workflow.lib.base.verdicts import UNCLEAR
from workflow.papers import all_papers

RUN, PAGE, GALLERY = ROOT / "results/demo", ROOT / "docs/demo.md", ROOT / "docs/gallery"
BEGIN, END = "<!-- made by `make demo-docs` from results/demo, from here -->\n", "<!-- to here -->\n"


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


def copy_gallery(run: Path) -> None:
    """Pictures that the README shows, by the names they have there: <paper>_<id>.png."""
    for picture in GALLERY.glob("*.png"):
        paper, _, id = picture.stem.partition("_")
        shutil.copy(run / "figures" / paper / f"{id}.png", picture)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(), RUN))
    copy_gallery(RUN)
