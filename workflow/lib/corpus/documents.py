"""Several sentences about one topic, with a polarity and referents that come back."""

from dataclasses import dataclass, replace
from random import Random

from workflow.lib.corpus.grammar import Grammar, Sentence
from workflow.lib.corpus.lexicon import KINDS, make_lexicon
from workflow.lib.corpus.meaning import Referent, World

# Which share of the general text marks lexical class (see the design: without marks nothing lexical is learnt in
# pre-training, with marks everywhere pre-training is not needed).
MARKED_SHARE = 0.7


@dataclass(slots=True)
class Document:
    kind: str  # the topic
    polarity: int
    sentences: list[Sentence]


class Writer:
    """Everything that writes text: the world, the grammar and one stream of random numbers."""

    def __init__(self, seed: str, language: int = 0):
        self.rng = Random(seed)
        lexicon = make_lexicon(language)
        self.world, self.grammar = World(lexicon, self.rng), Grammar(lexicon)

    def sentence(self, kind: str | None = None, polarity: int = 0, marked: bool = False) -> Sentence:
        """One sentence on its own."""
        world = self.world
        subject = world.adorn(world.referent(kind), polarity, marked)
        return self.grammar.sentence(world.proposition(subject, polarity, marked), marked)

    def document(
        self, kind: str, polarity: int, length: int, marked: bool, drift: float = 0.1, again: float = 0.5
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
            sentences.append(self.grammar.sentence(world.proposition(subject, colour, marked), marked))
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
        # a text that keeps to its subject is what next-sentence prediction can learn from
        return self.document(kind, polarity, length, marked, drift=0.05, again=0.85)
