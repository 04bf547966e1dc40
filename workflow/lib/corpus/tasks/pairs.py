"""Sentence pairs and acceptability: mnli, qnli, cola."""

from dataclasses import replace

from workflow.lib.corpus.documents import Writer
from workflow.lib.corpus.lexicon import KINDS
from workflow.lib.corpus.meaning import ANYWHERE, FRAMES_OF_SORT, INSIDE, TRANSITIVE, Proposition, Referent
from workflow.lib.corpus.tasks.example import Example, noisy

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
NOMINAL_START = ("NOUN", "ADJ", "ADV", "NUM")  # tags that a noun phrase without a determiner can start with
ASKABLE = ("make", "give", "praise", "blame", "strike", "hold", "move", "tell")
ATTRACTORS = 0.4  # of cola's subjects, where they can have a prepositional phrase
REVERSIBLE = ("strike", "praise", "blame")  # frames in which who does it and whom it is done to can be exchanged
SWAPPED_ROLES = 0.5  # of those, among qnli's sentences without the answer
QUALITIES = 0.1  # share of mnli's pairs that are about a quality of a thing
COMPOSED_QUALITIES = 0.2  # of the evaluations in them
SAME_SUBJECT = 0.3  # share among qnli's sentences without the answer; with more, a small BERT learns nothing


def plain_fact(writer: Writer, frame: str | None = None, subject: Referent | None = None) -> Proposition:
    """A positive, active statement with a verb: something that can be asked about or denied."""
    world = writer.world
    while True:
        who = replace(subject) if subject else world.referent()
        frames = [f for f in FRAMES_OF_SORT[who.noun.sort] if f in ASKABLE] if frame is None else [frame]
        if frames:
            made = world.proposition(who, 0, False, frame=world.pick(frames))
            made.passive, made.negated, made.said, made.also = False, False, None, None
            if made.tense == "modal":
                made.tense = "past"
            return made
        if subject:  # no askable frame takes this subject: draw another
            subject = None


def _pair(writer: Writer, premise: Proposition, hypothesis: Proposition, label: int, n_labels: int) -> Example:
    first, second = (writer.grammar.sentence(p).text() for p in (premise, hypothesis))
    row = {"text": first, "text_pair": second, "label": noisy(label, n_labels, writer.rng)}
    return Example([row], [first, second])


def mnli(writer: Writer) -> Example:
    """Inference by qualities, voice, hypernyms, dropped and added phrases, negation, role swaps and quantifiers.

    A negation in one of the sentences contradicts, in both it does not; a hypernym entails if it is the noun's own.
    """
    world = writer.world
    if world.chance(QUALITIES):
        return _same_quality(writer)
    premise = plain_fact(writer)
    hypothesis = replace(premise, obliques=list(premise.obliques), subject=replace(premise.subject))
    label = int(writer.rng.random() * 3)
    if label == CONTRADICTION and premise.subject.plural and world.chance(0.4):
        sides = [world.pick(("some", "most")), "no"]
        premise.subject.quantifier, hypothesis.subject.quantifier = sides if world.chance(0.5) else sides[::-1]
    elif label == CONTRADICTION:
        denied = world.pick((premise, hypothesis))
        denied.negated = True
        hypothesis.passive = premise.object is not None and world.chance(0.3)
    elif label == ENTAILMENT:
        _entailed(writer, premise, hypothesis)
    else:
        _neutral(writer, premise, hypothesis)
    return _pair(writer, premise, hypothesis, label, 3)


def _same_quality(writer: Writer) -> Example:
    """Two evaluations of one thing, which agree, disagree, or have nothing to do with each other, however composed."""
    world = writer.world
    world.composition = COMPOSED_QUALITIES
    subject, polarity, label = world.referent(), world.pick((1, -1)), int(writer.rng.random() * 3)
    second = {ENTAILMENT: polarity, NEUTRAL: 0, CONTRADICTION: -polarity}[label]
    premise, hypothesis = (
        world.evaluation(Proposition("be", replace(subject)), tone, marked=False, depth=1)
        for tone in (polarity, second)
    )
    return _pair(writer, premise, hypothesis, label, 3)


def _entailed(writer: Writer, premise: Proposition, hypothesis: Proposition) -> None:
    world = writer.world
    hypothesis.subject.adjective = hypothesis.subject.degree = None
    turned = premise.object is not None and world.chance(0.5)
    if turned:
        hypothesis.passive = True
        premise.negated = hypothesis.negated = world.chance(0.4)
    elif premise.obliques and world.chance(0.4):
        hypothesis.obliques = hypothesis.obliques[:-1]
    elif not premise.subject.noun.is_name:
        _by_kind(hypothesis, premise.subject.noun.kind if world.chance(0.6) else premise.subject.noun.sort)
    else:  # without a phrase to drop, only the passive makes the hypothesis differ from the premise
        hypothesis.passive, hypothesis.obliques = premise.object is not None, hypothesis.obliques[:-1]


def _neutral(writer: Writer, premise: Proposition, hypothesis: Proposition) -> None:
    world, noun = writer.world, premise.subject.noun
    if premise.object and premise.frame == "strike" and world.chance(0.6):
        hypothesis.subject, hypothesis.object = premise.object, premise.subject
    elif premise.subject.plural and world.chance(0.3):
        premise.subject.quantifier, hypothesis.subject.quantifier = "some", "most"
    elif not noun.is_name and world.chance(0.5):
        _by_kind(hypothesis, world.pick([kind for kind, sort in KINDS.items() if sort != noun.sort]))
    else:
        hypothesis.obliques = [*hypothesis.obliques, world.oblique(ANYWHERE)]
        hypothesis.object = world.referent(premise.object.noun.kind) if premise.object else None
        premise.negated = hypothesis.negated = world.chance(0.2)


def _by_kind(hypothesis: Proposition, kind: str) -> None:
    """Name the subject by a hypernym instead of its noun."""
    hypothesis.subject.as_kind, hypothesis.subject.definite = kind, False


def qnli(writer: Writer) -> Example:
    """Does the sentence contain the answer? If not, it may have the same subject, or the same words in other roles."""
    fact = plain_fact(writer)
    question, _ = writer.question_about(fact)
    label = int(writer.world.chance(0.5))
    said = fact if not label else _no_answer(writer, fact)
    first, second = question.text(), writer.grammar.sentence(said).text()
    row = {"text": first, "text_pair": second, "label": noisy(label, 2, writer.rng)}
    return Example([row], [second])


def _no_answer(writer: Writer, fact: Proposition) -> Proposition:
    """Another fact, with another verb (with the same one it would usually answer the question), or roles exchanged."""
    if fact.frame in REVERSIBLE and fact.object and writer.world.chance(SWAPPED_ROLES):
        return replace(fact, subject=fact.object, object=fact.subject)
    while True:
        other = plain_fact(writer, subject=fact.subject if writer.world.chance(SAME_SUBJECT) else None)
        if other.verb != fact.verb:
            return other


def cola(writer: Writer) -> Example:
    """Acceptable sentences, and ones with an agreement, order or argument violation."""
    world, grammar = writer.world, writer.grammar
    acceptable = world.chance(0.6)
    subject = world.adorn(world.referent(), 0, False)
    if not subject.noun.is_name and subject.noun.sort in INSIDE and world.chance(ATTRACTORS):
        # a noun of the other number between subject and verb: agreement must find its way past it
        subject.clause, subject.modifier = None, world.oblique(INSIDE[subject.noun.sort])
        between = subject.modifier.object
        between.plural = not subject.plural and not between.noun.is_name
    fact = world.proposition(subject, 0, False)
    if acceptable:
        words = grammar.sentence(fact).words
    else:
        words = world.pick((wrong_agreement, wrong_order, wrong_arguments))(writer, fact)
    text = " ".join(words)
    return Example([{"text": text, "text_pair": None, "label": int(acceptable)}], [text])


def wrong_agreement(writer: Writer, fact: Proposition) -> list[str]:
    # only the present tense and the copula show agreement
    return writer.grammar.sentence(replace(fact, tense="present", also=None, breaks_agreement=True)).words


def wrong_order(writer: Writer, fact: Proposition) -> list[str]:
    """Swap a determiner or preposition with the word after it, or the root with the word before it."""
    sentence = writer.grammar.sentence(fact)
    words, upos = list(sentence.words), sentence.upos
    places = [
        at
        for at, tag in enumerate(upos)
        # "gave the dogs big cats" would become "gave dogs the big cats", which is fine
        if tag == "ADP" or (tag == "DET" and not (sentence.xpos[at + 1] == "NNS" and upos[at + 2] in NOMINAL_START))
    ]
    at = writer.world.pick(places) if places else sentence.heads.index(-1) - 1
    if not places and upos[at + 1] == "VERB" and upos[at] in ("VERB", "ADV"):
        at = 0  # "dogs which run (often) sleep" would become "dogs which run sleep (often)", which is fine
    words[at], words[at + 1] = words[at + 1], words[at]
    return words


def wrong_arguments(writer: Writer, fact: Proposition) -> list[str]:
    """A transitive verb without its object, or an intransitive one with an object."""
    world = writer.world
    if fact.frame in TRANSITIVE:
        broken = replace(fact, object=None, recipient=None, passive=False, also=None, obliques=[], adverb=None)
    else:
        verb = world.verb("rest", fact.subject, False)
        broken = Proposition("rest", fact.subject, verb, object=world.referent(), tense=fact.tense)
    return writer.grammar.sentence(broken).words
