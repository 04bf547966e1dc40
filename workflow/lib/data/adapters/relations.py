"""Adapter `relations`: SemEval-2010 task 8, sentences in which <e1> and <e2> mark two related nominals.

The tags are removed, and words end at tags: "doves<e2>moles</e2>" is two words. Otherwise a word is a run of letters
and digits, joined by inner hyphens, apostrophes, points and commas; every other character is a word of its own.
"""

import re
from pathlib import Path

import pyarrow as pa

from workflow.lib.data.adapters.edges import target
from workflow.lib.data.adapters.reading import TEXT, WHOLE, fault, read_parquet
from workflow.lib.data.dataset_files import SCHEMAS

SENTENCE, RELATION = "sentence", "relation"
_MARK = re.compile(r"(</?e[12]>)")
_WORD = re.compile(r"\w+(?:[-'’.,]\w+)*|\S")


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """One target per sentence: e1, e2, and the relation with its direction. The id is the row's number in the files."""
    labels, found = entry["labels"], []
    for file in files:
        for batch in read_parquet(file, {SENTENCE: TEXT, RELATION: WHOLE}, {RELATION: labels}):
            for sentence, number in zip(batch[SENTENCE].to_pylist(), batch[RELATION].to_pylist()):
                where = f"row {len(found)}"
                if not isinstance(number, int) or not 0 <= number < len(labels):
                    raise fault(file, where, f"relation {number} is outside 0..{len(labels) - 1}")
                try:
                    words, spans = words_and_spans(sentence or "")
                except ValueError as error:
                    raise fault(file, where, str(error)) from error
                targets = [target(spans["e1"], [labels[number]], spans["e2"])]
                found.append({"id": f"{split}-{len(found)}", "words": words, "targets": targets})
    return pa.Table.from_pylist(found, schema=SCHEMAS["spans"])


def words_and_spans(marked: str) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Words without the tags, and the half-open word spans that the tags enclosed."""
    words, spans, opened = [], {}, None
    for part in _MARK.split(marked):
        if not _MARK.fullmatch(part):
            words += _WORD.findall(part)
            continue
        name, closes = part.strip("</>"), part.startswith("</")
        if closes and opened is not None and opened[0] == name:
            spans[name], opened = (opened[1], len(words)), None
        elif not closes and opened is None and name not in spans:
            opened = name, len(words)
        else:
            raise ValueError(f"{part} stands where it should not")
    if len(spans) != 2 or any(start == end for start, end in spans.values()):
        raise ValueError("it does not have words marked by <e1> </e1> and <e2> </e2>")
    return words, spans
