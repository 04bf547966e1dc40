"""Pages, tables and pictures show texts as they are: none becomes part of what shows it."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from tests.page.made import CLAIMS, HOSTILE, PAPER, SCORES, make_results
from tests.page.test_page import Parts
from tests.security.hostile import HOSTILE as VALUES
from workflow.lib.base.markdown import markdown_cells, markdown_row
from workflow.lib.base.tables import write_text_tables
from workflow.lib.base.texts import faults_in
from workflow.lib.page.comparison import Compared, artifact_of_runs, claims_of_runs, verdicts_by_run
from workflow.lib.page.content import VERDICTS, markdown_table
from workflow.lib.page.pictures import inline_svg
from workflow.lib.page.render import rendered
from workflow.lib.plotting.figures import curve, new_figure, save_figure
from workflow.papers import Artifact
from workflow.scripts.scorecard import as_markdown

SHOWN = [HOSTILE, *(value for value in VALUES if value.strip() and len(value) < 300 and not list(faults_in(value)))]
IMAGE, DOLLARS = "![x](https://example.org/x.png)", "$\\frac$ and $5"


def frame() -> pd.DataFrame:
    return pd.DataFrame({"label": SHOWN, "<b>accuracy|": [n / 7 for n in range(len(SHOWN))]})


def test_a_markdown_table_has_a_row_per_row_and_no_html(tmp_path):
    write_text_tables(frame(), tmp_path / "x.csv", tmp_path / "x.md")
    text = (tmp_path / "x.md").read_text()
    assert len(text.splitlines()) == len(SHOWN) + 2 and "<" not in text
    assert all(line.count("|") == 3 for line in text.splitlines())
    table = markdown_table(text)  # and the page has back what was written
    assert table.header == ["label", "<b>accuracy|"]
    assert [row[0] for row in table.rows] == [" ".join(value.split()) for value in SHOWN]


@pytest.mark.parametrize("cells", [["", "a"], ["a", ""], ["", ""], [" a ", "|"], ["\\|", "&#124;"], ["](x)", IMAGE]])
def test_cells_of_markdown_are_read_back(cells):
    line = markdown_row(cells)
    assert markdown_cells(line) == [cell.strip() for cell in cells] and "](" not in line


def test_the_scorecard_has_no_html_of_notes_names_or_evidence():
    claims, notes = CLAIMS.assign(evidence=f"{HOSTILE}|\n{IMAGE}"), [*SHOWN, f"a\n\n# b {IMAGE}"]
    text = as_markdown("toy", SCORES, claims, notes, ["fifth2027"], {"fifth2027": [HOSTILE]})
    assert set(re.findall(r"<\w+", text)) == {"<details", "<summary"} and "](" not in text  # what folds is our own
    assert len([line for line in text.splitlines() if line.startswith("#")]) == 2  # the run and its paper
    assert len({line.count("|") for line in text.splitlines() if "fifth2027 | claim" in line}) <= 1


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    made = {name: make_results(folder / name) for name in ("one", "two")}
    for run in made.values():
        write_text_tables(frame(), run / "tables/fifth2027/table1.csv", run / "tables/fifth2027/table1.md")
    return made


def test_a_page_of_two_runs_shows_hostile_text_as_text(runs):
    artifacts = [Artifact(**entry) for entry in PAPER["artifacts"]]
    shown: list[Compared] = [found for artifact in artifacts if (found := artifact_of_runs(artifact, runs))]
    papers = [{"key": "fifth2027", "title": PAPER["title"], "artifacts": shown, "shown": [],
               "claims": claims_of_runs("fifth2027", runs)}]  # fmt: skip
    counts = verdicts_by_run(papers, list(runs))
    text = rendered("compare.html", runs=list(runs), papers=papers, counts=counts, verdicts=VERDICTS)
    parts = Parts(text)
    assert len(shown) == 2 and parts.tags.count("script") == 1 and "img" not in parts.tags
    assert text.count("&lt;script&gt;document.title") >= 5
    assert not [link for link in parts.links if not link.startswith(("#", "data:"))]


@pytest.mark.parametrize("label", [HOSTILE, DOLLARS, "]]>-->", '" onload="x', "<svg onload=x>", 'id="a" href="#b"'])
def test_text_of_a_figure_stays_text(tmp_path, label):
    figure, axes = new_figure()
    curve(axes, [1, 10], [0.5, 0.7], [0, 0], label, 0)
    axes.set(title=label, xlabel=label, ylabel=label, xscale="log")
    axes.legend(title=label)
    save_figure(figure, [tmp_path / "x.svg", tmp_path / "x.csv", tmp_path / "x.pdf"])
    tree = ElementTree.parse(tmp_path / "x.svg")
    texts = ["".join(text.itertext()).strip() for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count(label) == 5  # title, axes, legend and its title
    assert not any("mathdefault" in text for text in texts)  # the marks of a logarithmic axis are still formulas
    parts = Parts(str(inline_svg((tmp_path / "x.svg").read_text(), "x", label)))
    assert not {"script", "img"} & set(parts.tags) and parts.tags.count("svg") == 1


def test_a_font_cannot_leave_its_attribute(tmp_path):
    figure, axes = new_figure()
    axes.set_title("title", family=['x"><script>1</script>', "serif"])
    save_figure(figure, [tmp_path / "x.svg"])
    assert "script" not in Parts((tmp_path / "x.svg").read_text()).tags
