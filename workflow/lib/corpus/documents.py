"""Documents: several sentences about one topic, with a polarity and recurring referents."""

from dataclasses import dataclass, replace
from random import Random

from workflow.lib.corpus.grammar import Grammar, Sentence
from workflow.lib.corpus.lexicon import KINDS, make_lexicon
from workflow.lib.corpus.meaning import Proposition, Referent, World

# Share of the general text in which lexical classes are marked: without marks, pre-training learns nothing lexical;
# with marks everywhere, it is not needed.
MARKED_SHARE = 0.7
GENERAL_RICHNESS = 0.5
QUESTION_SHARE = 0.08  # of the sentences in general text
EVENT_SHARE = 0.06  # of single sentences: their subject is an event that causes another one, not a topic


@dataclass(slots=True)
class Document:
    kind: str  # the topic
    polarity: int
    sentences: list[Sentence]


def is_askable(said: Proposition) -> bool:
    """Whether a question can be made from a proposition: a plain statement with a verb."""
    plain = not (said.passive or said.negated or said.said or said.also or said.tense == "modal")
    return said.verb is not None and plain


class Writer:
    """Writes text: holds the world, the grammar and one stream of random numbers."""

    def __init__(self, seed: str, language: int = 0):
        self.rng = Random(seed)
        lexicon = make_lexicon(language)
        self.world, self.grammar = World(lexicon, self.rng), Grammar(lexicon)

    def sentence(self, kind: str | None = None, polarity: int = 0, marked: bool = False) -> Sentence:
        """One sentence on its own."""
        world = self.world
        if kind is None and world.chance(EVENT_SHARE):
            kind = "festival"
        subject = world.adorn(world.referent(kind), polarity, marked)
        return self.grammar.sentence(world.proposition(subject, polarity, marked), marked)

    def document(
        self,
        kind: str,
        polarity: int,
        length: int,
        marked: bool,
        drift: float = 0.1,
        again: float = 0.5,
        questions: float = 0.0,
    ) -> Document:
        """Several sentences about nouns of one kind.

        `drift`: probability that a sentence leaves the topic and, halved, that it contradicts the polarity.
        `again`: probability that a sentence on the topic returns to an earlier referent.
        """
        world, sentences = self.world, []
        known: list[Referent] = []
        for _ in range(length):
            draw = self.rng.random()
            if draw < drift:
                subject = world.referent(world.pick(tuple(KINDS)))
            elif known and self.rng.random() < again:
                subject = self._mention_again(world.pick(known))
            else:
                subject = world.referent(kind)
                known.append(subject)
            if not subject.as_pronoun:
                subject = world.adorn(replace(subject), polarity, marked)
            colour = -polarity if self.rng.random() < drift / 2 else polarity
            said = world.proposition(subject, colour, marked)
            asks = questions and self.rng.random() < questions and is_askable(said)
            sentences.append(
                self.grammar.question(said, world.pick(("truth", "subject")))
                if asks
                else self.grammar.sentence(said, marked)
            )
        return Document(kind, polarity, sentences)

    def _mention_again(self, referent: Referent) -> Referent:
        again = Referent(referent.noun, referent.plural, referent.ident, definite=True)
        again.as_pronoun = self.rng.random() < 0.15
        return again

    def general_document(self) -> Document:
        """A piece of general text (the wikipedia stand-in): any topic, any polarity, marked or not."""
        world = self.world
        length = 2 + int(self.rng.random() * 2)
        kind, polarity, marked = world.pick(tuple(KINDS)), world.pick((1, -1)), world.chance(MARKED_SHARE)
        # next-sentence prediction is learnt in minutes only from short sentences that keep to their subject
        world.richness = GENERAL_RICHNESS
        return self.document(kind, polarity, length, marked, drift=0.05, again=0.85, questions=QUESTION_SHARE)
