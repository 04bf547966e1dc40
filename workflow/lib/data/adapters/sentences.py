"""Adapter `sentences`: random sentences from articles in Parquet files, with a rule-based splitter for English."""

import logging
import random
import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

from workflow.lib.base.errors import UserError
from workflow.lib.data.adapters.reading import KEY, TEXT, named_if_unreadable, stream_parquet
from workflow.lib.data.dataset_files import SCHEMAS
from workflow.lib.data.hub import Shard

log = logging.getLogger(__name__)

GROUPS_MIXED, ARTICLES_MIXED = 10, 10_000  # row groups and articles shuffled together: about 30 MB of Wikipedia


def table(files: list[Path | Shard], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """Random unlabelled sentences, from as many articles as `rows` or, if the first file has fewer, from its articles'
    further sentences; another file is read only if these do not suffice.

    At most `per_article` sentences per article. If that is null: one, or more if a file has fewer articles than are
    needed of it, where every article of it gives its first sentence before any gives its second. An article's sentences
    depend on the seed and its id alone, not on other articles. A smaller sample is the beginning of a larger one.
    """
    texts: list[dict] = []
    for file in random.Random(seed).sample(files, len(files)):
        texts += _sentences(file, entry["options"], split, seed, rows and rows - len(texts))
        if rows and len(texts) == rows:
            break
    return pa.Table.from_pylist(texts, schema=SCHEMAS["text"])


def _sentences(file: Path | Shard, options: dict, split: str, seed: int, rows: int | None) -> list[dict]:
    """The first `rows` sentences of a file."""
    drawn, n_articles, most = [], 0, options.get("per_article") or rows or 1
    path = file if isinstance(file, Path) else file.fetch()
    for key, article in _articles(path, options, seed):
        found = enumerate(sentences_of(article))
        usable = [(n, s) for n, s in found if options["min_words"] <= len(s.split()) <= options["max_words"]]
        random.Random(f"{seed}/{key}").shuffle(usable)
        drawn += [(rank, f"{split}-{key}-{n}", s) for rank, (n, s) in enumerate(usable[:most])]
        n_articles += bool(usable)
        if n_articles == rows:
            break
        if rows and len(drawn) > 2 * rows + 1000:  # sentences beyond the first `rows` can never be selected
            drawn = sorted(drawn, key=itemgetter(0))[:rows]
    drawn = sorted(drawn, key=itemgetter(0))[:rows]
    if drawn and drawn[-1][0] > 0 and not options.get("per_article"):
        words = "%s: %d articles only: up to %d sentences of each were taken"
        log.warning(words, path.name, n_articles, drawn[-1][0] + 1)
    return [{"id": key, "text": sentence, "text_pair": None, "label": 0} for _, key, sentence in drawn]


def _articles(path: Path, options: dict, seed: int) -> Iterator[tuple[str, str]]:
    """Ids and texts of a file's articles, shuffled: its row groups in random order, some at a time.

    Each part is read to its end, because Arrow's threads may crash a process that ends before they do.
    """
    groups = stream_parquet(path, {options["id"]: KEY, options["text"]: TEXT}).reshard()
    # one input at a time: several would be read by threads, and `datasets` waits five seconds for their end
    mixed = groups.shuffle(seed=seed, buffer_size=ARTICLES_MIXED, max_buffer_input_shards=1)
    parts = -(-groups.num_shards // GROUPS_MIXED)
    for part in range(parts):
        with named_if_unreadable(path):
            rows = list(mixed.shard(parts, part))
        for row in rows:
            key, text = row[options["id"]], row[options["text"]]
            if key is None or text is None:
                raise UserError(f"{path}: an article lacks its {options['id' if key is None else 'text']} ({key})")
            yield key, text


def sentences_of(article: str) -> list[str]:
    """Complete sentences of an article; headings and list items, which do not end like a sentence, are left out."""
    found = [sentence for line in article.split("\n") for sentence in split_sentences(line)]
    return [sentence for sentence in found if _WHOLE.match(sentence)]


# An end of sentence is .!? with closing quotes or brackets, then space, then something that can open a sentence.
_CANDIDATE = re.compile(r"""([.!?…]+)(["'”’»)\]]*)\s+(?=["'“‘«(\[]*(\w))""")
_WHOLE = re.compile(r"""["'“‘«(\[]*[^\W_].*[.!?…]["'”’»)\]]*$""")
_OPENING = "\"'“‘«(["
# Abbreviations that no sentence ends with ...
_NEVER_LAST = re.compile(r"mrs?|ms|messrs|dr|prof|vs?|cf|viz|e\.g|i\.e")
# ... that precede a number, and are words or ends of sentences elsewhere ...
_BEFORE_NUMBER = re.compile(
    r"nos?|pp?|figs?|vols?|ch|sec|op|art|eq|pt|b|d|fl|c|ca|approx|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
# ... and that end a sentence only if the next word is a common sentence opener.
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
    """Split English prose by rules: abbreviations, initials, decimals and quotations do not end a sentence."""
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
