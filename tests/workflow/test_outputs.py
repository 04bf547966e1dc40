"""What a finished run offers to look at: its page, and Snakemake's report."""

import zipfile

from workflow.papers import all_papers


def test_the_page_is_one_small_file(finished):
    page = finished.folder / "results/tiny/scorecard.html"
    assert 100_000 < page.stat().st_size < 8_000_000


def test_the_report_has_every_figure_and_table_under_its_paper(finished):
    finished.snakemake("--report", "report.zip")
    made = finished.folder / "results/tiny"
    drawn = [path.name for kind in ("figures/*/*.svg", "tables/*/*.csv") for path in made.glob(kind)]
    with zipfile.ZipFile(finished.folder / "report.zip") as report:
        index = "".join(report.read(name).decode() for name in report.namelist() if name.endswith("report.html"))
    assert len(drawn) > 40 and all(name in index for name in drawn)
    assert all(key in index for key, paper in all_papers().items() if paper.is_scored)
