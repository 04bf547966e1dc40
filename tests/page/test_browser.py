"""Pages in a real browser: sorting, filtering, links, accessibility. Needs Chromium, and axe-core from npm.

A script of ours is added to the page, tries it and writes what it found into it; Chromium prints the page at the end.
`npm install --prefix .axe axe-core` brings axe-core, Debian's package `chromium` the browser (.ci/run has both).
"""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.page.made import CLAIMS, made_page, make_results
from workflow.lib.base.digests import ROOT
from workflow.lib.page.comparison import compared_papers, verdicts_by_run
from workflow.lib.page.content import VERDICTS
from workflow.lib.page.render import rendered
from workflow.papers import Paper

AXE = ROOT / ".axe/node_modules/axe-core/axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FOUND = re.compile(r'<pre id="report">(.*?)</pre>', re.DOTALL)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")


def tried(page: str, script: str, folder: Path, *options: str) -> dict:
    """What `script`, the body of an async function, returns on the page; what the console said is part of it."""
    wrapped = f"""<script>(async () => {{
        const seen = [];
        addEventListener("error", (event) => seen.push(String(event.message)));
        addEventListener("securitypolicyviolation", (event) => seen.push(event.blockedURI));
        let report;
        try {{ report = await (async () => {{ {script} }})(); }}
        catch (error) {{ report = {{ failed: String(error) }}; }}
        const element = document.createElement("pre");
        element.id = "report";
        const names = performance.getEntriesByType("resource").map((entry) => entry.name);
        const fetched = names.filter((name) => !name.startsWith("data:"));
        element.textContent = JSON.stringify({{ ...report, seen, fetched }});
        document.body.append(element);
    }})();</script>"""
    path = folder / "page.html"
    path.write_text(page.replace("</body>", f"{wrapped}</body>"))
    asked = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    asked += ["--virtual-time-budget=30000", "--enable-logging=stderr", "--dump-dom", *options, path.as_uri()]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=180)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    found = FOUND.search(done.stdout)
    assert found, done.stderr[-2000:]
    report = json.loads(unescape(found[1]))
    assert not said and not report.pop("seen") and not report.pop("fetched"), (said, report)
    return report


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    return made_page(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def comparison(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("runs")
    runs = {"shallow": make_results(folder / "shallow"), "deep": make_results(folder / "deep", layers=12)}
    (folder / "fifth2027").mkdir()
    entries = [{"id": "fig1", "kind": "figure"}, {"id": "table1", "kind": "table"}]
    lines = "".join(f"  - {json.dumps(entry | {'method': 'm', 'script': 's', 'caption': 'c'})}\n" for entry in entries)
    (folder / "fifth2027/artifacts.yaml").write_text(f"title: Fifth\nauthors: A\nartifacts:\n{lines}")
    papers = compared_papers({"fifth2027": Paper("fifth2027", folder)}, runs)
    counts = verdicts_by_run(papers, list(runs))
    return rendered("compare.html", runs=list(runs), papers=papers, counts=counts, verdicts=VERDICTS)


def test_columns_sort_both_ways_as_numbers(page, tmp_path):
    script = """
        const table = document.querySelector("#fifth2027-table1 table");
        const button = table.querySelectorAll("th button")[1];
        const column = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
        button.click();
        const up = column(), said = button.parentElement.getAttribute("aria-sort");
        button.click();
        return { up, said, down: column(), then: button.parentElement.getAttribute("aria-sort") };"""
    assert tried(page, script, tmp_path) == {
        "up": ["qnli", "mnli", "sst2"], "said": "ascending", "down": ["sst2", "mnli", "qnli"], "then": "descending"
    }  # fmt: skip


def test_filters_show_what_they_say(page, tmp_path):
    script = """
        const shown = () => [...document.querySelectorAll(".claims tbody tr")].filter((row) => !row.hidden).length;
        const change = () => form.dispatchEvent(new Event("input"));
        const all = shown();
        form.verdict.value = "holds"; change();
        const holds = shown(), said = found.textContent;
        form.verdict.value = ""; form.text.value = "statement 3"; change();
        const three = shown(), left = [...document.querySelectorAll("article")].filter((part) => !part.hidden).length;
        location.hash = "#fifth2027-claim_1";
        await new Promise((resolve) => setTimeout(resolve, 500));
        return { all, holds, said, three, left, after: shown(), text: form.text.value };"""
    found = tried(page, script, tmp_path)
    n_hold = int((CLAIMS["verdict"] == "holds").sum())
    assert found == {"all": 5, "holds": n_hold, "said": f"{n_hold} of 5 claims", "three": 1, "left": 1, "after": 5,
                     "text": ""}  # fmt: skip


def test_nothing_is_wider_than_a_phone(page, comparison, tmp_path):
    script = "return { wide: document.documentElement.scrollWidth, screen: innerWidth };"
    for number, text in enumerate((page, comparison)):
        (tmp_path / str(number)).mkdir()
        found = tried(text, script, tmp_path / str(number), "--window-size=400,900")
        assert found["wide"] <= found["screen"]


def axe_faults(text: str, folder: Path, *options: str) -> tuple[list, bool]:
    """What axe-core finds on a page with everything unfolded, and whether its theme is the dark one."""
    text = text.replace("</head>", f"<script>{AXE.read_text()}</script></head>")
    script = """
        document.querySelectorAll("details").forEach((part) => (part.open = true));
        const results = await axe.run();
        const faults = results.violations.map((fault) => [fault.id, fault.impact, fault.nodes[0].html.slice(0, 200)]);
        return { faults, dark: matchMedia("(prefers-color-scheme: dark)").matches };"""
    found = tried(text, script, folder, *options)
    return found["faults"], found["dark"]


with_axe = pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: npm install --prefix .axe axe-core")


@with_axe
@pytest.mark.parametrize("which", ["page", "comparison"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(which, theme, request, tmp_path):
    options = ["--blink-settings=preferredColorScheme=0"] if theme == "dark" else []
    assert axe_faults(request.getfixturevalue(which), tmp_path, *options) == ([], theme == "dark")


@with_axe
def test_axe_would_find_a_fault(page, tmp_path):
    faults, _ = axe_faults(page.replace("<main", '<img src="data:,"><main', 1), tmp_path)
    assert "image-alt" in [fault[0] for fault in faults]
