"""What a guess scores that does not look at the input: models that learnt nothing keep that much of their score."""

from collections import Counter

import pyarrow as pa

from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.training.heads.answer_text import blind_f1


def chance_of(table: pa.Table, kind: str) -> float:
    """The most frequent label; for questions the first words of every passage, at their best number."""
    if kind == "qa":
        answers = [[answer["text"] for answer in of_row] for of_row in table["answers"].to_pylist()]
        return blind_f1(table["context"].to_pylist(), answers)
    return Counter(table["label"].to_pylist()).most_common(1)[0][1] / len(table)


def read_chances(tasks: list[str], files: list[str]) -> dict[str, float]:
    """By task, from the files of the rows that each is scored on. A task that is not listed begins at 0 (LAS)."""
    rows_of = {task: read_dataset(path) for task, path in zip(tasks, files)}
    return {task: chance_of(table, info["kind"]) for task, (table, info) in rows_of.items()}
