"""Reads published files with the packaged builders of `datasets`: columns of Parquet, lines of text, plain or gzipped.

Only these builders, on explicitly named files, so that no script of a repository can run. Always streamed: otherwise a
builder copies everything to Arrow files in a cache, on which two jobs could collide. One file at a time, so that an
error names the file, and so that no file is opened before its rows are needed.
"""

import glob
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from json import JSONDecodeError
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from workflow.lib.base.errors import UserError, brief, nearest
from workflow.lib.data.hub import one_line

ROWS_AT_ONCE = 4096
CUT = (OSError, EOFError, zlib.error)  # of a gzip archive that is damaged
# what a column must hold, as types of `datasets`; Arrow would cast a list's or a date's numbers without a word
TEXT, WHOLE = r"(large_)?string(_view)?", r"u?int\d+"
KEY, ANY = f"{TEXT}|{WHOLE}", ".*"
_SAID = {TEXT: "text", WHOLE: "whole numbers", KEY: "text or whole numbers"}


def stream(builder: str, file: Path, **options):
    """A file's rows as a lazy IterableDataset."""
    import datasets  # takes a second, needed only to read published files

    datasets.logging.set_verbosity(datasets.logging.CRITICAL)  # our own errors say what went wrong
    datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = False  # else every load, even of local files, is reported to a server
    datasets.config.TORCH_AVAILABLE = False  # else every stream imports torch (two seconds) in case it is shared
    # even a streaming builder locks its cache: with a separate cache no job waits for another
    with TemporaryDirectory() as cache:
        words = {"data_files": [glob.escape(str(file))], "split": "train", "streaming": True, "cache_dir": cache}
        return datasets.load_dataset(builder, **words, **options)


def stream_parquet(file: Path, columns: dict[str, str], labels: dict[str, list[str]] | None = None):
    """Stream columns of a Parquet file, after a check that it has them, and that they hold what they must.

    `labels`: label names in order, by column. Hub files carry these names (ClassLabel). If the registry had another
    order, every figure would be mislabelled.
    """
    from datasets import ClassLabel

    with named_if_unreadable(file):
        features, names = stream("parquet", file).features, pq.read_schema(file).names
    for column, wanted in columns.items():
        if column not in features:
            raise UserError(f"{file} has no column '{column}'{nearest(column, list(features))}")
        if names.count(column) > 1:
            raise UserError(f"{file} has two columns '{column}'")
        if not re.fullmatch(wanted, found := getattr(features[column], "dtype", None) or "lists or records"):
            raise UserError(f"{file}: column '{column}' holds {found}, not {_SAID[wanted]}")
    for column, names in (labels or {}).items():
        feature = features[column]
        if isinstance(feature, ClassLabel) and feature.names != list(names):
            raise UserError(f"{file} has labels {feature.names} where the registry says {list(names)}; mend `labels`")
    return stream("parquet", file, columns=list(columns))


def read_parquet(file: Path, columns: dict[str, str], labels: dict[str, list[str]] | None = None) -> Iterator[pa.Table]:
    """The same columns as tables of a few thousand rows."""
    rows = stream_parquet(file, columns, labels)
    with named_if_unreadable(file):
        for table in rows.with_format("arrow").iter(batch_size=ROWS_AT_ONCE):
            table.validate(full=True)  # else bytes that are no text are met later, where no file is known
            yield table


@contextmanager
def named_if_unreadable(file: Path) -> Iterator[None]:
    """Around others' readers, which meet damaged files, and metadata of other forms, with errors of any kind."""
    try:
        yield
    except Exception as error:
        raise UserError(f"{file} is no readable Parquet: {one_line(error)}; delete it and fetch it again") from error


def numbered_lines(file: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Lines of a text file with their numbers, from 1, without line ends (\\n, \\r\\n or \\r) and byte-order mark."""
    number = 0
    try:
        for number, line in enumerate(_lines(file, encoding=encoding), 1):
            yield number, line if number > 1 else line.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        number = _line_of_odd_bytes(file, encoding) or number
        raise fault(file, number, f"no {encoding} text ({error.reason}); delete the file and fetch it again") from error
    except CUT as error:
        raise fault(file, f"after line {number}", f"unreadable ({error}); delete it and fetch it again") from error


def first_line(file: Path) -> tuple[int, str]:
    """The first line that is not empty, and its number; without the packaged builders, which take a second to load."""
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8-sig") as lines:
            return next(((number, line.rstrip("\n")) for number, line in enumerate(lines, 1) if line.strip()), (1, ""))
    except (*CUT, UnicodeDecodeError) as error:
        raise fault(file, 1, f"unreadable ({error})") from error


def _line_of_odd_bytes(file: Path, encoding: str) -> int | None:
    """Byte by byte, because readers of text do not say how far they had come."""
    opened = gzip.open if file.suffix == ".gz" else open
    with suppress(*CUT), opened(file, "rb") as lines:  # an archive may end before they are found
        for number, line in enumerate(lines, 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    return None


def fault(file: Path, where: int | str, what: str) -> UserError:
    return UserError(f"{file}, {brief(f'line {where}' if isinstance(where, int) else where, 100)}: {brief(what)}")


@contextmanager
def named_record(file: Path, where: int | str, layout: str) -> Iterator[None]:
    """Around the code that takes a record apart: what does not fit is a fault of the file, named by its place."""
    try:
        yield
    except KeyError as error:
        raise fault(file, where, f"a field of {layout} is missing: {error}") from error
    except (TypeError, AttributeError) as error:
        raise fault(file, where, f"a field of {layout} has another form: {error}") from error
    except JSONDecodeError as error:
        raise fault(file, where, f"no JSON: {error.msg}") from error
    except ValueError as error:
        raise fault(file, where, str(error)) from error


def _lines(file: Path, encoding: str) -> Iterator[str]:
    if file.suffix == ".gz":  # which `datasets` reads as utf-8, whatever encoding it is given
        with gzip.open(file, "rt", encoding=encoding) as lines:
            yield from (line.removesuffix("\n") for line in lines)
        return
    for table in stream("text", file, encoding=encoding).with_format("arrow").iter(batch_size=ROWS_AT_ONCE):
        yield from table["text"].to_pylist()
