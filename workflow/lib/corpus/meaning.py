"""Content of sentences: referents, propositions about them, and the world, which draws plausible propositions."""

from dataclasses import dataclass, field, replace
from functools import cache
from random import Random

from workflow.lib.corpus.lexicon import FRAMES, KINDS, NUMERALS, QUANTIFIERS, SIDE_KINDS, Lexicon, Noun, Verb


@dataclass(slots=True)
class Referent:
    """An entity in a document; mentions with the same `ident` corefer."""

    noun: Noun
    plural: bool = False
    ident: int = 0
    definite: bool = True
    quantifier: str | None = None  # some, no, most, few, or a numeral
    adjective: str | None = None
    degree: str | None = None
    modifier: "Oblique | None" = None  # a prepositional phrase inside the noun phrase
    clause: "Proposition | None" = None  # a relative clause, whose subject is this referent
    as_pronoun: bool = False
    as_kind: str | None = None  # mention it by this hypernym instead of its noun


@dataclass(slots=True)
class Oblique:
    preposition: str
    object: Referent
    role: str  # the scene role, which depends on the phrase's governor
    function: str  # the preposition's own function
    argument: str  # the label in semantic-role labelling


@dataclass(slots=True)
class Proposition:
    frame: str  # a key of lexicon.FRAMES, or "be" (adjective), or "be a" (hypernym)
    subject: Referent
    verb: Verb | None = None
    object: Referent | None = None
    recipient: Referent | None = None
    obliques: list[Oblique] = field(default_factory=list)
    adjective: str | None = None
    degree: str | None = None
    polarity: int = 0
    category: str | None = None  # a kind or a sort, for "be a"
    tense: str = "present"  # present, past, modal
    negated: bool = False
    hedged: bool = False  # "hardly" before the quality, which denies it
    passive: bool = False
    adverb: str | None = None
    said: "Proposition | None" = None  # a clausal complement
    also: "Proposition | None" = None  # a second predicate of the same subject
    contrast: bool = False  # ... which is joined by "but": it is the one that counts
    breaks_agreement: bool = False  # the finite verb takes the wrong number (for unacceptable sentences)


# A preposition's sense depends on its object and on its governor:
# (preposition, sort of its object, role, function, argument label)
ANYWHERE = (
    ("in", "place", "Locus", "Locus", "ARGM-LOC"),
    ("at", "place", "Locus", "Locus", "ARGM-LOC"),
    ("by", "place", "Locus", "Locus", "ARGM-LOC"),
    ("in", "time", "Time", "Time", "ARGM-TMP"),
    ("on", "time", "Time", "Time", "ARGM-TMP"),
    ("by", "time", "Time", "Interval", "ARGM-TMP"),
    ("for", "time", "Duration", "Duration", "ARGM-TMP"),
    ("at", "event", "Circumstance", "Locus", "ARGM-TMP"),
    ("for", "event", "Purpose", "Purpose", "ARGM-PRP"),
    ("with", "tool", "Instrument", "Instrument", "ARGM-MNR"),
    ("with", "event", "Manner", "Manner", "ARGM-MNR"),
    ("with", "person", "Ancillary", "Ancillary", "ARGM-COM"),
    ("for", "person", "Beneficiary", "Beneficiary", "ARGM-GOL"),
)
GOVERNED = {
    "move": (
        ("to", "place", "Goal", "Goal", "ARG4"),
        ("into", "place", "Goal", "Goal", "ARG4"),
        ("to", "person", "Goal", "Goal", "ARG4"),
        ("from", "place", "Source", "Source", "ARG3"),
        ("by", "machine", "Means", "Means", "ARGM-MNR"),
    ),
    "tell": (
        ("to", "person", "Recipient", "Goal", "ARG2"),
        ("about", None, "Topic", "Topic", "ARG1"),
        ("with", "person", "CoAgent", "Ancillary", "ARG2"),
    ),
    "give": (("from", "person", "Originator", "Source", "ARG3"),),
    "make": (("from", "material", "Stuff", "Source", "ARG2"), ("with", "person", "CoAgent", "Ancillary", "ARGM-COM")),
}
INSIDE = {  # prepositional phrases inside noun phrases, by the sort of the noun they modify
    "person": (
        ("of", "organisation", "OrgMember", "Gestalt", ""),
        ("from", "place", "Origin", "Source", ""),
        ("with", "part", "Characteristic", "Characteristic", ""),
    ),
    "organisation": (("of", "person", "Possessor", "Gestalt", ""), ("in", "place", "Locus", "Locus", "")),
    "work": (
        ("by", "person", "Originator", "Agent", ""),
        ("about", None, "Topic", "Topic", ""),
        ("of", "person", "Possessor", "Gestalt", ""),
    ),
    "machine": (("of", "person", "Possessor", "Gestalt", ""), ("of", "material", "Stuff", "Stuff", "")),
    "creature": (("from", "place", "Origin", "Source", ""), ("with", "part", "Characteristic", "Characteristic", "")),
    "place": (
        ("of", "organisation", "Possessor", "Gestalt", ""),
        ("with", "part", "PartPortion", "Characteristic", ""),
    ),
    "part": (("of", "machine", "Whole", "Gestalt", ""), ("of", "place", "Whole", "Gestalt", "")),
    "material": (("in", "place", "Locus", "Locus", ""), ("in", "machine", "Container", "Locus", "")),
}
COMPOSITION = 0.4
SECONDED = 0.25  # of the evaluations that no "but" follows
TRANSITIVE = ("make", "give", "praise", "blame", "strike", "hold")  # frames with an object


@cache
def zipfian(nouns: tuple[Noun, ...]) -> tuple[Noun, ...]:
    """Nouns repeated according to rank, so that a uniform draw gives roughly Zipfian frequencies."""
    return tuple(noun for rank, noun in enumerate(nouns) for _ in range(max(1, round(24 / (rank + 4)))))


class World:
    """Draws referents and propositions that respect selectional preferences."""

    def __init__(self, lexicon: Lexicon, rng: Random):
        self.lexicon, self.rng = lexicon, rng
        self.richness = 1.0  # factor on the frequency of optional parts: adjectives, phrases, clauses, adverbs
        self.composition = COMPOSITION  # share of the evaluations whose polarity is not that of their adjective
        self._idents = 0
        self._nouns = {kind: zipfian(nouns) for kind, nouns in lexicon.nouns.items()}
        self._names = {kind: zipfian(names) for kind, names in lexicon.names.items()}
        self._kinds = {sort: kinds for sort, kinds in lexicon.kinds_of_sort.items()}
        self._kinds |= {sort: (kind,) for kind, sort in SIDE_KINDS.items()}
        self._all_kinds = tuple(KINDS)
        self._sorts_of = {frame: (subjects, objects) for frame, (_, subjects, objects) in FRAMES.items()}

    def pick(self, options):
        return options[int(self.rng.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def referent(self, kind: str | None = None, sort: str | None = None, name: float = 0.25) -> Referent:
        if kind is None:
            kind = self.pick(self._kinds[sort] if sort else self._all_kinds)
        self._idents += 1
        if kind in self._names and self.rng.random() < name:
            return Referent(self.pick(self._names[kind]), False, self._idents)
        return Referent(self.pick(self._nouns[kind]), self.chance(0.4), self._idents, definite=self.chance(0.6))

    def verb(self, frame: str, subject: Referent, marked: bool) -> Verb:
        if frame == "rest" and marked and subject.noun.kind in self.lexicon.kind_verbs:
            return self.pick(self.lexicon.kind_verbs[subject.noun.kind])
        return self.pick(self.lexicon.verbs[frame])

    def oblique(self, options: tuple) -> Oblique:
        preposition, sort, role, function, argument = self.pick(options)
        inside = self.referent(sort=sort)
        if not inside.noun.is_name and inside.noun.sort in INSIDE and self.rng.random() < 0.1:
            inside.modifier = self.oblique(INSIDE[inside.noun.sort])
        return Oblique(preposition, inside, role, function, argument)

    def adorn(self, referent: Referent, polarity: int, marked: bool, depth: int = 0) -> Referent:
        """Give a referent, at random, an adjective, a prepositional phrase, a relative clause or a quantifier."""
        if referent.noun.is_name:
            return referent
        if self.rng.random() < 0.35 * self.richness:
            sign = polarity if self.rng.random() < 0.7 else 0
            referent.adjective, referent.degree = self.quality(sign, marked, 0.3)
        draw = self.rng.random() / self.richness
        sort = referent.noun.sort
        if draw < 0.18 and sort in INSIDE:
            referent.modifier = self.oblique(INSIDE[sort])
        elif draw < 0.26 and depth == 0:
            referent.clause = self.proposition(
                Referent(referent.noun, referent.plural, referent.ident), 0, marked, depth=1
            )
        elif draw < 0.36 and referent.plural:
            referent.quantifier = self.pick(NUMERALS + QUANTIFIERS)
        return referent

    def quality(self, polarity: int, marked: bool, degree: float) -> tuple[str, str | None]:
        """An adjective of a polarity, and perhaps a degree word, which in marked text agrees with the polarity."""
        word = self.pick(self.lexicon.adjectives[polarity])
        if self.rng.random() >= (0.6 if marked else degree):
            return word, None
        return word, self.pick(self.lexicon.degrees[polarity if marked else 0])

    def proposition(
        self, subject: Referent, polarity: int, marked: bool, frame: str | None = None, depth: int = 0
    ) -> Proposition:
        """A random proposition about the subject. `polarity` is that of its evaluations; 0: neutral."""
        rng = self.rng
        sort = subject.noun.sort
        if frame is None:
            frame = self.pick(FRAMES_OF_SORT[sort])
            if marked and rng.random() < 0.3:
                frame = "rest"  # in marked text this frame's verb gives the class of the subject
            elif frame == "be a" and not marked:
                frame = "rest"  # naming the class would mark it too
            if polarity and depth == 0 and rng.random() < 0.45:
                frame = "be"
        made = Proposition(frame, subject, tense="present" if rng.random() < 0.6 else "past")
        if frame == "be":
            return self.evaluation(made, polarity, marked, depth)
        if frame == "be a":
            made.category = subject.noun.kind if rng.random() < 0.7 else sort
            made.tense = "present"
        else:
            made.verb = self.verb(frame, subject, marked)
            self.complete(made, polarity, marked, depth)
        if rng.random() < 0.12 and frame != "doubt":
            made.negated = True
            if frame == "be a":
                made.category = self.pick([kind for kind in self._all_kinds if kind != subject.noun.kind])
        elif made.verb and rng.random() < 0.08:
            made.tense = "modal"
        return made

    def evaluation(self, made: Proposition, polarity: int, marked: bool, depth: int = 0) -> Proposition:
        """Say a quality of the subject, so that the whole has this polarity, however that is composed.

        The opposite quality may be denied (not, hardly), doubted by somebody, or outweighed by what follows "but".
        """
        made.polarity = polarity
        if polarity == 0 or self.rng.random() >= self.composition:
            made.adjective, made.degree = self.quality(polarity, marked, 0.5)
            made.negated = polarity == 0 and self.rng.random() < 0.12
            return self.seconded(made, polarity, marked, depth)
        made.adjective, made.degree = self.quality(-polarity, marked, 0.5)
        draw = self.rng.random()
        if draw < 0.35 or (depth and draw < 0.7):
            made.negated = True
        elif draw < 0.5 or depth:
            made.hedged, made.degree = True, None
        elif draw < 0.8:
            second = Proposition("be", made.subject, tense=made.tense, polarity=polarity)
            second.adjective, second.degree = self.quality(polarity, marked, 0.5)
            made.also, made.contrast = second, True
        else:
            doubter = self.referent(sort="person")
            tense = "present" if self.rng.random() < 0.6 else "past"
            return Proposition("doubt", doubter, self.verb("doubt", doubter, marked), said=made, polarity=polarity,
                               tense=tense)  # fmt: skip
        return made if made.contrast else self.seconded(made, polarity, marked, depth)

    def seconded(self, made: Proposition, polarity: int, marked: bool, depth: int) -> Proposition:
        """Perhaps another quality of the same polarity, joined by "and"."""
        if polarity and depth == 0 and self.rng.random() < SECONDED:
            made.also = Proposition("be", made.subject, tense=made.tense, polarity=polarity)
            made.also.adjective, made.also.degree = self.quality(polarity, marked, 0.5)
        return made

    def reaction(self, thing: Referent, polarity: int, marked: bool) -> Proposition:
        """Somebody praises or blames a thing."""
        who, frame = self.referent(sort="person"), "praise" if polarity > 0 else "blame"
        made = Proposition(frame, who, self.verb(frame, who, marked), thing, polarity=polarity)
        made.tense, made.passive = self.pick(("present", "past")), self.chance(0.3)
        return made

    def complete(self, made: Proposition, polarity: int, marked: bool, depth: int) -> None:
        """Add the objects, recipients, prepositional phrases and adverbs that the frame requires or allows."""
        rng, frame = self.rng, made.frame
        if frame == "doubt":
            made.said = self.proposition(self.referent(), -polarity, marked, depth=1)
            return
        objects = self._sorts_of[frame][1]
        if frame in TRANSITIVE or frame == "cause":
            sort = self.pick(tuple(sorted(objects))) if objects else None
            made.object = self.referent(sort=sort)
            if depth == 0:
                self.adorn(made.object, polarity, marked, depth=1)
            made.passive = depth == 0 and frame != "give" and rng.random() < 0.15
        if frame == "give":
            made.recipient = self.referent(sort="person" if rng.random() < 0.7 else "organisation")
        governed = GOVERNED.get(frame)
        if governed and (frame in ("move", "tell") or rng.random() < 0.3):
            made.obliques.append(self.oblique(governed))
        if rng.random() < 0.22 * self.richness:
            made.obliques.append(self.oblique(ANYWHERE))
        if frame == "tell" and depth == 0 and rng.random() < 0.4:
            speaker = replace(
                made.subject, as_pronoun=True, adjective=None, modifier=None, clause=None, quantifier=None
            )
            told_of = speaker if rng.random() < 0.5 else self.referent()
            made.obliques, made.said = [], self.proposition(told_of, polarity, marked, depth=1)
        elif depth == 0 and rng.random() < 0.08 * self.richness:
            shared = Referent(made.subject.noun, made.subject.plural, made.subject.ident)
            made.also = self.proposition(shared, polarity, marked, depth=1)
        if rng.random() < 0.15 * self.richness:
            made.adverb = self.pick(self.lexicon.adverbs)


def _frames_of_sort() -> dict[str, tuple[str, ...]]:
    found = {}
    for sort in {*KINDS.values(), *SIDE_KINDS.values()}:
        frames = [frame for frame, (_, subjects, _) in FRAMES.items() if subjects is None or sort in subjects]
        # frames that suit any sort are added once more, so that verbs do not give a subject's sort away
        found[sort] = tuple(sorted(frames)) + (("rest", "be", "be a") if sort in KINDS.values() else ("rest",))
    return found


FRAMES_OF_SORT = _frames_of_sort()
