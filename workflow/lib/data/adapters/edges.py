"""Adapter `edges`: the JSON lines of edge probing (jiant 1), the usual format of converted licensed corpora.

{"text": "a b c", "targets": [{"span1": [0, 1], "span2": [1, 3], "label": "x"}]}: words are separated by whitespace,
spans are half-open ranges of words, a label is a string or a list of strings (SPR's may be empty). `info` is not read.
Records without targets are left out. The entry's `shape` says whether a target has one span or two.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from workflow.lib.data.adapters.reading import named_record, numbered_lines
from workflow.lib.data.dataset_files import SCHEMAS
from workflow.lib.data.strict_json import parsed

ROWS_AT_ONCE = 5000  # OntoNotes has millions of targets: as Python dictionaries they would not fit in memory


def target(span1: tuple[int, int], labels: list[str], span2: tuple[int, int] | None = None) -> dict:
    """A target in the format of the `spans` kind."""
    start2, end2 = span2 or (None, None)
    return {"start1": span1[0], "end1": span1[1], "start2": start2, "end2": end2, "labels": labels}


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """Rows of spans. The id is the record's number in the files, counting records that are left out."""
    records, parts = _rows(files, split, two_spans=entry["shape"] == "span-pair"), []
    while part := list(islice(records, ROWS_AT_ONCE)):
        parts.append(pa.Table.from_pylist(part, schema=SCHEMAS["spans"]))
    return pa.concat_tables(parts) if parts else SCHEMAS["spans"].empty_table()


def _rows(files: list[Path], split: str, *, two_spans: bool) -> Iterator[dict]:
    seen = 0
    for file in files:
        for number, line in numbered_lines(file):
            if not line.strip():
                continue
            words, targets = _record(file, number, line, two_spans)
            if targets:
                yield {"id": f"{split}-{seen}", "words": words, "targets": targets}
            seen += 1


def check_line(file: Path, number: int, line: str, entry: dict) -> None:
    """Is it a record of such a dataset?"""
    _record(file, number, line, entry["shape"] == "span-pair")


def _record(file: Path, number: int, line: str, two_spans: bool) -> tuple[list[str], list[dict]]:
    """Words and targets."""
    with named_record(file, number, "the edge-probing format"):
        record = parsed(line)
        words, sources = record["text"].split(), record["targets"]
        if not isinstance(sources, list | None):
            raise TypeError(f"targets are {sources!r}")
        return words, [_target(source, len(words), two_spans) for source in sources or ()]


def _target(source: dict, n_words: int, two_spans: bool) -> dict:
    if two_spans != (source.get("span2") is not None):
        raise ValueError(f"a target has {'one span' if two_spans else 'two spans'} where the task has another number")
    spans = [_span(source[name], n_words) for name in (("span1", "span2") if two_spans else ("span1",))]
    labels = [source["label"]] if isinstance(source["label"], str) else source["label"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"label {labels!r} is no text or list of texts")
    return target(spans[0], labels, spans[1] if two_spans else None)


def _span(span: list[int], n_words: int) -> tuple[int, int]:
    if [type(end) for end in span] != [int, int] or not 0 <= span[0] < span[1] <= n_words:
        raise ValueError(f"span {span} does not lie in its {n_words} words")
    return span[0], span[1]
