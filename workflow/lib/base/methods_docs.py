"""docs/methods.md, from rule files' docstrings and the papers' artifacts.yaml: `make docs`. A test keeps it in step."""

from workflow.lib.base.digests import ROOT
from workflow.papers import Artifact, Paper, all_papers

PAGE, RULES = ROOT / "docs/methods.md", ROOT / "workflow/rules"
HOW = """\
# Methods

Made by `make docs`: of every method what it asks, what it reads and writes, and how, from its rule file in
`workflow/rules`; of every paper which figures it makes by which method, from the paper's folder. What a paper leaves
open, what was chosen and how its claims are judged stands in its README.

## The methods

Each is a folder in `workflow/lib/methods`, a rule file and a script; its settings are the section of its name in
[config/README.md](../config/README.md).
"""


def docstring(method: str) -> str | None:
    """How a rule file begins; None for a method that shares another's."""
    path = RULES / f"{method}.smk"
    return path.read_text().split('"""')[1] if path.is_file() else None


def of_method(method: str, text: str) -> str:
    asks, _, flow = text.partition("\n\n")
    asks = " ".join(asks.split())
    where = f"[rule](../workflow/rules/{method}.smk) · [code](../workflow/lib/methods/{method})"
    return f"### {method}\n\n{asks} {where}\n\n```\n{flow.strip()}\n```\n"


def of_paper(paper: Paper) -> str:
    by_method: dict[str, list[str]] = {}
    for entry in paper.about["artifacts"]:
        artifact = Artifact(paper.key, **entry)
        by_method.setdefault(artifact.method, []).append(artifact.title)
    title = f"## {paper.key}: {paper.about['title']}\n\n[README](../workflow/papers/{paper.key}/README.md)\n"
    rows = [f"| {', '.join(titles)} | {paper.about['methods'][method]} |" for method, titles in by_method.items()]
    return "\n".join([title, "| figures and tables | method |", "| --- | --- |", *rows, ""])


def generated() -> str:
    methods = sorted(path.name for path in (ROOT / "workflow/lib/methods").iterdir() if path.is_dir())
    texts = {method: text for method in methods if (text := docstring(method))}
    parts = [of_method(method, text) for method, text in texts.items()]
    return "\n".join([HOW, *parts, *map(of_paper, all_papers().values())])


if __name__ == "__main__":
    PAGE.write_text(generated())
