"""The tables of claims in the papers' READMEs, made from claims.yaml: `make docs`. A test keeps them in step."""

from pathlib import Path

from workflow.lib.base.claims import Claims
from workflow.papers import Paper, all_papers

BEGIN, END = "<!-- made by `make docs` from claims.yaml, from here -->\n", "<!-- to here -->\n"
HEADER = "| the paper says | claim | read from | judged by |\n| --- | --- | --- | --- |\n"


def table(claims: Claims) -> str:
    lines = []
    for name, entry in claims.entries.items():
        because = f" ({entry['because']})" if "because" in entry else ""
        slip = f" **Slip**: {entry['slip']}" if "slip" in entry else ""
        cells = (entry["says"], claims.statement(name) + slip, f"`{entry['artifact']}`", entry["judged"] + because)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n")
    return HEADER + "".join(lines)


def generated(text: str, claims: Claims) -> str:
    """A README with its generated part made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + table(claims) + "\n" + END + after


def readme_of(paper: Paper) -> Path:
    return paper.folder / paper.key / "README.md"


if __name__ == "__main__":
    for paper in all_papers().values():
        if paper.claims:
            path = readme_of(paper)
            path.write_text(generated(path.read_text(), Claims(paper.key)))
