"""Adapter `text`: labelled texts or text pairs from columns of Parquet files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from workflow.lib.data.adapters.reading import KEY, TEXT, WHOLE, read_parquet
from workflow.lib.data.dataset_files import SCHEMAS


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """Labelled texts. `text` names one column, or several to be joined by a space; `text_pair` likewise, if given."""
    options = entry["options"]
    parts = {key: _as_list(options[key]) for key in ("text", "text_pair") if key in options}
    columns = {name: TEXT for names in parts.values() for name in names} | {options["label"]: WHOLE}
    columns |= {options["id"]: KEY} if "id" in options else {}
    labels = {options["label"]: entry["labels"]}
    tables = [table for file in files for table in read_parquet(file, columns, labels)]
    source = (
        pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({name: [] for name in columns})
    )
    keys = source[options["id"]].to_pylist() if "id" in options else range(source.num_rows)
    pair = _join(source, parts["text_pair"]) if "text_pair" in parts else pa.nulls(source.num_rows, pa.string())
    values = [
        pa.array([None if key is None else f"{split}-{key}" for key in keys], pa.string()),
        _join(source, parts["text"]),
        pair,
        source[options["label"]],
    ]
    return pa.table(values, names=SCHEMAS["text"].names).cast(SCHEMAS["text"])


def _join(source: pa.Table, names: list[str]) -> pa.ChunkedArray:
    """Stripped texts joined by a space (DBpedia's contents begin with one); an empty text leaves no extra space."""
    trimmed = [pc.utf8_trim_whitespace(source[name].cast(pa.string())) for name in names]
    return pc.utf8_trim_whitespace(pc.binary_join_element_wise(*trimmed, " ")) if len(names) > 1 else trimmed[0]


def _as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
