"""Adapter `text`: columns of Parquet files to texts with a label."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from workflow.lib.base.errors import UserError
from workflow.lib.data.adapters.parquet import open_parquet, read_batches
from workflow.lib.data.dataset_files import SCHEMAS


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """Columns to texts: `text` names one column, or several to be joined by a space; `text_pair` likewise, if any."""
    options = entry["options"]
    parts = {key: _as_list(options[key]) for key in ("text", "text_pair") if key in options}
    columns = list(dict.fromkeys([name for names in parts.values() for name in names] + [options["label"]]))
    columns += [options["id"]] if "id" in options else []
    check_label_names(files, options["label"], entry["labels"])
    batches = list(read_batches(files, columns))
    source = pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in columns})
    keys = source[options["id"]].to_pylist() if "id" in options else range(source.num_rows)
    pair = _join(source, parts["text_pair"]) if "text_pair" in parts else pa.nulls(source.num_rows, pa.string())
    values = [
        pa.array([f"{split}-{key}" for key in keys]),
        _join(source, parts["text"]),
        pair,
        source[options["label"]],
    ]
    return pa.table(values, names=SCHEMAS["text"].names).cast(SCHEMAS["text"])


def check_label_names(files: list[Path], column: str, labels: list[str]) -> None:
    """Hub files carry the names of their label numbers. A registry in another order would mislabel every figure."""
    for file in files:
        metadata = open_parquet(file, [column]).schema_arrow.metadata or {}
        features = json.loads(metadata.get(b"huggingface", b"{}")).get("info", {}).get("features", {})
        names = features.get(column, {}).get("names")
        if names and list(names) != list(labels):
            raise UserError(f"{file} has labels {names} where the registry says {list(labels)}; mend `labels`")


def _join(source: pa.Table, names: list[str]) -> pa.ChunkedArray:
    """Trimmed texts with a space between (DBpedia's contents begin with one); an empty one leaves no space behind."""
    trimmed = [pc.utf8_trim_whitespace(source[name].cast(pa.string())) for name in names]
    return pc.utf8_trim_whitespace(pc.binary_join_element_wise(*trimmed, " ")) if len(names) > 1 else trimmed[0]


def _as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
