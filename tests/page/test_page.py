"""What stands on a page, and that nothing shown becomes part of it."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from tests.page.made import CLAIMS, HOSTILE, PAPER, SCORES, made_page, make_results
from workflow.lib.base.errors import UserError
from workflow.lib.page.about import files_of_runs, tuning_seeds
from workflow.lib.page.comparison import claims_of_runs, compared_papers, said_of_all, verdicts_by_run
from workflow.lib.page.content import VERDICTS, drawn_table, markdown_table, section
from workflow.lib.page.overlay import by_depth, is_of_curves, overlaid
from workflow.lib.page.pictures import HEAVY, inline_svg, picture
from workflow.lib.page.render import rendered
from workflow.lib.plotting.drawn import numbers_of
from workflow.lib.plotting.figures import (
    PALETTE,
    curve,
    guess_level,
    level,
    new_figure,
    numbers_of_tasks,
    plt,
    save_figure,
)
from workflow.papers import Artifact, Paper, all_papers


class Parts(HTMLParser):
    """Tags, ids and addresses of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.ids, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found[name] for name in ("href", "src", "xlink:href") if name in found]


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    return made_page(tmp_path_factory.mktemp("results"))


def test_hostile_text_stays_text(page):
    parts = Parts(page)
    assert parts.tags.count("script") == 1  # the page's own
    assert "<script>document.title" not in page and "&lt;script&gt;document.title" in page


def test_ids_are_unique_and_links_lead_somewhere(page):
    parts = Parts(page)
    assert len(parts.ids) == len(set(parts.ids))
    inner = [link.removeprefix("#") for link in parts.links if link.startswith("#")]
    assert inner and set(inner) <= set(parts.ids)
    # nothing is fetched: what is not inside is an address to click on
    outer = [link for link in parts.links if not link.startswith(("#", "data:"))]
    assert outer == ["https://example.org/paper"]


def test_numbers_outside_tolerance_come_first_and_unmeasured_ones_are_apart(tmp_path):
    shown = section(PAPER, make_results(tmp_path), SCORES, CLAIMS).artifacts
    table = shown[1]
    assert table.n_outside == 1 and [row[0] for row in table.published.rows] == ["qnli", "mnli"]
    assert table.missing.rows == [[HOSTILE, "accuracy", "0.9", "needs x"]]
    assert [row[0] for row in shown[0].published.rows] == ["mnli"]  # fig1_rsa belongs to fig1


def test_without_comparable_data_no_published_number_is_shown(tmp_path):
    shown = section(PAPER, make_results(tmp_path), SCORES.iloc[:0], CLAIMS).artifacts
    assert all(artifact.published is None and artifact.missing is None for artifact in shown)


def test_every_published_number_belongs_to_an_artifact():
    for key, paper in all_papers().items():
        if paper.published:
            artifacts = [Artifact(key, **entry) for entry in paper.about["artifacts"]]
            for name in pd.read_csv(paper.published)["artifact"].unique():
                owners = [artifact.id for artifact in artifacts if artifact.has_published(name)]
                assert len(owners) == 1, (key, name, owners)


def test_every_artifact_has_a_method_and_a_title():
    for key, paper in all_papers().items():
        artifacts = [Artifact(key, **entry) for entry in paper.about["artifacts"]]
        assert {artifact.method for artifact in artifacts} == set(paper.about["methods"])
        titles = [artifact.title for artifact in artifacts]
        assert len(set(titles)) == len(titles) and not any("_" in title for title in titles), titles
        assert len(paper.summary) > 80


def test_a_figure_s_numbers_are_those_drawn():
    figure, (left, right) = new_figure(ncols=2)
    curve(left, [0, 1], [0.5, 0.7], [0.1, 0.0], "a (12 rows)", 0, series="a")
    curve(right, [0, 1], [0.2, 0.4], [0, 0], "b", 1)
    left.set(title="left", xlabel="layer", ylabel="score")
    right.set(title="right\nside")
    numbers = numbers_of(figure)
    plt.close(figure)
    rows = [("left", "a", 0, 0.5), ("left", "a", 1, 0.7), ("right side", "b", 0, 0.2), ("right side", "b", 1, 0.4)]
    assert list(numbers[["panel", "series", "x", "y"]].itertuples(index=False, name=None)) == rows
    assert numbers["sd"].tolist()[:2] == [0.1, 0.0] and numbers["sd"].isna().tolist()[2:] == [True, True]
    assert set(numbers["x_axis"]) == {"layer"} and set(numbers["y_axis"]) == {"score"}
    assert drawn_table(numbers).header == ["panel", "series", "layer", "score", "± sd"]


def test_the_same_figure_gives_the_same_bytes_in_every_format(tmp_path):
    for attempt in ("one", "two"):
        figure, axes = new_figure()
        curve(axes, [0, 1], [0.5, 0.7], [0.1, 0.2], "a", 0)
        save_figure(figure, [tmp_path / f"{attempt}.{ending}" for ending in ("pdf", "tiff", "png", "svg", "csv")])
    for ending in ("pdf", "tiff", "png", "svg", "csv"):
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes(), ending


def test_a_task_keeps_its_colour_whatever_stands_beside_it():
    assert numbers_of_tasks(["imdb", "ag_news", "dbpedia"]) == {"imdb": 0, "ag_news": 1, "dbpedia": 2}
    assert numbers_of_tasks(["dbpedia"]) == {"dbpedia": 2}
    mixed = numbers_of_tasks(["mine", "imdb", "sst2"])  # sst2's own is taken
    assert mixed["imdb"] == 0 and len(set(mixed.values())) == 3


def test_pictures_of_one_page_do_not_share_ids(tmp_path):
    path = make_results(tmp_path) / "figures/fifth2027/fig1.svg"
    one, two = (inline_svg(path.read_text(), prefix, "what it shows") for prefix in ("one", "two"))
    assert not set(Parts(one).ids) & set(Parts(two).ids)
    assert 'aria-label="what it shows"' in one and "url(#one-" in one and "<?xml" not in one


def test_a_heavy_picture_is_a_png(tmp_path):
    folder = make_results(tmp_path) / "figures/fifth2027"
    heavy = folder / "heavy.svg"
    heavy.write_text((folder / "fig1.svg").read_text() + " " * HEAVY)
    assert picture(heavy, folder / "fig1.png", "x", HOSTILE).startswith('<img class="picture" src="data:image/png')


def test_a_markdown_table_is_read_as_it_was_written():
    table = markdown_table("| a | b |\n| --- | --- |\n| x y | 1.0 ± 0.1 |\n")
    assert table.header == ["a", "b"] and table.rows == [["x y", "1.0 ± 0.1"]]


def numbers_of_run(layers: int) -> pd.DataFrame:
    x = range(layers + 1)
    named = {"panel": f"(a) CoLA: {layers}", "series": "base", "x_axis": "layer", "y_axis": "score", "sd": None}
    return pd.DataFrame([named | {"x": at, "y": at / layers} for at in x])


def test_layers_count_as_a_share_of_depth():
    assert by_depth(numbers_of_run(4))["x"].tolist() == [0, 0.25, 0.5, 0.75, 1]
    other = numbers_of_run(4).assign(x_axis="components")
    assert by_depth(other)["x"].tolist() == [0, 1, 2, 3, 4]


def test_curves_of_two_depths_lie_over_each_other():
    figure = overlaid({"shallow": numbers_of_run(4), "deep": numbers_of_run(12)})
    (axes,) = figure.axes
    shallow, deep = (line.get_xydata() for line in axes.lines[:2])
    assert shallow[-1].tolist() == deep[-1].tolist() == [1, 1] and shallow[2].tolist() == deep[6].tolist()
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["base", "run shallow", "run deep"] and axes.get_title() == "(a) CoLA"
    plt.close(figure)


def test_panels_that_differ_only_behind_a_colon_stay_apart():
    both = [numbers_of_run(4).assign(panel=f"distance: {what}") for what in ("uuas", "spearman")]
    figure = overlaid({"one": pd.concat(both), "two": pd.concat(both)})
    assert [axes.get_title() for axes in figure.axes] == ["distance: uuas", "distance: spearman"]
    plt.close(figure)


NONE = float("nan")


def with_bands(color: int) -> pd.DataFrame:
    """Two series, of which a run may lack the first, with bands; a level and an upright."""
    both = [numbers_of_run(4).assign(series=name, color=at) for at, name in enumerate(("lost", "base"), start=color)]
    first = both[0].iloc[:1]
    level = first.assign(series="base, a guess", x=NONE, y=0.5, color=color + 1)
    upright = first.assign(series="chance", x=0.2, y=NONE, color=NONE)
    return pd.concat([*(of.assign(sd=0.1) for of in both), level, upright], ignore_index=True)


def test_overlays_have_the_figures_colours_bands_and_levels():
    whole = with_bands(2)
    figure = overlaid({"one": whole, "two": whole[whole["series"] != "lost"]})
    (axes,) = figure.axes
    curves = [line for line in axes.lines if len(line.get_xdata()) == 5]
    assert [line.get_color() for line in curves] == [PALETTE[2], PALETTE[3], PALETTE[3]]
    assert [line.get_linestyle() for line in curves] == ["-", "-", "--"] and len(axes.collections) == 3
    across = [line for line in axes.lines if list(line.get_ydata()) == [0.5, 0.5]]
    assert [line.get_color() for line in across] == [PALETTE[3]] * 2
    assert [line.get_color() for line in axes.lines if list(line.get_xdata()) == [0.2, 0.2]] == ["grey"] * 2
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["lost", "base", "run one", "run two", "a guess, chance"]
    plt.close(figure)


def test_a_level_is_no_obstacle_to_an_overlay_and_no_curve():
    numbers = with_bands(0)
    assert is_of_curves(numbers) and not is_of_curves(numbers[numbers["series"].isin(["chance", "base, a guess"])])


def test_the_colour_of_a_series_is_written_down():
    figure, axes = new_figure()
    curve(axes, [0, 1], [0.5, 0.7], [0, 0], "a", 4)
    guess_level(axes, 0.2, 4, "a")
    level(axes, 0.1, "chance")
    numbers = numbers_of(figure)
    plt.close(figure)
    assert numbers["color"].tolist()[:3] == [4, 4, 4] and numbers["color"].isna().tolist()[3:] == [True]


def test_a_caption_says_of_all_runs_what_needs_no_run():
    text = "Scores by layer (at {n} steps; {few}). The band is {runs}; dotted: a guess.{crosses}"
    assert said_of_all(text) == "Scores by layer. Dotted: a guess."
    for key, paper in all_papers().items():
        for entry in paper.about["artifacts"]:
            said = said_of_all(entry["caption"])
            assert len(said) > 20 and said.endswith(".") and "{" not in said and ".." not in said, (key, said)


def test_a_comparison_has_captions_methods_and_links_between_claims_and_figures(tmp_path):
    runs = {name: make_results(tmp_path / name) for name in ("one", "two")}
    folder = tmp_path / "papers"
    (folder / "fifth2027").mkdir(parents=True)
    about = {"title": "Fifth", "methods": {"rsa": "How it is done."}}
    entries = [{key: value for key, value in entry.items() if key != "paper"} for entry in PAPER["artifacts"]]
    (folder / "fifth2027/artifacts.yaml").write_text(json.dumps(about | {"artifacts": entries}))
    papers = compared_papers({"fifth2027": Paper("fifth2027", folder)}, runs)
    counts = verdicts_by_run(papers, list(runs))
    text = rendered("compare.html", runs=list(runs), papers=papers, counts=counts, verdicts=VERDICTS)
    parts = Parts(text)
    inner = [link.removeprefix("#") for link in parts.links if link.startswith("#")]
    assert {"fifth2027-fig1", "fifth2027-claim_0"} <= set(inner) <= set(parts.ids)
    assert "Similarity by layer." in text and text.count("How it is done.") == 2


def test_the_page_names_models_at_chance_and_fine_tuning_seeds(page):
    assert "At chance: mnli of base.0 (seed 0) &lt;script&gt;" in page
    assert "; fine-tuning seeds 0, 1. Data" in page
    assert tuning_seeds(["base.0/mnli.full.f1.s1", "base.0/pretrained/imdb", "base.0/cola.full.f0.5.s0/x"]) == (
        "fine-tuning seeds 0, 1"
    )
    assert tuning_seeds(["base.0/pretrained/imdb"]) == ""


def test_what_is_no_curve_is_not_laid_over_another():
    assert is_of_curves(numbers_of_run(4))
    assert not is_of_curves(numbers_of_run(4).assign(x=[3, 1, 2, 0, 4]))
    assert not is_of_curves(numbers_of_run(4).head(1))


def test_claims_of_runs_stand_side_by_side(tmp_path):
    runs = {name: make_results(tmp_path / name) for name in ("one", "two")}
    changed = CLAIMS.assign(verdict="holds").head(4)
    changed.to_parquet(runs["two"] / "scorecard/fifth2027.claims.parquet")
    claims = claims_of_runs("fifth2027", runs)
    assert len(claims) == 5 and list(claims[4]["runs"]) == ["one"]
    counts = verdicts_by_run([{"claims": claims}], list(runs))
    assert counts["one"]["holds"] == 2 and counts["two"] == {"holds": 4}


def test_runs_that_cannot_be_compared_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="name the runs that you want to compare"):
        files_of_runs(["demo"])
    make_results(Path("results/demo"))
    with pytest.raises(UserError, match="nothing to compare in results/mine; runs that have: demo"):
        files_of_runs(["demo", "mine"])
    make_results(Path("results/mine"))
    assert len(files_of_runs(["demo", "mine"])) == 6  # of each: claims, a figure's numbers, a table
