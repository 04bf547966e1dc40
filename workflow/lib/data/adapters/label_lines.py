"""Adapter `label_lines`: text files whose lines are a label, a space and a text, such as TREC's questions."""

from pathlib import Path

import pyarrow as pa

from workflow.lib.base.errors import nearest
from workflow.lib.data.adapters.reading import fault, numbered_lines
from workflow.lib.data.dataset_files import SCHEMAS


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """Labelled texts. Labels are numbered as in the registry, the same in every split; `encoding` is the file's."""
    labels, found = entry["labels"], []
    number_of = {label: number for number, label in enumerate(labels)}
    for file in files:
        for line_number, line in numbered_lines(file, entry["options"]["encoding"]):
            label, _, text = line.partition(" ")
            if label not in number_of:
                raise fault(file, line_number, f"label '{label}' is not in the registry{nearest(label, labels)}")
            if not (text := text.strip()):
                raise fault(file, line_number, f"no text after the label '{label}'")
            found.append({"id": f"{split}-{len(found)}", "text": text, "text_pair": None, "label": number_of[label]})
    return pa.Table.from_pylist(found, schema=SCHEMAS["text"])
