"""Adapter `questions`: SQuAD 1.1 in the Hub's layout, where every question has answers that occur in its context.

`answers` holds two lists of equal length, `text` and `answer_start`; starts are character offsets (code points) into
the context, which is therefore not stripped. That each answer occurs at its offset is checked before writing.
"""

from pathlib import Path

import pyarrow as pa

from workflow.lib.data.adapters.reading import ANY, KEY, TEXT, named_record, read_parquet
from workflow.lib.data.dataset_files import SCHEMAS

COLUMNS = {"id": KEY, "question": TEXT, "context": TEXT, "answers": ANY}


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """One row per question. Answers on which annotators agree are repeated, as published."""
    found = []
    for file in files:
        for batch in read_parquet(file, COLUMNS):
            for source in batch.to_pylist():
                with named_record(file, f"question {source['id']}", "SQuAD 1.1's layout"):
                    answers = _answers(source["answers"])
                question = (source["question"] or "").strip() or None  # write_dataset reports the null
                key = None if source["id"] is None else f"{split}-{source['id']}"
                row = {"id": key, "question": question, "context": source["context"]}
                found.append(row | {"answers": answers})
    return pa.Table.from_pylist(found, schema=SCHEMAS["qa"])


def _answers(source: dict) -> list[dict]:
    if not isinstance(source, dict) or not {"text", "answer_start"} <= source.keys():
        raise ValueError("its answers are not lists `text` and `answer_start`, as in SQuAD 1.1")
    texts, starts = (source[name] if isinstance(source[name], list) else [] for name in ("text", "answer_start"))
    if not texts or len(texts) != len(starts):
        raise ValueError(f"it has {len(texts)} answers and {len(starts)} starts of answers")
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"its answers are {texts}, not texts")
    if not all(type(start) is int and 0 <= start < 1 << 31 for start in starts):
        raise ValueError(f"its answers start at {starts}")
    return [{"text": text, "start": start} for text, start in zip(texts, starts)]
