"""What a page that compares runs shows: every figure and table that two of them have, and the verdicts of all."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from workflow.lib.base.tables import read_table
from workflow.lib.page.content import Table, markdown_table
from workflow.lib.page.overlay import is_of_curves, overlaid
from workflow.lib.page.pictures import inline_svg, picture
from workflow.lib.plotting.figures import FILES, names_as_they_are, plt
from workflow.papers import Artifact, Paper


@dataclass
class Compared:
    """A figure or table of several runs. `overlay`: their curves in one picture."""

    artifact: Artifact
    overlay: Markup | None
    pictures: dict[str, Markup]
    tables: dict[str, Table]
    caption: str = ""  # what it says of every run
    method: str = ""
    claims: list[dict] = field(default_factory=list)  # read from it

    @property
    def anchor(self) -> str:
        return f"{self.artifact.paper}-{self.artifact.id}"


def said_of_all(caption: str) -> str:
    """A caption without what it leaves open for a run to fill in: {braces}, and the clause or bracket around them."""
    caption = re.sub(r" \([^()]*\{[^()]*\)", "", caption)
    caption = re.sub(r"(?<=\.)\{\w+\}", "", caption)  # a sentence of its own
    sentences = ([part for part in one.rstrip(".").split("; ") if "{" not in part]
                 for one in re.split(r"(?<=\.) ", caption))  # fmt: skip
    return " ".join(f"{said[0].upper()}{said[1:]}." for parts in sentences if (said := "; ".join(parts)))


def artifact_of_runs(artifact: Artifact, runs: dict[str, Path]) -> Compared | None:
    """None if fewer than two runs have it."""
    ending = {"figure": "svg", "table": "md"}[artifact.kind]
    name = f"{artifact.kind}s/{artifact.paper}/{artifact.id}.{ending}"
    at = {run: folder / name for run, folder in runs.items()}
    files = {run: path for run, path in at.items() if path.is_file()}
    if len(files) < 2:
        return None
    if artifact.kind == "table":
        return Compared(artifact, None, {}, {run: markdown_table(path.read_text()) for run, path in files.items()})
    numbers = {run: pd.read_csv(path.with_suffix(".csv")) for run, path in files.items()}
    name = f"{artifact.title} of {artifact.paper}"
    if all(map(is_of_curves, numbers.values())):
        return Compared(artifact, _as_svg(overlaid(numbers), artifact, f"{name}, runs {' and '.join(files)}"), {}, {})
    drawn = {
        run: picture(path, path.with_suffix(".png"), f"{artifact.paper}-{artifact.id}-{run}", f"{name}, run {run}")
        for run, path in files.items()
    }
    return Compared(artifact, None, drawn, {})


def _as_svg(figure, artifact: Artifact, description: str) -> Markup:
    text = StringIO()
    names_as_they_are(figure)
    figure.savefig(text, format="svg", **FILES["svg"])
    plt.close(figure)
    return inline_svg(text.getvalue(), f"{artifact.paper}-{artifact.id}-all", description)


def claims_of_runs(paper: str, runs: dict[str, Path]) -> list[dict]:
    """One entry per claim: statement, says, artifact, and by run its verdict and evidence."""
    entries: dict[str, dict] = {}
    for run, folder in runs.items():
        path = folder / "scorecard" / f"{paper}.claims.parquet"
        for claim in read_table(path).to_dict("records") if path.is_file() else ():
            entry = entries.setdefault(claim["name"], claim | {"runs": {}})
            entry["runs"][run] = claim
    return list(entries.values())


def compared_papers(papers: dict[str, Paper], runs: dict[str, Path]) -> list[dict]:
    found = []
    for key, paper in papers.items():
        entries = [Artifact(key, **entry) for entry in paper.about["artifacts"]]
        claims, methods = claims_of_runs(key, runs), paper.about.get("methods") or {}
        artifacts = [
            replace(
                shown,
                caption=said_of_all(artifact.caption),
                method=methods.get(artifact.method, ""),
                claims=[claim for claim in claims if claim["artifact"] == artifact.id],
            )
            for artifact in entries
            if (shown := artifact_of_runs(artifact, runs))
        ]
        if artifacts or claims:
            about = {"key": key, "title": paper.about["title"], "shown": [shown.artifact.id for shown in artifacts]}
            found.append(about | {"artifacts": artifacts, "claims": claims})
    return found


def verdicts_by_run(papers: list[dict], runs: list[str]) -> dict[str, Counter]:
    verdicts: dict[str, Counter] = {run: Counter() for run in runs}
    for claim in (claim for paper in papers for claim in paper["claims"]):
        for run, judged in claim["runs"].items():
            verdicts[run][judged["verdict"]] += 1
    return verdicts
