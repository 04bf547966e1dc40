"""How large datasets are, before any is fetched: what a job takes depends on that.

Rows are known: from the config, or from the registry where the config takes all. What a row holds was measured once
and stands in workflow/resources/sizes.yaml, by dataset, for real data (with BERT's uncased tokenizer) and for the
embedded corpus (with the demo's):

tokens   ten lengths in tokens, with [CLS] and [SEP]: the middles of the tenths of all rows, so that the mean of texts
         cut at any length follows
words    mean per row                inside  tokens inside spans, mean per row
targets  labelled units per row      labels  different ones
twins    texts that occur with two labels
rows     by split, where the registry knows none

    python -m workflow.lib.costs.sizes <results>/data <encoder> …    prints these lines, for data and a tokenizer
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from workflow.lib.data.own_files import rows_in

FILE = Path(__file__).resolve().parents[2] / "resources/sizes.yaml"
CUT = 512  # tokens


@dataclass(frozen=True)
class Size:
    rows: int
    tokens: float  # mean per row
    longest: float
    words: float
    inside: float
    targets: float
    labels: int
    twins: int


@cache
def measured() -> dict:
    return yaml.load(FILE.read_text(), yaml.CSafeLoader)


def size_of(config: dict, place: str, max_tokens: int = CUT) -> Size:
    """Of a split `<dataset>/<split>` whose texts are cut at so many tokens."""
    dataset, _, split = place.partition("/")
    source = config["datasets"][dataset]["source"]
    of_row = measured().get(source, {}).get(dataset) or measured()["any"]
    rows = config["datasets"][dataset]["rows"].get(split)
    if rows is None and source == "file":
        rows = rows_in(config["datasets"][dataset], split)
    if rows is None:
        of_split = config["registry"].get(dataset, {}).get("splits", {}).get(split, {})
        rows = of_split.get("rows") or of_row.get("rows", {}).get(split, 0)
    tokens = np.minimum(of_row["tokens"], max_tokens)
    words = of_row.get("words", float(tokens.mean()))
    return Size(
        rows=rows,
        tokens=float(tokens.mean()),
        longest=float(tokens.max()),
        words=words,
        inside=of_row.get("inside", 0.0),
        targets=of_row.get("targets", 1.0),
        labels=of_row.get("labels", 1),
        twins=of_row.get("twins", 0),
    )


def measure(files: list[Path], encoder: Path) -> dict:
    """The numbers of one dataset, over its splits."""
    from workflow.lib.activations.shared_sentences import merged
    from workflow.lib.activations.units import units_of
    from workflow.lib.data.dataset_files import read_dataset
    from workflow.lib.encoders.loading import load_tokenizer
    from workflow.lib.encoders.tokenization import encode

    lengths, n_rows, n_words, n_inside, n_targets, n_twins, labels = [], 0, 0, 0, 0, 0, set()
    for file in files:
        table, info = read_dataset(file)
        has_words = info["kind"] in ("treebank", "spans")
        encoded = encode(table, info, load_tokenizer(encoder, for_words=has_words), CUT, by_word=False)
        lengths.append(encoded.lengths)
        n_rows += len(table)
        labels |= set(info["labels"])
        n_twins += twins_in(table) if info["labels"] and info["kind"] == "text" else 0
        if has_words:
            n_words += sum(map(len, table["words"].to_pylist()))
        if info["kind"] == "treebank":
            n_targets += sum(map(len, table["words"].to_pylist()))
            labels |= {name for names in table["deprel"].to_pylist() for name in names}
        if info["kind"] == "spans":
            inside = merged({"it": table})
            whole = encode(inside.table, info, load_tokenizer(encoder, for_words=True), CUT, by_word=False)
            n_inside += len(units_of("span", whole, inside.inside).first)
            targets = [target for of_row in table["targets"].to_pylist() for target in of_row]
            n_targets += len(targets)
            labels |= {name for target in targets for name in target["labels"]}
    tenths = np.quantile(np.concatenate(lengths), np.arange(0.05, 1, 0.1))
    found = {"tokens": [round(float(tenth)) for tenth in tenths]}
    means = {"words": n_words, "inside": n_inside, "targets": n_targets}
    found |= {name: round(total / n_rows, 2) for name, total in means.items() if total}
    counts = {"labels": len(labels), "twins": n_twins}
    return found | {name: count for name, count in counts.items() if count}


def twins_in(table: pa.Table) -> int:
    """Texts, in lower case, that occur with two labels."""
    texts = [(text.lower(), pair) for text, pair in zip(*(table[name].to_pylist() for name in ("text", "text_pair")))]
    return len({*zip(texts, table["label"].to_pylist())}) - len({*texts})


if __name__ == "__main__":
    data, encoder = map(Path, sys.argv[1:3])
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        splits = sorted(path for path in folder.glob("*.parquet") if path.stem != "pretrain")
        print(
            f"  {folder.name}: {yaml.safe_dump(measure(splits, encoder), default_flow_style=True, width=200).strip()}"
        )
