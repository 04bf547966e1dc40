"""Text in Markdown: shown as it is, whatever it holds; and tables of it, read back as they were written."""

import html
import re

# what would begin HTML, a column, or the address of a link or picture; others, such as `*`, do no harm
MARKS = re.compile(r"[&<|]|\](?=\()")


def markdown_text(value: object) -> str:
    """In one line."""
    return MARKS.sub(lambda mark: f"&#{ord(mark[0])};", " ".join(str(value).split()))


def markdown_row(cells: list) -> str:
    return f"| {' | '.join(map(markdown_text, cells))} |"


def markdown_cells(line: str) -> list[str]:
    """What `markdown_row` was given."""
    inside = re.fullmatch(r"\|\s?(.*?)\s?\|", line.strip())
    return [html.unescape(cell.strip()) for cell in (inside[1] if inside else line).split("|")]
