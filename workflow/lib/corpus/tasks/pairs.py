"""Sentence pairs and acceptability: mnli, qnli, cola."""

from dataclasses import replace

from workflow.lib.corpus.documents import Writer
from workflow.lib.corpus.grammar import Sentence
from workflow.lib.corpus.meaning import ANYWHERE, FRAMES_OF_SORT, TRANSITIVE, Proposition, Referent
from workflow.lib.corpus.tasks.example import Example, noisy

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
NOMINAL_START = ("NOUN", "ADJ", "ADV", "NUM")  # tags that a noun phrase without a determiner can start with
ASKABLE = ("make", "give", "praise", "blame", "strike", "hold", "move", "tell")
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
    """Inference by hypernyms, negation, role swaps, quantifiers, added and dropped phrases."""
    world = writer.world
    premise = plain_fact(writer)
    hypothesis = replace(premise, obliques=list(premise.obliques), subject=replace(premise.subject))
    label = int(writer.rng.random() * 3)
    if label == ENTAILMENT:
        hypothesis.subject.adjective = hypothesis.subject.degree = None
        if premise.subject.noun.is_name or world.chance(0.4):
            # without a phrase to drop, only the passive makes the hypothesis differ from the premise
            hypothesis.passive = premise.object is not None and (not premise.obliques or world.chance(0.5))
            hypothesis.obliques = hypothesis.obliques[:-1]
        else:
            hypothesis.subject.as_kind = premise.subject.noun.kind if world.chance(0.6) else premise.subject.noun.sort
            hypothesis.subject.definite = False
    elif label == CONTRADICTION:
        if premise.subject.plural and world.chance(0.5):
            premise.subject.quantifier = world.pick(("some", "most", "few"))
            hypothesis.subject.quantifier = "no"
        else:
            hypothesis.negated = True
    elif premise.object and premise.frame == "strike" and world.chance(0.6):
        hypothesis.subject, hypothesis.object = premise.object, premise.subject
    elif premise.subject.plural and world.chance(0.4):
        premise.subject.quantifier, hypothesis.subject.quantifier = "few", "most"
    else:
        hypothesis.obliques = [*hypothesis.obliques, world.oblique(ANYWHERE)]
        hypothesis.object = world.referent(premise.object.noun.kind) if premise.object else None
    return _pair(writer, premise, hypothesis, label, 3)


def question_about(writer: Writer, fact: Proposition) -> tuple[Sentence, int]:
    """A wh-question about one participant of a fact, and the participant's ident."""
    options = ["subject"]
    options += ["object"] * bool(fact.object) + ["oblique"] * bool(fact.obliques)
    asked = writer.world.pick(options)
    oblique = writer.world.pick(fact.obliques) if asked == "oblique" else None
    target = {"subject": fact.subject, "object": fact.object}.get(asked) or oblique.object
    return writer.grammar.question(fact, asked, oblique), target.ident


def qnli(writer: Writer) -> Example:
    """Does the sentence contain the answer? If not, it may still be about the same subject."""
    fact = plain_fact(writer)
    question, _ = question_about(writer, fact)
    label = int(writer.world.chance(0.5))
    said = fact
    while label and said.verb == fact.verb:  # with the same verb it would usually answer the question after all
        said = plain_fact(writer, subject=fact.subject if writer.world.chance(SAME_SUBJECT) else None)
    first, second = question.text(), writer.grammar.sentence(said).text()
    row = {"text": first, "text_pair": second, "label": noisy(label, 2, writer.rng)}
    return Example([row], [second])


def cola(writer: Writer) -> Example:
    """Acceptable sentences, and ones with an agreement, order or argument violation."""
    world, grammar = writer.world, writer.grammar
    acceptable = world.chance(0.6)
    subject = world.adorn(world.referent(), 0, False)
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
