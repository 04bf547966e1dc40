"""Published files by the packaged builders of `datasets`: columns of Parquet, lines of text, plain or gzipped.

Only those builders, on files named one by one: no script of a repository can run. Always streamed: else a builder
writes all it reads once more as Arrow files into a cache, over which two jobs could clash. One file at a time, so that
an error names it, and so that no file is opened before its rows are needed.
"""

import glob
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.data.hub import one_line

ROWS_AT_ONCE = 4096


def stream(builder: str, file: Path, **options):
    """A file's rows as an IterableDataset, read as they are asked for."""
    import datasets  # a second, which only those who read published files need to spend

    datasets.logging.set_verbosity(datasets.logging.CRITICAL)  # what goes wrong is said by our own errors
    datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = False  # else every load, of local files too, is told to a server
    datasets.config.TORCH_AVAILABLE = False  # else every stream imports torch, two seconds, in case it is to be shared
    # a builder keeps a lock in its cache even if it streams: with a cache of its own no job waits for another
    with TemporaryDirectory() as cache:
        words = {"data_files": [glob.escape(str(file))], "split": "train", "streaming": True, "cache_dir": cache}
        return datasets.load_dataset(builder, **words, **options)


def stream_parquet(file: Path, columns: list[str], labels: dict[str, list[str]] | None = None):
    """Columns of a Parquet file, which must have them. `labels`: the names of a column's numbers, in their order.

    Hub files carry these names (ClassLabel). A registry in another order would mislabel every figure.
    """
    from datasets import ClassLabel

    with named_if_unreadable(file):
        features = stream("parquet", file).features
    for column in columns:
        if column not in features:
            raise UserError(f"{file} has no column '{column}'{nearest(column, list(features))}")
    for column, names in (labels or {}).items():
        feature = features[column]
        if isinstance(feature, ClassLabel) and feature.names != list(names):
            raise UserError(f"{file} has labels {feature.names} where the registry says {list(names)}; mend `labels`")
    return stream("parquet", file, columns=columns)


def read_parquet(file: Path, columns: list[str], labels: dict[str, list[str]] | None = None) -> Iterator[pa.Table]:
    """The same as tables of a few thousand rows."""
    rows = stream_parquet(file, columns, labels)
    with named_if_unreadable(file):
        yield from rows.with_format("arrow").iter(batch_size=ROWS_AT_ONCE)


@contextmanager
def named_if_unreadable(file: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{file} is no readable Parquet: {one_line(error)}; delete it and fetch it again") from error


def numbered_lines(file: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Lines of a text file without their ends (\\n, \\r\\n or \\r), counted from 1."""
    number = 0
    try:
        for number, line in enumerate(_lines(file, encoding=encoding), 1):
            yield number, line
    except UnicodeDecodeError as error:
        lines = enumerate(_lines(file, encoding=encoding, encoding_errors="replace"), 1)
        number = next((at for at, line in lines if "\ufffd" in line), number)
        raise fault(file, number, f"no {encoding} text ({error.reason}); delete the file and fetch it again") from error
    except (OSError, EOFError, zlib.error) as error:
        raise fault(file, f"after line {number}", f"unreadable ({error}); delete it and fetch it again") from error


def fault(file: Path, where: int | str, what: str) -> UserError:
    return UserError(f"{file}, {f'line {where}' if isinstance(where, int) else where}: {what}")


def _lines(file: Path, **options) -> Iterator[str]:
    for table in stream("text", file, **options).with_format("arrow").iter(batch_size=ROWS_AT_ONCE):
        yield from table["text"].to_pylist()
