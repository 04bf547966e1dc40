"""Several sentences about one topic, with a polarity and referents that come back."""

from dataclasses import dataclass, replace
from random import Random

from workflow.lib.corpus.grammar import Grammar, Sentence
from workflow.lib.corpus.lexicon import KINDS, make_lexicon
from workflow.lib.corpus.meaning import Proposition, Referent, World

# Which share of the general text marks lexical class (see the design: without marks nothing lexical is learnt in
# pre-training, with marks everywhere pre-training is not needed).
MARKED_SHARE = 0.7
GENERAL_RICHNESS = 0.5
QUESTION_SHARE = 0.08  # of the sentences of general text
EVENT_SHARE = 0.06  # of single sentences, whose subject is then no topic but an event that causes another


@dataclass(slots=True)
class Document:
    kind: str  # the topic
    polarity: int
    sentences: list[Sentence]


def is_askable(said: Proposition) -> bool:
    """Questions are made of plain statements with a verb."""
    plain = not (said.passive or said.negated or said.said or said.also or said.tense == "modal")
    return said.verb is not None and plain


class Writer:
    """Everything that writes text: the world, the grammar and one stream of random numbers."""

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
        """`drift` is how often a sentence leaves the topic, or (half as often) contradicts the polarity.

        `again` is how often, on the topic, it returns to a referent that the document has spoken of.
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
        # short sentences that keep to their subject are what next-sentence prediction can learn from in minutes
        world.richness = GENERAL_RICHNESS
        return self.document(kind, polarity, length, marked, drift=0.05, again=0.85, questions=QUESTION_SHARE)
