"""Adapter `questions`: SQuAD 1.1 in the Hub's layout, where every question has answers that occur in its context.

`answers` holds two lists of equal length, `text` and `answer_start`; starts are character offsets (code points) into
the context, which is therefore not stripped. That each answer occurs at its offset is checked before writing.
"""

from pathlib import Path

import pyarrow as pa

from workflow.lib.data.adapters.reading import fault, read_parquet
from workflow.lib.data.dataset_files import SCHEMAS

COLUMNS = ["id", "question", "context", "answers"]


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """One row per question. Answers on which annotators agree are repeated, as published."""
    found = []
    for file in files:
        for batch in read_parquet(file, COLUMNS):
            for source in batch.to_pylist():
                try:
                    answers = _answers(source["answers"])
                except (TypeError, KeyError, ValueError) as error:
                    raise fault(file, f"question {source['id']}", f"{error}; SQuAD 1.1's layout is expected") from error
                question = (source["question"] or "").strip() or None  # write_dataset reports the null
                row = {"id": f"{split}-{source['id']}", "question": question, "context": source["context"]}
                found.append(row | {"answers": answers})
    return pa.Table.from_pylist(found, schema=SCHEMAS["qa"])


def _answers(source: dict) -> list[dict]:
    if not isinstance(source, dict) or not {"text", "answer_start"} <= source.keys():
        raise ValueError("its answers are not lists `text` and `answer_start`")
    texts, starts = source["text"] or [], source["answer_start"] or []
    if not texts or len(texts) != len(starts):
        raise ValueError(f"it has {len(texts)} answers and {len(starts)} starts of answers")
    return [{"text": text, "start": start} for text, start in zip(texts, starts)]
