"""From files as their publishers lay them out to rows of our kinds (see datasets.py).

An adapter is a function (files, entry, split, seed, rows) -> pa.Table. A dataset of a new layout needs one more of
them in ADAPTERS and a few lines in config/datasets.yaml. `rows` matters only to those that do not use every source row.
"""

import json
import logging
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workflow.lib.datasets import SCHEMAS
from workflow.lib.errors import UserError, nearest

log = logging.getLogger(__name__)


def adapt(files: list[Path], entry: dict, *, dataset: str, split: str, seed: int, rows: int | None) -> pa.Table:
    """Rows of the entry's kind; `rows` of them if a number is given, all (in the source's order) if not."""
    name = entry["adapter"]
    if name not in ADAPTERS:
        raise UserError(f"dataset {dataset}: unknown adapter '{name}'{nearest(name, list(ADAPTERS))}")
    table = ADAPTERS[name](files, entry, split, seed, rows)
    raw = any(file.suffix != ".parquet" for file in files)
    found, expected = table.num_rows if raw else count_rows(files), entry["splits"][split].get("rows")
    if expected and found != expected:
        message = (
            "dataset %s, split %s: %s rows found where the whole split has %s; a sample's numbers are not the paper's"
        )
        log.warning(message, dataset, split, f"{found:,}", f"{expected:,}")
    if rows is not None and table.num_rows < rows:
        log.warning("dataset %s, split %s: %d rows asked for, %d there", dataset, split, rows, table.num_rows)
    return table if rows is None or name in SAMPLES_ITSELF else take(table, rows, seed)


def take(table: pa.Table, n: int, seed: int) -> pa.Table:
    """n rows, each label in its share, labels mixed throughout (the Hub's IMDB is sorted by label).

    Every row gets its rank among the shuffled rows of its label, divided by their number; the lowest come first. So
    shares are as even as whole rows allow (Webster's method) and a smaller sample is the beginning of a larger one.
    """
    rng = np.random.default_rng(seed)
    tie_breaker, place = rng.random(table.num_rows), np.empty(table.num_rows)
    labels = table["label"].to_numpy() if "label" in table.column_names else np.zeros(table.num_rows, dtype=np.int64)
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return table.take(np.lexsort((tie_breaker, place))[:n])


# ---- Parquet


def open_parquet(file: Path, columns: list[str]) -> pq.ParquetFile:
    try:
        opened = pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error
    for column in columns:
        if column not in (names := opened.schema_arrow.names):
            raise UserError(f"{file} has no column '{column}'{nearest(column, names)}")
    return opened


def read_batches(files: list[Path], columns: list[str]) -> Iterator[pa.RecordBatch]:
    """The columns of several files, a few thousand rows at a time: Wikipedia does not fit into memory."""
    for file in files:
        opened = open_parquet(file, columns)
        try:
            yield from opened.iter_batches(batch_size=4096, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(file, error) from error


def count_rows(files: list[Path]) -> int:
    return sum(open_parquet(file, []).metadata.num_rows for file in files)


def _unreadable(file: Path, error: Exception) -> UserError:
    return UserError(f"{file} is no readable Parquet: {str(error).splitlines()[0]}; delete it and fetch it again")


# ---- adapter: text


def text(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
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


# ---- adapter: sentences


def sentences(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """Random sentences of articles, unlabelled.

    `per_article` sentences of each article at most. Where it is null: one, or as many as the `rows` asked for need,
    every article giving its first before any gives its second. Which sentences an article gives depends on the seed
    and its id alone, not on the other articles.
    """
    options, n_articles = entry["options"], count_rows(files)
    bounds = options["min_words"], options["max_words"]
    enough = rows is None or n_articles >= 2 * rows + 100
    most = options.get("per_article") or (1 if enough else None)
    # Where there are far more articles than wanted, a random part of them is enough work.
    share = 1.0 if rows is None or most is None else min(1.0, (2 * rows / most + 100) / max(n_articles, 1))
    drawn = []
    for batch in read_batches(files, [options["id"], options["text"]]):
        for key, article in zip(*(batch[options[name]].to_pylist() for name in ("id", "text"))):
            rng = random.Random(f"{seed}/{key}")
            if rng.random() >= share:
                continue
            usable = [(n, s) for n, s in enumerate(sentences_of(article)) if bounds[0] <= len(s.split()) <= bounds[1]]
            order = rng.random()
            rng.shuffle(usable)
            drawn += [(rank, order, f"{split}-{key}-{n}", s) for rank, (n, s) in enumerate(usable[:most])]
    drawn = sorted(drawn)[:rows]
    if most is None and drawn and drawn[-1][0] > 0:
        log.warning("%d articles only: up to %d sentences of each were taken", n_articles, drawn[-1][0] + 1)
    texts = [{"id": key, "text": sentence, "text_pair": None, "label": 0} for _, _, key, sentence in drawn]
    return pa.Table.from_pylist(texts, schema=SCHEMAS["text"])


def sentences_of(article: str) -> list[str]:
    """Whole sentences of an article's paragraphs. Headings and list items do not end like a sentence: left out."""
    found = [sentence for line in article.split("\n") for sentence in split_sentences(line)]
    return [sentence for sentence in found if _WHOLE.match(sentence)]


# An end of sentence is .!? with closing quotes or brackets, then space, then something that can open a sentence.
_CANDIDATE = re.compile(r"""([.!?…]+)(["'”’»)\]]*)\s+(?=["'“‘«(\[]*(\w))""")
_WHOLE = re.compile(r"""["'“‘«(\[]*[^\W_].*[.!?…]["'”’»)\]]*$""")
_OPENING = "\"'“‘«(["
# Abbreviations that no sentence ends with ...
_NEVER_LAST = re.compile(r"mrs?|ms|messrs|dr|prof|vs?|cf|viz|e\.g|i\.e")
# ... that stand before a number, and are words or ends of sentences elsewhere ...
_BEFORE_NUMBER = re.compile(
    r"nos?|pp?|figs?|vols?|ch|sec|op|art|eq|pt|b|d|fl|c|ca|approx|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
# ... and that end a sentence only if the next word is one that sentences like to begin with.
_SELDOM_LAST = re.compile(
    r"gen|lt|col|maj|adm|brig|capt|cmdr|cdr|sgt|cpl|pvt|rev|hon|sen|rep|gov|pres|supt|det|insp|fr|sr|jr|esq|ste?|mt|ft|"
    r"ave|blvd|rd|inc|co|corp|ltd|bros|dept|univ|assn|al|etc|est|eds?|trans|mlle|mme"
)
_OPENER = re.compile(
    r"(?:A|An|The|This|That|These|Those|It|Its|He|His|She|Her|They|Their|There|We|Our|You|In|On|At|By|For|From|With|As|"
    r"After|Before|During|While|When|Where|Although|Though|However|But|And|If|Since|Because|Despite|Many|Most|Some|"
    r"Several|Both|Each|Another|Other|Following|According|Later|Soon|Then|Thus|Also|Upon|Under|Between|Among|Until|"
    r"Unlike|Meanwhile|Instead|Today|Once|Such|What|Who|Why|How|To|Only|Even|Although|Throughout)[\s,]"
)


def split_sentences(paragraph: str) -> list[str]:
    """Sentences of English prose by rule: abbreviations, initials, decimals and quotations do not end one."""
    paragraph = " ".join(paragraph.split())
    found, start = [], 0
    for candidate in _CANDIDATE.finditer(paragraph):
        marks, closing, following = candidate.groups()
        if not (following.isupper() or following.isdigit()):
            continue
        before = paragraph[start : candidate.start()]
        if marks == "." and not closing and _is_abbreviation(before, paragraph, candidate.end()):
            continue
        found.append(paragraph[start : candidate.end()].rstrip())
        start = candidate.end()
    return found + [paragraph[start:]] if start < len(paragraph) else found


def _is_abbreviation(before: str, paragraph: str, next_start: int) -> bool:
    space = before.rfind(" ")
    token = before[space + 1 :].lstrip(_OPENING)
    word = token.lower()
    if _NEVER_LAST.fullmatch(word):
        return True
    if token.isdigit() and space < 0 and len(token) <= 2:  # "2. The second item" of a list
        return True
    if paragraph[next_start].isdigit() and _BEFORE_NUMBER.fullmatch(word):
        return True
    initial = token.rpartition("-")[2]
    is_initial = len(initial) == 1 and initial.isupper()
    seldom = is_initial or "." in token or _SELDOM_LAST.fullmatch(word) is not None
    return seldom and not _OPENER.match(paragraph, next_start)


ADAPTERS = {"text": text, "sentences": sentences}
SAMPLES_ITSELF = {"sentences"}  # they choose their `rows` while reading
