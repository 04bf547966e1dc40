"""A page as one HTML file: template, style and script are read from `template`, everything shown is escaped."""

import os
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

FOLDER = Path(__file__).with_name("template")
# inputs of the rule, because what it shows changes with them; as seen from where Snakemake runs (papers/__init__.py)
TEMPLATE = sorted(map(os.path.relpath, FOLDER.iterdir()))
MARKS = {"holds": "✓", "does not hold": "✗", "cannot tell": "?"}


def _included(name: str) -> Markup:
    return Markup((FOLDER / name).read_text())


def environment() -> Environment:
    lean = {"trim_blocks": True, "lstrip_blocks": True}
    made = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, **lean)
    made.globals |= {"included": _included, "marks": MARKS}
    return made


def rendered(template: str, **content) -> str:
    return environment().get_template(template).render(**content)
