"""CoNLL-U, damaged: the treebank and the edges made from it are what a plain reading of the text says, or an error."""

import gzip

from hypothesis import strategies as st

from tests.fuzz.damage import damaged, damages, fuzzed
from tests.fuzz.published import is_tree, plain_lines, rows_of, spans_lie_within
from tests.fuzz.text_damage import BYTES, FIELDS, TEXT, replace_field


def word(number, form, upos, head, deprel):
    return "\t".join([str(number), form, "_", upos, upos.lower(), "_", str(head), deprel, "_", "_"])


SENTENCES = [
    [
        "# newdoc id = a",
        "# sent_id = a-1",
        "\t".join(["0.1", "and", "and", "CCONJ", *"______"]),
        word(1, "I", "PRON", 3, "nsubj"),
        "\t".join(["2-3", "don't", *"________"]),
        word(2, "do", "AUX", 3, "aux"),
        word(3, "n't", "PART", 0, "root"),
        "\t".join(["3.1", "go", "go", "VERB", "_", "_", "_", "_", "3:conj", "CopyOf=3"]),
        word(4, ".", "PUNCT", 3, "punct:end"),
    ],
    ["# sent_id = a-2", word(1, "Go", "VERB", 0, "root"), word(2, "home", "ADV", 1, "advmod")],
]
CONTENT = "".join("\n".join(lines) + "\n\n" for lines in SENTENCES).encode()


def plain_reading(content: bytes) -> list[dict]:
    """Every line of ten columns whose first is a whole number is a word; an empty line ends a sentence."""
    found, words, key = [], [], None
    for line in [*plain_lines(content), ""]:
        columns = line.split("\t")
        name, _, value = line.partition("=")
        if name.startswith("#") and name[1:].strip() == "sent_id" and value.strip():
            key = value.split()[0]
        elif columns[0].isdecimal():
            words.append(columns)
        elif not line.strip() and words:
            row = {"id": f"train-{key or len(found)}", "words": [columns[1] for columns in words]}
            row |= {"upos": [columns[3] for columns in words], "head": [int(columns[6]) for columns in words]}
            found.append(row | {"deprel": [columns[7] for columns in words], "xpos": [columns[4] for columns in words]})
            words, key = [], None
    return found


def reader(file, adapter, kind, **options):
    def read(chosen):
        file.write_bytes(damaged(CONTENT, chosen))
        return rows_of(file, adapter, kind, **options)

    return read


# fields are damaged more often than all else: most other damages are refused at once
OFTEN = damages(*TEXT, *FIELDS, replace_field)


def test_treebanks(tmp_path):
    def check(chosen, rows):
        plain = plain_reading(damaged(CONTENT, chosen))
        assert rows == [{key: value for key, value in row.items() if key != "xpos"} for row in plain]
        assert all(is_tree(row["head"]) and all(row["upos"]) and all(row["words"]) for row in rows)

    fuzzed(OFTEN, reader(tmp_path / "toy.conllu", "conllu", "treebank"), check)


def test_edges_of_treebanks(tmp_path):
    file = tmp_path / "toy.conllu"

    def read(drawn):
        label, chosen = drawn
        return reader(file, "tree_edges", "spans", options={"label": label})(chosen)

    def check(drawn, rows):
        label, chosen = drawn
        plain = plain_reading(damaged(CONTENT, chosen))
        assert [row["words"] for row in rows] == [row["words"] for row in plain] and all(map(spans_lie_within, rows))
        for row, other in zip(rows, plain):
            assert [target["labels"] for target in row["targets"]] == [[name] for name in other[label]]
            assert [target["start1"] for target in row["targets"]] == list(range(len(row["words"])))
            heads = [head - 1 if head else at for at, head in enumerate(other["head"])]
            assert [target["start2"] for target in row["targets"]] == (
                heads if label == "deprel" else [None] * len(heads)
            )

    fuzzed(st.tuples(st.sampled_from(["deprel", "xpos"]), OFTEN), read, check)


def test_packed_files(tmp_path):
    """A gzip archive of which bytes are lost or changed: its sum is checked, so all or nothing."""
    file, packed = tmp_path / "toy.conllu.gz", gzip.compress(CONTENT, mtime=0)

    def read(chosen):
        file.write_bytes(damaged(packed, chosen))
        return rows_of(file, "conllu", "treebank")

    def check(chosen, rows):
        assert [row["words"] for row in rows] == [["I", "do", "n't", "."], ["Go", "home"]]

    fuzzed(damages(*BYTES), read, check, least=5)
