"""What a page shows of every paper: pictures, numbers, published values, claims. Read from files of finished rules."""

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from workflow.lib.base.markdown import markdown_cells
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR
from workflow.lib.page.pictures import data_uri, picture
from workflow.papers import Artifact

VERDICTS = (HOLDS, FAILS, UNCLEAR)
OUTSIDE, WITHIN = "no", "yes"  # in the scorecard's column `within`


@dataclass
class Table:
    header: list[str]
    rows: list[list[str]]


@dataclass
class Shown:
    """A figure or table on the page."""

    artifact: Artifact
    name: str
    caption: str
    method: str
    picture: Markup | None
    table: Table | None  # a table as the paper has it
    numbers: Table | None  # the points of a figure
    file: str  # name of the CSV behind it, and its content as a link
    link: str
    published: Table | None
    n_outside: int
    missing: Table | None  # published numbers that this run has not measured
    claims: list[dict]

    @property
    def anchor(self) -> str:
        return f"{self.artifact.paper}-{self.artifact.id}"


@dataclass
class Section:
    """A paper on the page."""

    key: str
    title: str
    authors: str
    address: str | None
    summary: str
    artifacts: list[Shown]
    claims: list[dict]
    counts: dict[str, int] = field(default_factory=dict)
    at_chance: list[str] = field(default_factory=list)  # models that learnt nothing, in words


def short(value: object) -> str:
    """A cell: four digits of a number are enough to read; the file behind it has them all."""
    if value is None or value != value:
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if value.is_integer() else f"{value:.4g}"


def drawn_table(numbers: pd.DataFrame) -> Table:
    """The points of a figure, under the names of its axes where all panels share them."""
    names = {"x": "x", "y": "y"}
    for axis in names:
        labels = numbers[f"{axis}_axis"].dropna().unique()
        names[axis] = labels[0] if len(labels) == 1 and labels[0] else axis
    shown = numbers[["panel", "series", "x", "y", "sd"]]
    shown = shown.drop(columns=[name for name in ("panel", "sd") if shown[name].isna().all()])
    return as_table(shown.rename(columns=names | {"sd": "± sd"}))


def as_table(frame: pd.DataFrame) -> Table:
    rows = [[short(cell) for cell in row] for row in frame.itertuples(index=False)]
    return Table([str(name) for name in frame.columns], rows)


def markdown_table(text: str) -> Table:
    """As write_text_tables writes it."""
    header, _, *rows = map(markdown_cells, text.splitlines())
    return Table(header, rows)


def compared(numbers: pd.DataFrame) -> Table | None:
    """Published beside measured: outside tolerance first."""
    if numbers.empty:
        return None
    order = {OUTSIDE: 0, WITHIN: 1}
    numbers = numbers.sort_values("within", key=lambda within: within.map(order).fillna(2), kind="stable")
    columns = ["series", "x", "published", "measured", "sd", "difference", "tolerance", "within"]
    named = {"x": "what", "sd": "± sd", "within": "within tolerance"}
    of_many = numbers["artifact"].nunique() > 1
    return as_table(numbers[(["artifact"] if of_many else []) + columns].rename(columns=named))


def of_artifact(entry: dict, about: dict, results: Path, scores: pd.DataFrame, claims: list[dict]) -> Shown:
    """`entry`: an artifact, its caption filled in; `scores`: the paper's numbers beside ours, if they compare."""
    artifact = Artifact(**entry)
    folder = results / f"{artifact.kind}s" / artifact.paper
    csv = folder / f"{artifact.id}.csv"
    name, drawn, table, numbers = artifact.title, None, None, None
    if artifact.kind == "figure":
        files = (folder / f"{artifact.id}.{ending}" for ending in ("svg", "png"))
        drawn = picture(*files, f"{artifact.paper}-{artifact.id}", f"{name} of {artifact.paper}: {artifact.caption}")
        numbers = drawn_table(pd.read_csv(csv))
    else:
        table = markdown_table((folder / f"{artifact.id}.md").read_text())
    own = scores[scores["artifact"].map(artifact.has_published).astype(bool)]
    measured, missing = own[own["measured"].notna()], own[own["measured"].isna()]
    missing = missing[["series", "x", "published", "within"]].rename(columns={"x": "what", "within": "reason"})
    return Shown(
        artifact, name, artifact.caption, (about["methods"] or {}).get(artifact.method, ""), drawn, table, numbers,
        f"{artifact.paper}_{artifact.id}.csv", data_uri(csv, "text/csv"), compared(measured),
        int((measured["within"] == OUTSIDE).sum()), as_table(missing) if len(missing) else None,
        [claim for claim in claims if claim["artifact"] == artifact.id],
    )  # fmt: skip


def section(
    paper: dict, results: Path, scores: pd.DataFrame, claims: pd.DataFrame, at_chance: list[str] | None = None
) -> Section:
    """`paper`: as about.described has it."""
    judged = claims.to_dict("records")
    own = scores[scores["paper"] == paper["key"]]
    shown = [of_artifact(entry, paper, results, own, judged) for entry in paper["artifacts"]]
    counts = {verdict: sum(claim["verdict"] == verdict for claim in judged) for verdict in VERDICTS}
    return Section(
        paper["key"], paper["title"], paper["authors"], paper["address"], paper["summary"], shown, judged, counts,
        at_chance or [],
    )  # fmt: skip
