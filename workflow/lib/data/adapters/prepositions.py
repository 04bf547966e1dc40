"""Adapter `prepositions`: STREUSLE's JSON, where adpositions and possessives have a role (`ss`) and a function (`ss2`).

A target is a strong expression of one token (`swes`) whose `ss` begins with "p.", of any lexical category:
prepositions, possessives and infinitive markers. Expressions of several tokens (`smwes`) and sentences without any
target are left out, as in the embedded corpus.
"""

import json
from pathlib import Path

import pyarrow as pa

from workflow.lib.base.errors import UserError, brief
from workflow.lib.data.adapters.reading import fault, named_record, numbered_lines
from workflow.lib.data.dataset_files import SCHEMAS
from workflow.lib.data.strict_json import parsed

PREFIX, LAYOUT = "p.", "STREUSLE's JSON"


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """One row per sentence; the option `label` selects one of the two supersenses."""
    found = []
    for file in files:
        for number, sentence in enumerate(_sentences(file), 1):
            with named_record(file, f"sentence {number}", LAYOUT):
                key = _text_or_null(sentence["sent_id"])
                if not key:
                    raise ValueError("it has no sent_id")
            with named_record(file, f"sentence {number} ({key})", LAYOUT):
                words = _words(sentence)
                targets = _targets(sentence, len(words), entry["options"]["label"])
            if targets:
                found.append({"id": f"{split}-{key}", "words": words, "targets": targets})
    return pa.Table.from_pylist(found, schema=SCHEMAS["spans"])


def _sentences(file: Path) -> list[dict]:
    try:
        read = parsed("\n".join(line for _, line in numbered_lines(file)))
    except json.JSONDecodeError as error:
        raise fault(file, error.lineno, f"no JSON: {error.msg}") from error
    except ValueError as error:
        raise UserError(f"{file}: {brief(error)}") from error
    if not isinstance(read, list):
        raise UserError(f"{file} holds no list of sentences")
    return read


def _words(sentence: dict) -> list[str]:
    tokens = sentence["toks"]
    if [token["#"] for token in tokens] != list(range(1, len(tokens) + 1)):
        raise ValueError("its tokens are not numbered 1, 2, 3 ...")
    words = [token["word"] for token in tokens]
    if not all(isinstance(word, str) and word for word in words):
        raise ValueError("one of its tokens has no word")
    return words


def _text_or_null(value: object) -> str | None:
    if not isinstance(value, str | None):
        raise TypeError(f"{value!r} is no text")
    return value


def _targets(sentence: dict, n_words: int, field: str) -> list[dict]:
    """Targets of a sentence in word order, labelled by `field`."""
    found = {}
    for name, expression in sentence["swes"].items():
        numbers, role, label = expression["toknums"], *(_text_or_null(expression[key]) for key in ("ss", field))
        if not isinstance(numbers, list):
            raise TypeError(f"toknums are {numbers!r}")
        if len(numbers) != 1 or not (role or "").startswith(PREFIX):
            continue
        if not (label or "").startswith(PREFIX):
            raise ValueError(f"expression {name} has ss '{role}' but {field} '{label}'")
        if type(numbers[0]) is not int or not 1 <= numbers[0] <= n_words:
            raise ValueError(f"expression {name} is token {numbers[0]} of {n_words}")
        start = numbers[0] - 1
        if start in found:
            raise ValueError(f"two expressions are of the single token {numbers[0]}")
        found[start] = {"start1": start, "end1": start + 1, "start2": None, "end2": None, "labels": [label]}
    return [found[start] for start in sorted(found)]
