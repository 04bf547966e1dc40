"""Annotated sentences: treebanks (ewt, pud), preposition senses (ps_role, ps_fxn) and the eight edge-probing tasks."""

from itertools import combinations

from workflow.lib.corpus.documents import Writer
from workflow.lib.corpus.grammar import Sentence
from workflow.lib.corpus.tasks.example import Example
from workflow.lib.corpus.tasks.pairs import plain_fact

QUESTION_SHARE = 0.1  # of a treebank's sentences


def annotated(writer: Writer) -> Sentence:
    """A statement or a question, as varied as a treebank's sentences."""
    if writer.rng.random() < QUESTION_SHARE:
        return writer.question_about(plain_fact(writer))[0]
    return writer.sentence(polarity=writer.world.pick((1, -1)))


def treebank(writer: Writer) -> Example:
    s = annotated(writer)
    row = {"words": s.words, "upos": s.upos, "head": s.as_conllu_heads(), "deprel": s.deprels}
    return Example([row], [s.text()])


def target(first: tuple, labels: list[str], second: tuple | None = None) -> dict:
    start2, end2 = second or (None, None)
    return {"start1": first[0], "end1": first[1], "start2": start2, "end2": end2, "labels": labels}


def one(position: int) -> tuple[int, int]:
    return position, position + 1


def ps_role(s: Sentence, rng) -> list[dict]:
    return [target(one(at), [f"p.{role}"]) for at, role, _ in s.prepositions]


def ps_fxn(s: Sentence, rng) -> list[dict]:
    return [target(one(at), [f"p.{function}"]) for at, _, function in s.prepositions]


def parts_of_speech(s: Sentence, rng) -> list[dict]:
    return [target(one(at), [tag]) for at, tag in enumerate(s.xpos)]


def constituents(s: Sentence, rng) -> list[dict]:
    return [target((a, b), [label]) for a, b, label in s.constituents]


def dependencies(s: Sentence, rng) -> list[dict]:
    # the root is its own head, as in the common edge-probing files
    return [
        target(one(at), [rel], one(head if head >= 0 else at)) for at, (head, rel) in enumerate(zip(s.heads, s.deprels))
    ]


def entities(s: Sentence, rng) -> list[dict]:
    return [target((a, b), [sort.upper()]) for a, b, sort in s.entities]


def semantic_roles(s: Sentence, rng) -> list[dict]:
    return [target(one(predicate), [label], (a, b)) for predicate, a, b, label in s.arguments]


def coreference(s: Sentence, rng) -> list[dict]:
    spans = sorted(s.mentions)
    return [target(x[:2], [str(int(x[2] == y[2]))], y[:2]) for x, y in combinations(spans, 2)]


def proto_roles(s: Sentence, rng) -> list[dict]:
    return [target(one(predicate), labels, one(noun)) for predicate, noun, labels in s.properties]


def relations(s: Sentence, rng) -> list[dict]:
    """One pair of nominals per sentence, in text order, as in SemEval: the label includes the relation's direction."""
    if not s.relations:
        return []
    first, second, relation = s.relations[int(rng.random() * len(s.relations))]
    if relation != "Other":
        relation += "(e1,e2)" if first < second else "(e2,e1)"
    low, high = sorted((first, second))
    return [target(one(low), [relation], one(high))]


def spans_task(annotate, sentences: int = 1):
    """A task of the `spans` kind; sentences without any target are replaced."""

    def task(writer: Writer) -> Example:
        while True:
            parts = [annotated(writer)]
            if sentences > 1:
                kind = writer.world.pick(("artist", "athlete", "politician", "company", "animal"))
                parts = writer.document(kind, 1, sentences, marked=False).sentences
            texts = [part.text() for part in parts]
            s = parts[0]
            for part in parts[1:]:
                s.extend(part)
            targets = annotate(s, writer.rng)
            if targets:
                return Example([{"words": s.words, "targets": targets}], texts)

    return task
