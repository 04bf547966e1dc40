"""Lines of a label and a text (TREC), damaged, in both encodings."""

import gzip

from hypothesis import strategies as st

from tests.fuzz.damage import damaged, damages, fuzzed
from tests.fuzz.published import plain_lines, rows_of
from tests.fuzz.text_damage import TEXT, insert, swap_fields

LABELS = ["LOC:city", "NUM:count", "NUM:other"]
CONTENT = "NUM:other What is 1 : 2 ?\nLOC:city A sister city in Łódź ?\nNUM:count How many ?\n"


def test_lines_with_labels(tmp_path):
    def read(drawn):
        encoding, chosen = drawn
        content = damaged(CONTENT.encode(encoding, "replace"), chosen)
        packed = len(content) % 2  # by chance, but the same in every run
        file = tmp_path / ("toy.label.gz" if packed else "toy.label")
        file.write_bytes(gzip.compress(content, 1, mtime=0) if packed else content)
        return rows_of(file, "label_lines", "text", labels=LABELS, options={"encoding": encoding})

    def check(drawn, rows):
        encoding, chosen = drawn
        lines = plain_lines(damaged(CONTENT.encode(encoding, "replace"), chosen), encoding)
        assert [f"{LABELS[row['label']]} {row['text']}" for row in rows] == [
            f"{line.split(' ')[0]} {line[line.index(' ') :].strip()}" for line in lines
        ]
        assert [row["id"] for row in rows] == [f"train-{number}" for number in range(len(lines))]

    fuzzed(st.tuples(st.sampled_from(["latin-1", "utf-8"]), damages(*TEXT, insert, swap_fields)), read, check)
