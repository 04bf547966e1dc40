"""Parquet files that notice damage: the format's own checksums of pages, and one of what our metadata say.

A disk or a copy that flips a bit would otherwise change a vector, a label or a score, and nobody would see it.
"""

import json
import zlib

import pyarrow as pa

METADATA_KEY, CHECK_KEY = b"tunescope", b"tunescope_crc32"
WRITING = {"write_page_checksum": True}
READING = {"page_checksum_verification": True}
# what reading a damaged file may raise
DAMAGE = (pa.ArrowException, OSError, KeyError, TypeError, ValueError, OverflowError, MemoryError)


def sealed(schema: pa.Schema, about: dict) -> pa.Schema:
    """The schema with what the file is, as JSON, and a checksum of that and of the columns' names and types."""
    text = json.dumps(about).encode()
    return schema.with_metadata({METADATA_KEY: text, CHECK_KEY: _check(schema, text)})


def about_in(schema: pa.Schema) -> dict:
    """KeyError: it is none of our files; ValueError: it is damaged. Files of older versions have no checksum."""
    stored = schema.metadata or {}
    text = stored[METADATA_KEY]
    if CHECK_KEY in stored and stored[CHECK_KEY] != _check(schema, text):
        raise ValueError("the checksum of its metadata does not fit them")
    return json.loads(text)


def _check(schema: pa.Schema, text: bytes) -> bytes:
    columns = repr([(field.name, _named(field.type), field.nullable) for field in schema]).encode()
    return b"%08x" % zlib.crc32(text, zlib.crc32(columns))


def _named(kind: pa.DataType) -> str:
    """Without what Parquet changes: names of the elements of lists, and how repeated values are stored."""
    if pa.types.is_struct(kind):
        return repr({field.name: _named(field.type) for field in kind})
    if pa.types.is_dictionary(kind):
        return _named(kind.value_type)
    return f"[{_named(kind.value_type)}]" if hasattr(kind, "value_type") else str(kind).removeprefix("large_")
