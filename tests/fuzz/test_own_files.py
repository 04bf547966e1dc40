"""A user's CSV, TSV, JSON lines and Parquet, damaged: rows are those of a plain reading, or a line is named."""

import json
import re

import pyarrow as pa
from hypothesis import strategies as st

from tests.fuzz import table_damage
from tests.fuzz.damage import damaged, damages, fuzzed
from tests.fuzz.json_damage import JSON
from tests.fuzz.text_damage import TEXT, insert, replace_field
from workflow.lib.data.own_files import split_of

ROWS = [("glad", 'a, "b"'), ("sad", "c d"), ("glad", "łódź"), ("sad", "2020-01-01"), ("sad", "01")]


def table_text(separator: str) -> bytes:
    cells = [[mood, '"{}"'.format(text.replace('"', '""')) if n < 1 else text] for n, (mood, text) in enumerate(ROWS)]
    return "".join(separator.join(row) + "\n" for row in [["mood", "review"], *cells]).encode()


def records() -> list[dict]:
    return [{"mood": mood, "review": text} for mood, text in ROWS]


def rows_of(path) -> list[tuple[int, str, str]]:
    """(row, text, label) of the whole file."""
    entry = {"path": {"train": str(path)}, "text": "review", "label": "mood"}
    table, labels = split_of(entry, "toy", "train", None, 0)
    rows = table.to_pylist()
    assert all(row["id"].startswith("train-") and row["text_pair"] is None for row in rows)
    return [(int(row["id"].partition("-")[2]), row["text"], labels[row["label"]]) for row in rows]


def plain(values: list[tuple[object, object]]) -> list[tuple[int, str, str]]:
    return [(n, str(review).strip(), str(mood).strip()) for n, (mood, review) in enumerate(values)]


def cells_of(text: str, separator: str) -> list[list[str]]:
    """Fields, by their definition: quoted, with doubled quotes inside, or up to the next separator or end of line."""
    field = re.compile(rf'("(?:[^"]|"")*"|[^{separator}\r\n"][^{separator}\r\n]*|)({separator}|\r\n|\r|\n|$)')
    rows, row, at = [], [], 0
    while at < len(text):
        match = field.match(text, at)
        assert match, text[at:]
        row.append(match[1][1:-1].replace('""', '"') if match[1].startswith('"') else match[1])
        at = match.end()
        if match[2] != separator:
            rows, row = rows + [row], []
    rows += [row + [""]] if row else []
    return [row for row in rows if len(row) > 1 or row[0].strip()]  # without empty lines


def test_csv_and_tsv(tmp_path):
    def content(drawn):
        return damaged(table_text(drawn[0]), drawn[1])

    def read(drawn):
        path = tmp_path / ("toy.csv" if drawn[0] == "," else "toy.tsv")
        path.write_bytes(content(drawn))
        return rows_of(path)

    def check(drawn, found):
        header, *cells = cells_of(content(drawn).decode("utf-8-sig"), drawn[0])
        assert all(len(row) == len(header) for row in cells)
        assert found == plain([(row[header.index("mood")], row[header.index("review")]) for row in cells])

    fuzzed(st.tuples(st.sampled_from([",", "\t"]), damages(*TEXT, replace_field, insert)), read, check)


def test_json_lines(tmp_path):
    path = tmp_path / "toy.jsonl"

    def content(chosen):
        lines = [json.dumps(record, ensure_ascii=False) for record in damaged(records(), chosen[0])]
        return damaged("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"), chosen[1])

    def read(chosen):
        path.write_bytes(content(chosen))
        return rows_of(path)

    def check(chosen, found):
        lines = [line for line in content(chosen).decode("utf-8-sig").split("\n") if line.strip()]
        values = [json.loads(line) for line in lines]
        assert all(type(value[name]) in (str, int, float, bool) for value in values for name in ("mood", "review"))
        assert all(
            value == value and abs(value) < 1e400 for v in values for value in v.values() if type(value) is float
        )
        assert found == plain([(value["mood"], value["review"]) for value in values])

    some = damages(*TEXT, most=1, often=2)
    fuzzed(st.tuples(damages(*JSON), some), read, check)


def test_parquet(tmp_path):
    path = tmp_path / "toy.parquet"
    table = [("mood", [mood for mood, _ in ROWS]), ("review", [text for _, text in ROWS]), ("n", list(range(5)))]

    def read(chosen):
        return table_damage.write(path, table, chosen, {}), rows_of(path)

    def check(chosen, result):
        made, found = result
        if not chosen[1]:  # else values may be other values: such files have no checksums
            columns = [made.column(made.column_names.index(name)) for name in ("mood", "review")]
            assert all(made.column_names.count(name) == 1 for name in ("mood", "review"))
            assert not any(map(pa.types.is_nested, (column.type for column in columns)))
            assert found == plain(list(zip(*(column.to_pylist() for column in columns))))
        assert [row for row, *_ in found] == list(range(len(found)))
        assert all(text and label for _, text, label in found)

    fuzzed(table_damage.FILES, read, check)
