"""Adapter `conllu`: treebanks of Universal Dependencies (universaldependencies.org/format.html).

A row is a sentence of syntactic words. Empty nodes (8.1) are not text, and multiword tokens (3-4) only give the surface
form of several words: both are dropped. Relations keep their subtypes (nmod:poss).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from workflow.lib.data.adapters.reading import fault, numbered_lines
from workflow.lib.data.dataset_files import SCHEMAS

COLUMNS = 10
FORM, UPOS, HEAD, DEPREL = 1, 3, 6, 7
_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(\S+)")
_NOT_A_WORD = re.compile(r"([0-9]{1,9})([.-])([0-9]{1,9})")


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """Treebank rows. The id is the sentence's `sent_id` or, without one, its number in the files."""
    found = []
    for file in files:
        for key, words in sentences(file):
            forms, upos, heads, deprels = ([word[column] for word in words] for column in (FORM, UPOS, HEAD, DEPREL))
            row = {"id": f"{split}-{key or len(found)}", "words": forms, "upos": upos, "deprel": deprels}
            found.append(row | {"head": [int(head) for head in heads]})
    return pa.Table.from_pylist(found, schema=SCHEMAS["treebank"])


def sentences(file: Path) -> Iterator[tuple[str | None, list[list[str]]]]:
    """The `sent_id` of every sentence, and the columns of its words."""
    key, words, lines, others = None, [], [], []
    for number, line in numbered_lines(file):
        if line.startswith("#"):
            if words:
                raise fault(file, number, "a comment inside a sentence; an empty line must end each sentence")
            if match := _SENT_ID.match(line):
                key = match[1]
        elif line.strip():
            columns = _columns(file, number, line)
            if other := _NOT_A_WORD.fullmatch(columns[0]):
                others.append((number, other, len(words)))
            else:
                _check_word(file, number, columns, len(words) + 1)
                words.append(columns)
                lines.append(number)
        else:
            yield from _sentence(file, number, key, words, lines, others)
            key, words, lines, others = None, [], [], []
    yield from _sentence(file, "its end", key, words, lines, others)  # a file need not end with an empty line


def check_line(file: Path, number: int, line: str, entry: dict) -> None:
    """Is it a line of CoNLL-U?"""
    if not line.startswith("#"):
        _columns(file, number, line)


def _columns(file: Path, number: int, line: str) -> list[str]:
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        raise fault(file, number, f"{len(columns)} columns where CoNLL-U has {COLUMNS}, tabs between them")
    return columns


def _sentence(file: Path, end: int | str, key: str | None, words: list, lines: list[int], others: list) -> Iterator:
    """What an empty line, or the end of the file, ends."""
    _check_others(file, others, len(words))
    if words:
        yield key, _with_heads(file, words, lines)
    elif key:
        raise fault(file, end, f"sentence {key} has no words; no empty line must follow its comments")


def _check_others(file: Path, others: list[tuple[int, re.Match, int]], n_words: int) -> None:
    """Empty nodes (8.1) and multiword tokens (3-4) stand where they belong: else they are words with garbled numbers,
    which would be lost. Each comes with its line and the number of words before it."""
    for line, number, before in others:
        first, last = int(number[1]), int(number[3])
        is_range = number[2] == "-"
        if first != before + is_range or (is_range and not first < last <= n_words):
            what = f"words {first} to {last} of one token" if is_range else f"an empty node after word {first}"
            raise fault(file, line, f"'{number[0]}', {what}, after word {before} of {n_words}")


def _check_word(file: Path, line: int, columns: list[str], expected: int) -> None:
    if columns[0] != str(expected):
        raise fault(file, line, f"word '{columns[0]}' where {expected} should follow")
    for name, column in (("form", FORM), ("UPOS", UPOS), ("relation", DEPREL)):
        if not columns[column].strip() or (columns[column] == "_" and column != FORM):
            raise fault(file, line, f"word {expected} has no {name}")
    if not re.fullmatch("[0-9]{1,9}", columns[HEAD]):
        raise fault(file, line, f"head '{columns[HEAD]}' of word {expected} is no number")


def _with_heads(file: Path, words: list[list[str]], lines: list[int]) -> list[list[str]]:
    """The words, after a check that their heads exist. That they form a tree is checked before writing."""
    for line, word in zip(lines, words):
        if int(word[HEAD]) > len(words):
            raise fault(file, line, f"head {word[HEAD]} in a sentence of {len(words)} words")
    return words
