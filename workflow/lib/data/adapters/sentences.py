"""Adapter `sentences`: random sentences of articles in Parquet files, by a rule-based splitter for English."""

import logging
import random
import re
from pathlib import Path

import pyarrow as pa

from workflow.lib.data.adapters.parquet import count_rows, read_batches
from workflow.lib.data.dataset_files import SCHEMAS

log = logging.getLogger(__name__)


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
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
