"""The tables of config/README.md, made from the schemas: `make docs`. A test keeps them in step."""

import json
from collections.abc import Iterator
from pathlib import Path

from workflow.lib.base.config import config_schema
from workflow.lib.base.digests import ROOT
from workflow.lib.base.stated import stated
from workflow.papers import Paper, all_papers

README = ROOT / "config/README.md"
BEGIN, END = "<!-- made by `make docs` from here -->\n", "<!-- to here -->\n"
ENTRIES = {"datasets": ["dataset", "known_dataset", "file_dataset"], "tasks": ["task"], "tuned": ["tuned_model"],
           "encoders": ["encoder", "pretrain_encoder", "random_encoder", "hub_encoder", "folder_encoder"]}  # fmt: skip
NAMES = {
    "name": "name",
    "file_name": "file name",
    "instance": "`<name>.<seed>`",
    "dataset_split": "`<dataset>/<split>`",
    "repository": "text",
    "commit": "40 hexadecimal digits",
    "folder": "folder",
    "path": "path",
    "folder_or_null": "folder or null",
    "seed": "whole number >= 0",
}
WORDS = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true, false", "null": "null",
         "object": "mapping"}  # fmt: skip
LIMITS = {"minimum": ">= {:g}", "exclusiveMinimum": "> {:g}", "maximum": "<= {:g}", "exclusiveMaximum": "< {:g}"}


def resolved(entry: dict, root: dict) -> dict:
    """The entry merged with the definition that its $ref names; its own keys take precedence."""
    if "$ref" not in entry:
        return entry
    return resolved(root["$defs"][entry["$ref"].removeprefix("#/$defs/")], root) | entry


def kind(entry: dict, root: dict) -> str:
    """The type of a value in words, with its limits."""
    definition = entry.get("$ref", "").removeprefix("#/$defs/")
    if definition in NAMES:
        return NAMES[definition]
    entry = resolved(entry, root)
    if "anyOf" in entry:
        return " or ".join(kind(part, root) for part in entry["anyOf"])
    if "enum" in entry:
        return ", ".join(f"`{value}`" if isinstance(value, str) else str(value) for value in entry["enum"])
    kinds = entry.get("type", "object")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds == ["array"]:
        return f"list of {kind(entry['items'], root)}"
    limits = [text.format(entry[key]) for key, text in LIMITS.items() if key in entry]
    words = " or ".join(WORDS[name] for name in kinds if name != "null")
    return " ".join([words, ", ".join(limits)]).strip() + (" or null" if "null" in kinds else "")


def default(name: str, entry: dict, required: list[str]) -> str:
    if "default" in entry:
        value = entry["default"]
        return f"`{value if isinstance(value, str) else json.dumps(value)}`"
    return "required" if name in required else "optional"


def table(parts: list[dict], root: dict) -> Iterator[str]:
    """A Markdown table with a row per key; `parts` of the schema together describe one section."""
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    seen = set()
    for part in parts:
        behind = resolved({"$ref": part["$ref"]}, root).get("properties", {}) if "$ref" in part else {}
        properties = {name: entry for name, entry in part.get("properties", {}).items() if isinstance(entry, dict)}
        for name in dict.fromkeys([*properties, *behind]):
            entry = behind.get(name, {}) | properties.get(name, {})
            if name in seen or "description" not in resolved(entry, root):
                continue
            seen.add(name)
            cells = (kind(entry, root), default(name, entry, part.get("required", [])), entry["description"])
            yield f"| `{name}` | {' | '.join(cells)} |"


def sections(papers: dict[str, Paper]) -> Iterator[str]:
    root = config_schema(papers)
    plain = {
        name: entry
        for name, entry in root["properties"].items()
        if "properties" not in resolved(entry, root) and "patternProperties" not in resolved(entry, root)
    }
    yield "## top level\n"
    yield from table([{"properties": plain, "required": root["required"]}], root)
    for name, entry in root["properties"].items():
        if name in plain:
            continue
        if name in ENTRIES:
            for definition in ENTRIES[name]:
                part = root["$defs"][definition]
                kind_of = "" if name == "tuned" else definition.rpartition("_")[0]
                source = kind_of.replace("known", "embedded` or `real")
                of_source = f" of source `{source}`" if source else ""
                yield f"\n## {name}.&lt;name&gt;{of_source}\n"
                # a task may set any key of `training`: these are listed only once, there
                yield from table([{key: value for key, value in part.items() if key != "$ref"}], root)
            continue
        part = resolved(entry, root)
        yield f"\n## {name}\n"
        if name in papers:
            yield f"{papers[name].about['title']} ({papers[name].about['authors']}).\n"
        if "description" in part:
            yield part["description"] + "\n"
        yield from table([part], root)


def what_papers_state(papers: dict[str, Paper]) -> Iterator[str]:
    """What config/paper.yaml rests on."""
    yield "\n## The paper preset, and what the papers state\n"
    yield "`config/paper.yaml` has these values, as a test sees to. Silent: the paper does not say."
    for key, paper in papers.items():
        entries = stated(paper)
        if not entries:
            continue
        yield f"\n### {key}\n"
        yield "| setting | value | stated in, or our reason |"
        yield "|---|---|---|"
        for entry in entries:
            of = f" ({entry['of']})" if "of" in entry else ""
            reason = entry.get("stated") or f"silent: {entry['silent']}"
            yield f"| `{entry['setting']}`{of} | `{json.dumps(entry['value'])}` | {reason} |"


def generated(text: str, papers: dict[str, Paper]) -> str:
    """The README with its generated part replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + "\n".join([*sections(papers), *what_papers_state(papers)]) + "\n\n" + END + after


if __name__ == "__main__":
    Path(README).write_text(generated(README.read_text(), all_papers()))
