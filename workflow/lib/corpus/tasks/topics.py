"""Documents with a topic or a polarity: wikipedia, imdb, ag_news, dbpedia, sst2."""

from dataclasses import replace
from hashlib import sha256

from workflow.lib.corpus.documents import REACTION_SHARE, Document, Writer
from workflow.lib.corpus.lexicon import KINDS, STRONG, WEAK
from workflow.lib.corpus.meaning import Proposition, Referent
from workflow.lib.corpus.tasks.example import Example, noisy

TOPICS = tuple(KINDS)
TOPIC_DRIFT = 0.15  # share of the sentences that are about something else: a topic needs more than one word
TWO_OPINIONS = 0.15  # of sst2's texts
COMPOSED_IN_PHRASES = 0.2  # of sst2's evaluations: a bag of words is right in four of five texts, as on the real SST-2
COMPOSED_IN_REVIEWS = 0.3  # of imdb's evaluations: long reviews say most things plainly, so that words go a long way
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
    writer.world.composition = COMPOSED_IN_REVIEWS
    topic = writer.world.pick(("film", "artist"))
    document = writer.document(topic, 2 * label - 1, 4, marked=False, reactions=REACTION_SHARE)
    return as_text(document, noisy(label, 2, writer.rng))


def ag_news(writer: Writer) -> Example:
    label = int(writer.rng.random() * len(BROAD_TOPICS))
    kind = writer.world.pick(tuple(BROAD_TOPICS.values())[label])
    document = writer.document(kind, writer.world.pick((1, -1)), 3, marked=False, drift=TOPIC_DRIFT)
    return as_text(document, noisy(label, len(BROAD_TOPICS), writer.rng))


def dbpedia(writer: Writer) -> Example:
    label = int(writer.rng.random() * len(TOPICS))
    document = writer.document(TOPICS[label], writer.world.pick((1, -1)), 3, marked=False, drift=TOPIC_DRIFT)
    return as_text(document, noisy(label, len(TOPICS), writer.rng))


def sst2(writer: Writer) -> Example:
    """One evaluation, often composed (see World.evaluation), or two opposite ones of which the stronger counts.

    No adjective but those of the evaluations has a polarity: who only counts words is wrong in a fifth of the texts.
    """
    writer.world.composition = COMPOSED_IN_PHRASES
    world, label = writer.world, int(writer.world.chance(0.5))
    polarity = 2 * label - 1
    subject = world.adorn(world.referent(world.pick(TOPICS)), 0, False)
    if world.chance(TWO_OPINIONS):
        said = [_opinion(writer, subject, polarity, STRONG), _opinion(writer, subject, -polarity, WEAK)]
        said = said if world.chance(0.5) else said[::-1]
        said[1].subject = replace(subject, as_pronoun=True, adjective=None, modifier=None, clause=None, quantifier=None)
    else:
        said = [world.evaluation(Proposition("be", subject), polarity, marked=False)]
    sentences = [writer.grammar.sentence(one).text() for one in said]
    row = {"text": " ".join(sentences), "text_pair": None, "label": noisy(label, 2, writer.rng)}
    return Example([row], sentences)


def _opinion(writer: Writer, subject: Referent, polarity: int, degrees: tuple[str, ...]) -> Proposition:
    adjective, _ = writer.world.quality(polarity, False, 0.0)
    return Proposition("be", subject, adjective=adjective, degree=writer.world.pick(degrees), polarity=polarity)
