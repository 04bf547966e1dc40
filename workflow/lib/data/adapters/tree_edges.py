"""Adapter `tree_edges`: edge-probing targets from a treebank in CoNLL-U.

deprel      every word with its head, labelled by the relation, subtype included (nmod:poss); a root is its own head
xpos, upos  every word alone, labelled by its tag; the common edge-probing files have the Penn tags of `xpos`

Sentences and words are those of the treebank (adapter `conllu`): empty nodes are dropped, their sentences kept.
"""

from pathlib import Path

import pyarrow as pa

from workflow.lib.data.adapters.conllu import DEPREL, FORM, HEAD, UPOS, sentences
from workflow.lib.data.adapters.edges import target
from workflow.lib.data.adapters.reading import fault
from workflow.lib.data.dataset_files import SCHEMAS

XPOS = 4
COLUMN_OF = {"deprel": DEPREL, "xpos": XPOS, "upos": UPOS}


def table(files: list[Path], entry: dict, split: str, seed: int, rows: int | None) -> pa.Table:
    """Rows of spans. The option `label` selects the column with the labels. Ids are those of the treebank's rows."""
    name, found = entry["options"]["label"], []
    for file in files:
        for key, words in sentences(file):
            labels = [word[COLUMN_OF[name]] for word in words]
            if "_" in labels and name == "xpos":  # the others are checked by `sentences`
                raise fault(file, f"sentence {key or len(found)}", f"word {labels.index('_') + 1} has no XPOS")
            spans = [(at, at + 1) for at in range(len(words))]
            heads = [int(word[HEAD]) - 1 for word in words]
            ends = [spans[head if head >= 0 else at] if name == "deprel" else None for at, head in enumerate(heads)]
            targets = [target(span, [label], end) for span, label, end in zip(spans, labels, ends)]
            row = {"id": f"{split}-{key or len(found)}", "words": [word[FORM] for word in words]}
            found.append(row | {"targets": targets})
    return pa.Table.from_pylist(found, schema=SCHEMAS["spans"])
