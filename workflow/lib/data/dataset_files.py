"""Normalised datasets: one Parquet file per split, of one of four kinds, checked before it is written.

text      one or two texts and a label (an unlabelled dataset has `labels` = [] and label 0 in every row)
qa        question, context, answers (start: character offset in the context)
treebank  words with UPOS, head (1-based, 0 = root) and deprel
spans     words and targets: one or two half-open word spans with labels
"""

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError, brief, nearest
from workflow.lib.base.files import whole_file
from workflow.lib.base.parquet import DAMAGE, METADATA_KEY, READING, WRITING, about_in, sealed

_str, _strs, _int = pa.string(), pa.list_(pa.string()), pa.int32()
_answer = pa.struct({"text": _str, "start": _int})
_target = pa.struct({"start1": _int, "end1": _int, "start2": _int, "end2": _int, "labels": _strs})
SCHEMAS = {
    "text": pa.schema({"id": _str, "text": _str, "text_pair": _str, "label": pa.int64()}),
    "qa": pa.schema({"id": _str, "question": _str, "context": _str, "answers": pa.list_(_answer)}),
    "treebank": pa.schema({"id": _str, "words": _strs, "upos": _strs, "head": pa.list_(_int), "deprel": _strs}),
    "spans": pa.schema({"id": _str, "words": _strs, "targets": pa.list_(_target)}),
}
MAY_BE_NULL = {"text_pair", "start2", "end2"}


def write_dataset(path: str | Path, rows_or_table, *, dataset: str, split: str, kind: str, labels, source: str) -> dict:
    """Check the rows, write them atomically, return the file's metadata. The bytes do not depend on chunking."""
    labels = list(labels)
    table, digest = checked(rows_or_table, f"dataset {dataset}, split {split}", kind, labels)
    info = {"dataset": dataset, "split": split, "kind": kind, "labels": labels, "source": source}
    info |= {"rows": table.num_rows, "digest": digest}
    with whole_file(path) as beside:
        pq.write_table(table.cast(sealed(table.schema, info)), beside, compression="zstd", **WRITING)
    return info


def checked(rows_or_table, where: str, kind: str, labels: list[str]) -> tuple[pa.Table, str]:
    """A table of the kind, and its digest; an error names the first row that does not fit."""
    table = _conform(where, rows_or_table, kind)
    return table, _check_and_digest(where, table, kind, labels)


def read_dataset(path: str | Path) -> tuple[pa.Table, dict]:
    try:
        table = pq.read_table(path, partitioning=None, **READING)
        table.validate(full=True)
        if METADATA_KEY not in (table.schema.metadata or {}):
            raise UserError(f"{path} is Parquet but no dataset of this workflow (metadata 'tunescope' is missing)")
        info = about_in(table.schema)
    except DAMAGE as error:
        raise UserError(f"{path} is no readable Parquet: {brief(error)}; delete it, run again") from error
    if not _is_whole(table, info):
        raise UserError(f"{path} does not hold the rows that its metadata describe; delete it, run again")
    return table, info


def _is_whole(table: pa.Table, info: object) -> bool:
    """What a damaged file shows at once; its rows were checked when they were written."""
    known = isinstance(info, dict) and isinstance(kind := info.get("kind"), str) and kind in SCHEMAS
    return known and info.get("rows") == table.num_rows and table.schema.equals(SCHEMAS[kind])


def _conform(where: str, rows, kind: str) -> pa.Table:
    if kind not in SCHEMAS:
        raise UserError(f"{where}: unknown kind '{kind}'{nearest(kind, list(SCHEMAS))}")
    try:
        table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows), schema=SCHEMAS[kind])
        table = table.select(SCHEMAS[kind].names).cast(SCHEMAS[kind]).combine_chunks()
    except (pa.ArrowException, KeyError) as error:
        raise UserError(f"{where}: rows do not fit kind '{kind}': {brief(error)}") from error
    if not table.num_rows:
        raise UserError(f"{where}: it has no rows")
    return table


def _check_and_digest(where: str, table: pa.Table, kind: str, labels: list[str]) -> str:
    """Check all rows; returns a digest of kind, labels and rows as JSON, so that Parquet's encoding has no effect."""
    if kind == "text" and 0 < table["text_pair"].null_count < table.num_rows:
        name = table.filter(pc.is_null(table["text_pair"]))["id"][0]
        raise UserError(f"{where}, row {name}: it has one text, where others have two")
    digest, seen = hashlib.sha256(json.dumps([kind, labels]).encode()), set()
    for batch in table.to_batches(max_chunksize=4096):
        for row in batch.to_pylist():
            if fault := _null_in(row) or _FAULT[kind](row, labels) or (row["id"] in seen and "its id is not unique"):
                raise UserError(f"{where}, row {brief(row['id'], 100)}: {brief(fault)}")
            seen.add(row["id"])
            digest.update(b"\n" + json.dumps(row).encode())
    return digest.hexdigest()


def _null_in(record: dict) -> str | None:
    for name, value in record.items():
        values = value if isinstance(value, list) else [value]
        if None in values and name not in MAY_BE_NULL:
            return f"{name} {'holds a null' if values is value else 'is null'}"
        if fault := next(filter(None, (_null_in(part) for part in values if isinstance(part, dict))), None):
            return fault


def _text_fault(row: dict, labels: list[str]) -> str | None:
    n = max(len(labels), 1)
    return None if 0 <= row["label"] < n else f"label {row['label']} is outside 0..{n - 1}"


def _qa_fault(row: dict, labels: list[str]) -> str | None:
    for answer in row["answers"]:
        if answer["start"] < 0 or not row["context"].startswith(answer["text"], answer["start"]):
            return f"answer '{answer['text']}' does not stand at {answer['start']} in the context"


def _treebank_fault(row: dict, labels: list[str]) -> str | None:
    heads, n = row["head"], len(row["words"])
    if not n or {len(row["upos"]), len(heads), len(row["deprel"])} != {n}:
        return f"{n} words, {len(row['upos'])} upos, {len(heads)} heads, {len(row['deprel'])} deprels"
    return heads_fault(heads)


def heads_fault(heads: list[int]) -> str | None:
    """Why heads (from 1, 0 = root) are no tree; None if they are."""
    n = len(heads)
    if not 0 <= min(heads) <= max(heads) <= n:
        return f"head {min(heads) if min(heads) < 0 else max(heads)} is outside 0..{n}"
    above = [0, *heads]
    for _ in range(n.bit_length()):  # pointer doubling: a word that has not reached the root by then is in a cycle
        above = [above[head] for head in above]
    circle = "its heads run in a circle" if any(above) else None
    return circle if heads.count(0) == 1 else f"{heads.count(0)} roots where a tree has exactly one"


def _spans_fault(row: dict, labels: list[str]) -> str | None:
    for target in row["targets"]:
        spans = [(target["start1"], target["end1"]), (target["start2"], target["end2"])]
        for start, end in spans[:1] if spans[1] == (None, None) else spans:
            if start is None or end is None or not 0 <= start < end <= len(row["words"]):
                return f"span {start}..{end} does not lie in its {len(row['words'])} words"
        if labels and (unknown := set(target["labels"]) - set(labels)):
            return f"unknown label '{min(unknown)}'"


_FAULT = {"text": _text_fault, "qa": _qa_fault, "treebank": _treebank_fault, "spans": _spans_fault}
