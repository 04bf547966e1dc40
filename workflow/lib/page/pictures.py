"""Figures as parts of a page: SVG inside it, PNG where an SVG would be heavy; files as links that hold them."""

import base64
import re
from pathlib import Path

from markupsafe import Markup

HEAVY = 400_000  # bytes of an SVG


def data_uri(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def inline_svg(text: str, prefix: str, description: str) -> Markup:
    """Without head and fixed size; ids made its own, because many pictures share a page; hidden from those who hear it
    but for its description (the numbers stand in a table)."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)
    head, _, rest = text.partition(">")
    width = float(re.search(r'width="([\d.]+)pt"', head)[1])
    box = re.search(r'viewBox="([^"]+)"', head)[1]
    label = Markup.escape(description)
    head = f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box}" role="img" aria-label="{label}"'
    return Markup(f'{head} style="width: {width / 72:.2f}in" class="picture">{rest}')


def picture(svg: Path, png: Path, prefix: str, description: str) -> Markup:
    if svg.stat().st_size <= HEAVY:
        return inline_svg(svg.read_text(), prefix, description)
    label = Markup.escape(description)
    return Markup(f'<img class="picture" src="{data_uri(png, "image/png")}" alt="{label}">')
