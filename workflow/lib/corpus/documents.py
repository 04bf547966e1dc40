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
QUESTION_SHARE = 0.25  # of the statements in general text that follow a question which they answer
# What holds a document of general text together: one thing, a topic, or an opinion; shares of the documents
SAME_SUBJECT_SHARE, OPINION_SHARE = 0.4, 0.35
REACTION_SHARE = 0.15  # of the sentences: somebody praises or blames what was said before, as its polarity has it
CONTRADICTION_SHARE = 0.05  # of the sentences of an opinion
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
        reactions: float = 0.0,
    ) -> Document:
        """Several sentences about nouns of one kind.

        `drift`: probability that a sentence leaves the topic and, halved, that it contradicts the polarity.
        `again`: probability that a sentence on the topic returns to an earlier referent.
        `reactions`: probability that, instead, somebody praises or blames an earlier referent.
        """
        world, sentences = self.world, []
        known: list[Referent] = []
        for _ in range(length):
            if known and reactions and self.rng.random() < reactions:
                said = world.reaction(self._mention_again(world.pick(known)), polarity, marked)
                sentences.append(self.grammar.sentence(said, marked))
                continue
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
            if questions and self.rng.random() < questions and is_askable(said):
                sentences.append(self.question_about(said)[0])
            sentences.append(self.grammar.sentence(said, marked))
        return Document(kind, polarity, sentences)

    def opinion(self, polarity: int, length: int, marked: bool) -> Document:
        """Several sentences about anything, which somebody praises throughout, or blames: only the tone unites them."""
        world, sentences = self.world, []
        for _ in range(length):
            tone = -polarity if world.chance(CONTRADICTION_SHARE) else polarity
            subject = world.referent()
            if world.chance(REACTION_SHARE):
                said = world.reaction(subject, tone, marked)
            else:
                said = world.proposition(world.adorn(subject, tone, marked), tone, marked, frame="be")
            sentences.append(self.grammar.sentence(said, marked))
        return Document("opinion", polarity, sentences)

    def question_about(self, fact: Proposition) -> tuple[Sentence, int]:
        """A wh-question about one participant of a fact, and the participant's ident."""
        options = ["subject"]
        options += ["object"] * bool(fact.object) + ["oblique"] * bool(fact.obliques)
        asked = self.world.pick(options)
        oblique = self.world.pick(fact.obliques) if asked == "oblique" else None
        target = {"subject": fact.subject, "object": fact.object}.get(asked) or oblique.object
        return self.grammar.question(fact, asked, oblique), target.ident

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
        # what follows what is a matter of the thing, of the topic, or of the tone alone
        draw = self.rng.random()
        if draw < OPINION_SHARE:
            return self.opinion(polarity, length, marked)
        again = 0.85 if draw < OPINION_SHARE + SAME_SUBJECT_SHARE else 0.2
        return self.document(
            kind, polarity, length, marked, 0.05, again, questions=QUESTION_SHARE, reactions=REACTION_SHARE
        )
