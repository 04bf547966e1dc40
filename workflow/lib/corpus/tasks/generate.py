"""Fills the splits of a dataset: of any size, reproducible from the seed, no sentence in two splits."""

from collections.abc import Callable
from dataclasses import dataclass

from workflow.lib.base.errors import UserError, nearest
from workflow.lib.corpus.documents import Writer
from workflow.lib.corpus.tasks import pairs, questions, structure, topics
from workflow.lib.corpus.tasks.example import Example

MOST_FAILED_DRAWS = 2000  # in a row: then the language is too small for the requested size


@dataclass(frozen=True)
class Dataset:
    kind: str  # text, qa, treebank or spans
    make: Callable[[Writer], Example]
    labels: tuple[str, ...] = ()  # for text; the other kinds carry their labels in the rows


def _spans(annotate, sentences: int = 1) -> Dataset:
    return Dataset("spans", structure.spans_task(annotate, sentences))


DATASETS = {
    "wikipedia": Dataset("text", topics.wikipedia),
    "imdb": Dataset("text", topics.imdb, ("neg", "pos")),
    "ag_news": Dataset("text", topics.ag_news, tuple(topics.BROAD_TOPICS)),
    "dbpedia": Dataset("text", topics.dbpedia, topics.TOPICS),
    "sst2": Dataset("text", topics.sst2, ("negative", "positive")),
    "cola": Dataset("text", pairs.cola, ("unacceptable", "acceptable")),
    "mnli": Dataset("text", pairs.mnli, ("entailment", "neutral", "contradiction")),
    "qnli": Dataset("text", pairs.qnli, ("entailment", "not_entailment")),
    "trec50": Dataset("text", questions.trec50, questions.QUESTION_TYPES),
    "squad": Dataset("qa", questions.squad),
    "ewt": Dataset("treebank", structure.treebank),
    "pud": Dataset("treebank", structure.treebank),
    "ps_role": _spans(structure.ps_role),
    "ps_fxn": _spans(structure.ps_fxn),
    "ep_pos": _spans(structure.parts_of_speech),
    "ep_constituents": _spans(structure.constituents),
    "ep_dependencies": _spans(structure.dependencies),
    "ep_entities": _spans(structure.entities),
    "ep_srl": _spans(structure.semantic_roles),
    "ep_coreference": _spans(structure.coreference, sentences=2),
    "ep_spr": _spans(structure.proto_roles),
    "ep_relations": _spans(structure.relations),
}


def generate(name: str, split: str, sizes: dict[str, int], seed: int, language: int = 0) -> list[dict]:
    """Rows of one split. `sizes` names all splits in order: a split avoids the sentences of those before it.

    `language` is the seed of the words.
    """
    if name not in DATASETS:
        raise UserError(f"the embedded corpus has no dataset '{name}'{nearest(name, list(DATASETS))}")
    if split not in sizes:
        raise UserError(f"dataset '{name}' has no split '{split}'{nearest(split, list(sizes))}")
    taken: set[str] = set()
    for other, size in sizes.items():
        # each split has its own random stream: an earlier split affects a later one only by the sentences it takes
        examples = fill(DATASETS[name].make, Writer(f"{seed} {name} {other}", language), size, taken, f"{name}/{other}")
        if other == split:
            rows = [row for example in examples for row in example.rows][:size]
            if name == "trec50":
                contradict(rows, len(questions.QUESTION_TYPES))
            return [{"id": row.pop("id", f"{split}-{number}"), **row} for number, row in enumerate(rows)]
        taken.update(sentence for example in examples for sentence in example.sentences)
    raise AssertionError("unreachable: split is in sizes")


def fill(make, writer: Writer, size: int, taken: set[str], name: str) -> list[Example]:
    examples, texts, n_rows, n_failed = [], set(), 0, 0
    while n_rows < size:
        example = make(writer)
        text = "\n".join(example.sentences)
        if text in texts or not taken.isdisjoint(example.sentences):
            n_failed += 1
            if n_failed > MOST_FAILED_DRAWS:
                raise UserError(f"{name}: the embedded language is too small for {size} different rows; ask for fewer")
            continue
        n_failed = 0
        n_rows += len(example.rows)
        texts.add(text)
        examples.append(example)
    return examples


def contradict(rows: list[dict], n_labels: int) -> None:
    """Give one question two labels, as in the real TREC-50, so that no classifier can be perfect."""
    if len(rows) > 1:
        rows[-1]["text"], rows[-1]["label"] = rows[0]["text"], (rows[0]["label"] + 1) % n_labels
