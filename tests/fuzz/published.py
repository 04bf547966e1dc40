"""Published files through an adapter and the check before writing, as `fetch_dataset` does; and rows checked slowly."""

import re
from pathlib import Path

from workflow.lib.data.adapters import adapt
from workflow.lib.data.dataset_files import checked


def rows_of(file: Path, adapter: str, kind: str, *, labels=(), options=None, shape="span", rows=None) -> list[dict]:
    entry = {"adapter": adapter, "options": options or {}, "labels": list(labels), "shape": shape}
    table = adapt([file], entry | {"splits": {"train": {}}}, dataset="toy", split="train", seed=1, rows=rows)
    return checked(table, "dataset toy, split train", kind, list(labels))[0].to_pylist()


def plain_lines(content: bytes, encoding: str = "utf-8") -> list[str]:
    """Lines as an editor shows them."""
    lines = re.split("\r\n|\n|\r", content.decode(encoding).removeprefix("\ufeff"))
    return lines[:-1] if lines[-1] == "" else lines


def is_tree(heads: list[int]) -> bool:
    """Every word leads to the one root."""

    def leads(word: int) -> bool:
        for _ in heads:
            word = heads[word - 1]
            if word == 0:
                return True
        return False

    return (
        heads.count(0) == 1
        and all(0 <= head <= len(heads) for head in heads)
        and all(map(leads, heads and range(1, len(heads) + 1)))
    )


def spans_lie_within(row: dict) -> bool:
    ends = [(target["start1"], target["end1"]) for target in row["targets"]]
    ends += [(target["start2"], target["end2"]) for target in row["targets"] if target["start2"] is not None]
    return all(0 <= start < end <= len(row["words"]) for start, end in ends)
