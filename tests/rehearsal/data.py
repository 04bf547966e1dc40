"""The datasets of the registry in the layouts that they are published in, with made rows or with a mirror's.

Made rows are sentences of the embedded corpus. Hub datasets become repositories; raw files are put where a download
would have put them, because their addresses are https and their sums known: no stand-in can serve them.
"""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from datasets import ClassLabel, Dataset, Features, Value, disable_progress_bars

from workflow.lib.corpus.tasks import generate
from workflow.lib.data.sources import _patterns

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["registry"]
disable_progress_bars()
N_ROWS = {"pud": 1000, "dbpedia": 700}  # others: 300 a split


def write_datasets(folder: Path, home: Path, mirror: Path | None) -> tuple[dict[str, Path], list[str]]:
    """Writes all public datasets; returns the repositories for the Hub, and the texts made (for a vocabulary)."""
    repositories, texts = {}, []
    for name, entry in REGISTRY.items():
        source = entry["sources"][0]
        if "obtain" in source:
            continue
        for at, (split, wanted) in enumerate(entry["splits"].items()):
            if "raw" in source:
                path = home / "tunescope" / source["raw"] / source["revision"] / wanted["file"]
            else:
                pattern = _patterns(source, wanted, in_mirror=False)[0]
                path = folder / source["hub"] / pattern.replace("-*", "-00000-of-00001").replace("[0-4]", "0")
                repositories[f"datasets/{source['hub']}"] = folder / source["hub"]
            if path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if mirror and (found := in_mirror(mirror, source, wanted)):
                copy(found, path)
                continue
            sizes = {key: 300 for key in entry["splits"]} | {split: N_ROWS.get(name, 300)}
            # a made split is of one of the corpus's own: the order of splits decides what may be in it
            made = generate(name, *corpus_split(name, split, sizes), seed=at)
            WRITERS[entry["adapter"]](path, made, entry)
            texts += [" ".join(row.get("words") or [row.get("text") or row["context"]]) for row in made]
    return repositories, texts


def corpus_split(name: str, split: str, sizes: dict[str, int]) -> tuple[str, dict[str, int]]:
    known = split if split in ("train", "dev", "test", "sentences") else "test"
    return known, {"train": sizes.get("train", 300)} | {known: sizes[split]} if name != "wikipedia" else {known: 900}


def in_mirror(mirror: Path, source: dict, wanted: dict) -> Path | None:
    name = source.get("hub") or source["raw"]
    for pattern in _patterns(source, wanted, in_mirror=True):
        if found := sorted((mirror / name).glob(pattern)):
            return found[0]
    return None


def copy(found: Path, path: Path) -> None:
    if found.suffix == ".gz":
        import gzip

        path.write_bytes(gzip.decompress(found.read_bytes()))
    else:
        shutil.copyfile(found, path)


def _parquet(path: Path, columns: dict, labels: dict[str, list[str]]) -> None:
    """With the names of the labels in the metadata, as the Hub's files have them."""
    kinds = {name: ClassLabel(names=labels[name]) if name in labels else Value("string") for name in columns}
    Dataset.from_dict(columns, features=Features(kinds)).to_parquet(path)


def write_texts(path: Path, rows: list[dict], entry: dict) -> None:
    options, labels = entry["options"], entry["labels"]
    columns = {}
    for key in ("text", "text_pair"):
        if key in options:
            names = [options[key]] if isinstance(options[key], str) else options[key]
            words = [row[key].split(" ", len(names) - 1) for row in rows]
            columns |= {name: [part[at] if at < len(part) else "" for part in words] for at, name in enumerate(names)}
    columns[options["label"]] = [row["label"] % len(labels) for row in rows]
    if "id" in options:
        columns[options["id"]] = [str(at) for at in range(len(rows))]
    _parquet(path, columns, {options["label"]: labels})


def write_articles(path: Path, rows: list[dict], entry: dict) -> None:
    """Of ten sentences each, which are made of two."""
    words = [row["text"].rstrip(". ").lower() for row in rows]
    sentences = [f"The {one} and {other}." for one, other in zip(words[::2], words[1::2])]
    articles = [" ".join(sentences[start : start + 10]) for start in range(0, len(sentences), 10)]
    _parquet(path, {"id": [str(at) for at in range(len(articles))], "text": articles}, {})


def write_questions(path: Path, rows: list[dict], entry: dict) -> None:
    answers = [{"text": [a["text"] for a in row["answers"]], "answer_start": [a["start"] for a in row["answers"]]}
               for row in rows]  # fmt: skip
    columns = {key: [row[key] for row in rows] for key in ("id", "question", "context")} | {"answers": answers}
    pq.write_table(pa.table(columns), path)


def write_relations(path: Path, rows: list[dict], entry: dict) -> None:
    sentences = []
    for row in rows:
        words, target = list(row["words"]), row["targets"][0]
        for start, end, name in ((target["start1"], target["end1"], "e1"), (target["start2"], target["end2"], "e2")):
            words[start] = f"<{name}>{words[start]}"
            words[end - 1] = f"{words[end - 1]}</{name}>"
        sentences.append(" ".join(words))
    known = sorted({row["targets"][0]["labels"][0] for row in rows})
    numbers = [known.index(row["targets"][0]["labels"][0]) % len(entry["labels"]) for row in rows]
    _parquet(path, {"sentence": sentences, "relation": numbers}, {"relation": entry["labels"]})


def write_treebank(path: Path, rows: list[dict], entry: dict) -> None:
    lines = []
    for at, row in enumerate(rows):
        lines.append(f"# sent_id = s{at}")
        for n, (word, tag, head, name) in enumerate(zip(row["words"], row["upos"], row["head"], row["deprel"]), 1):
            lines.append(f"{n}\t{word}\t_\t{tag}\t{tag}\t_\t{head}\t{name}\t_\t_")
        lines.append("")
    path.write_text("\n".join(lines) + "\n")


def write_prepositions(path: Path, rows: list[dict], entry: dict) -> None:
    names = REGISTRY["ps_fxn"]["labels"]  # functions are roles too
    known = sorted({target["labels"][0] for row in rows for target in row["targets"]})
    sentences = []
    for at, row in enumerate(rows):
        tokens = [{"#": n, "word": word} for n, word in enumerate(row["words"], 1)]
        marked = {}
        for n, target in enumerate(row["targets"], 1):
            label = names[known.index(target["labels"][0])]
            marked[str(n)] = {"toknums": [target["start1"] + 1], "ss": label, "ss2": label, "lexcat": "P"}
        sentences.append({"sent_id": f"s{at}", "toks": tokens, "swes": marked})
    path.write_text(json.dumps(sentences))


def write_label_lines(path: Path, rows: list[dict], entry: dict) -> None:
    path.write_text("".join(f"{entry['labels'][row['label']]} {row['text']}\n" for row in rows), encoding="latin-1")


WRITERS = {"text": write_texts, "sentences": write_articles, "questions": write_questions,
           "relations": write_relations, "conllu": write_treebank, "tree_edges": write_treebank,
           "prepositions": write_prepositions, "label_lines": write_label_lines}  # fmt: skip
