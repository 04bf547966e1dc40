"""Documents with a topic or a polarity: wikipedia, imdb, ag_news, dbpedia, sst2."""

from hashlib import sha256

from workflow.lib.corpus.documents import Document, Writer
from workflow.lib.corpus.lexicon import KINDS
from workflow.lib.corpus.tasks.example import Example, noisy

TOPICS = tuple(KINDS)
# AG-news' four broad topics as groups of kinds, in its label order.
BROAD_TOPICS = {
    "world": ("politician", "village", "landscape", "building"),
    "sports": ("athlete", "animal", "vehicle"),
    "business": ("company", "school", "plant"),
    "culture": ("artist", "album", "film", "book"),
}


def as_text(document: Document, label: int) -> Example:
    sentences = [sentence.text() for sentence in document.sentences]
    return Example([{"text": " ".join(sentences), "text_pair": None, "label": label}], sentences)


def wikipedia(writer: Writer) -> Example:
    """General text, one row per sentence, because analyses sample sentences; ids show which document they are from."""
    sentences = [sentence.text() for sentence in writer.general_document().sentences]
    name = sha256("\n".join(sentences).encode()).hexdigest()[:12]
    rows = [{"id": f"{name}.{at}", "text": text, "text_pair": None, "label": 0} for at, text in enumerate(sentences)]
    return Example(rows, sentences)


def imdb(writer: Writer) -> Example:
    label = int(writer.world.chance(0.5))
    document = writer.document(writer.world.pick(("film", "artist")), 2 * label - 1, 3, marked=False, drift=0.2)
    return as_text(document, noisy(label, 2, writer.rng))


def ag_news(writer: Writer) -> Example:
    label = int(writer.rng.random() * len(BROAD_TOPICS))
    kind = writer.world.pick(tuple(BROAD_TOPICS.values())[label])
    document = writer.document(kind, writer.world.pick((1, -1)), 3, marked=False)
    return as_text(document, noisy(label, len(BROAD_TOPICS), writer.rng))


def dbpedia(writer: Writer) -> Example:
    label = int(writer.rng.random() * len(TOPICS))
    document = writer.document(TOPICS[label], writer.world.pick((1, -1)), 3, marked=False)
    return as_text(document, noisy(label, len(TOPICS), writer.rng))


def sst2(writer: Writer) -> Example:
    label = int(writer.world.chance(0.5))
    document = writer.document(writer.world.pick(TOPICS), 2 * label - 1, 1 + writer.world.chance(0.5), marked=False)
    return as_text(document, noisy(label, 2, writer.rng))
