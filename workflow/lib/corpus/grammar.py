"""Turns propositions into sentences, and writes all annotations along with the words.

Word positions are 0-based, spans are half-open, and the head of the root is -1 (`as_conllu_heads` gives 1-based ones).
"""

from dataclasses import replace

from workflow.lib.corpus.lexicon import ANIMATE, Lexicon
from workflow.lib.corpus.meaning import Oblique, Proposition, Referent

# argument labels of subject and object, by frame
ROLES = {"rest": ("ARG1", ""), "be": ("ARG1", "ARG2"), "be a": ("ARG1", "ARG2"), "hold": ("ARG0", "ARG1")}
# proto-role properties that a frame gives to its subject and object, in addition to those of the noun's sort
PROPERTIES = {
    "move": ({"instigation", "change_of_location", "volition"}, set()),
    "make": ({"instigation", "volition", "manipulated_by_another"}, {"created", "existed_after", "change_of_state"}),
    "give": ({"instigation", "volition", "makes_physical_contact"}, {"change_of_possession", "manipulated_by_another"}),
    "praise": ({"instigation", "awareness"}, {"stationary"}),
    "blame": ({"instigation", "awareness"}, {"stationary"}),
    "tell": ({"instigation", "awareness", "volition"}, set()),
    "doubt": ({"awareness", "sentient"}, set()),
    "strike": ({"instigation", "makes_physical_contact"}, {"change_of_state", "makes_physical_contact", "destroyed"}),
    "hold": ({"stationary", "location_of_event"}, {"stationary", "predicate_changed_argument"}),
    "cause": ({"instigation", "existed_before"}, {"created", "exists_as_physical"}),
    "rest": ({"stationary"}, set()),
}
RELATION_OF_ROLE = {  # nominal relation expressed by a prepositional phrase: (relation, is the governor first?)
    "Goal": ("Entity-Destination", True),
    "Source": ("Entity-Origin", True),
    "Origin": ("Entity-Origin", True),
    "Instrument": ("Instrument-Agency", False),
    "OrgMember": ("Member-Collection", True),
    "Topic": ("Message-Topic", True),
    "Whole": ("Component-Whole", True),
    "PartPortion": ("Component-Whole", False),
    "Container": ("Content-Container", True),
    "Originator": ("Product-Producer", True),
}
RELATION_IN_CLAUSE = ("Goal", "Source", "Instrument")  # roles that relate a verb's prepositional phrase to its agent
RELATION_OF_FRAME = {"make": ("Product-Producer", False), "cause": ("Cause-Effect", True)}
PRONOUNS = {"plural": ("they", "them"), "she": ("she", "her"), "he": ("he", "him"), "it": ("it", "it")}


class Sentence:
    """Words and their annotations; the functions below append to each list in order."""

    __slots__ = (
        "arguments",  # (predicate, start, end, label)
        "constituents",  # (start, end, label)
        "deprels",
        "entities",  # (start, end, sort), proper names only
        "heads",
        "mentions",  # (start, end, ident)
        "prepositions",  # (position, role, function)
        "properties",  # (predicate, head of the argument, properties)
        "relations",  # (head of the first nominal, head of the second, relation)
        "upos",
        "words",
        "xpos",
    )

    def __init__(self):
        for name in self.__slots__:
            setattr(self, name, [])

    def add(self, word: str, upos: str, xpos: str, deprel: str, head: int = -1) -> int:
        self.words.append(word)
        self.upos.append(upos)
        self.xpos.append(xpos)
        self.deprels.append(deprel)
        self.heads.append(head)
        return len(self.words) - 1

    def attach(self, child: int, head: int, deprel: str) -> None:
        self.heads[child] = head
        self.deprels[child] = deprel

    def as_conllu_heads(self) -> list[int]:
        return [head + 1 for head in self.heads]

    def text(self) -> str:
        return " ".join(self.words)

    def extend(self, other: "Sentence") -> None:
        """Append another sentence. Its root stays a root, so the result is a document, not a single tree."""
        shift = len(self.words)
        for name in ("words", "upos", "xpos", "deprels"):
            getattr(self, name).extend(getattr(other, name))
        self.heads.extend(head + shift if head >= 0 else -1 for head in other.heads)
        self.arguments.extend((p + shift, a + shift, b + shift, label) for p, a, b, label in other.arguments)
        for name in ("constituents", "entities", "mentions"):
            getattr(self, name).extend((a + shift, b + shift, label) for a, b, label in getattr(other, name))
        self.prepositions.extend((at + shift, role, function) for at, role, function in other.prepositions)
        for name in ("properties", "relations"):
            getattr(self, name).extend((a + shift, b + shift, what) for a, b, what in getattr(other, name))


def pronoun(referent: Referent, is_object: bool) -> str:
    if referent.plural:
        forms = PRONOUNS["plural"]
    elif referent.noun.sort == "person":
        forms = PRONOUNS["she" if referent.noun.feminine else "he"]
    else:
        forms = PRONOUNS["it"]
    return forms[is_object]


class Grammar:
    """Writes sentences with one lexicon. `marked` text has articles that agree with the class of their noun."""

    def __init__(self, lexicon: Lexicon):
        self.articles = lexicon.articles

    # noun phrases ---------------------------------------------------------------------------------------------------

    def noun_phrase(self, s: Sentence, referent: Referent, marked: bool, is_object: bool = False) -> int:
        """Write a noun phrase and return the position of its head, whose own head the caller sets."""
        words = s.words
        start = len(words)
        if referent.as_pronoun:
            head = s.add(pronoun(referent, is_object), "PRON", "PRP", "dep")
            s.mentions.append((start, start + 1, referent.ident))
            s.constituents.append((start, start + 1, "NP"))
            return head
        noun = referent.noun
        if noun.is_name:
            head = s.add(noun.singular, "PROPN", "NNP", "dep")
            s.entities.append((start, head + 1, noun.sort))
        else:
            self._before_noun(s, referent, marked)
            if referent.as_kind:
                word = referent.as_kind + "s" if referent.plural else referent.as_kind
            else:
                word = noun.plural if referent.plural else noun.singular
            head = s.add(word, "NOUN", "NNS" if referent.plural else "NN", "dep")
            heads = s.heads
            for position in range(start, head):
                if heads[position] < 0:
                    heads[position] = head
            if referent.modifier:
                self.prepositional_phrase(s, referent.modifier, head, "nmod", marked)
            if referent.clause:
                self._relative_clause(s, referent, head, marked)
        end = len(words)
        s.mentions.append((start, end, referent.ident))
        s.constituents.append((start, end, "NP"))
        return head

    def _before_noun(self, s: Sentence, referent: Referent, marked: bool) -> None:
        """Write article or quantifier, then degree word and adjective; head -1 stands for the noun to come."""
        quantifier = referent.quantifier
        if quantifier:
            is_determiner = quantifier in ("some", "no", "most", "few")
            s.add(quantifier, *(("DET", "DT", "det") if is_determiner else ("NUM", "CD", "nummod")))
        elif marked and referent.noun.kind in self.articles and not referent.as_kind:
            s.add(self.articles[referent.noun.kind], "DET", "DT", "det")
        elif referent.definite:
            s.add("the", "DET", "DT", "det")
        elif not referent.plural:
            s.add("a", "DET", "DT", "det")
        if referent.adjective:
            at = len(s.words)
            if referent.degree:
                s.add(referent.degree, "ADV", "RB", "advmod", at + 1)
                s.constituents.append((at, at + 2, "ADJP"))
            s.add(referent.adjective, "ADJ", "JJ", "amod")

    def _relative_clause(self, s: Sentence, referent: Referent, head: int, marked: bool) -> None:
        start = len(s.words)
        word = "who" if referent.noun.sort == "person" else "which"
        gap = s.add(word, "PRON", "WP" if word == "who" else "WDT", "nsubj")
        s.constituents.append((start, start + 1, "WHNP"))
        verb = self.predicate(s, referent.clause, (head, gap, gap + 1), marked, gap)
        s.attach(verb, head, "acl:relcl")
        s.constituents.append((start, len(s.words), "SBAR"))

    def prepositional_phrase(self, s: Sentence, oblique: Oblique, head: int, deprel: str, marked: bool) -> tuple:
        """Write the phrase under `head`; returns (head of its noun phrase, start, end)."""
        start = len(s.words)
        case = s.add(oblique.preposition, "ADP", "TO" if oblique.preposition == "to" else "IN", "case")
        noun = self.noun_phrase(s, oblique.object, marked, is_object=True)
        s.heads[case] = noun
        s.attach(noun, head, deprel)
        end = len(s.words)
        s.constituents.append((start, end, "PP"))
        s.prepositions.append((case, oblique.role, oblique.function))
        if deprel == "nmod" and oblique.role in RELATION_OF_ROLE:
            self._relate(s, head, noun, *RELATION_OF_ROLE[oblique.role])
        return noun, start, end

    @staticmethod
    def _relate(s: Sentence, first: int, second: int, relation: str, in_order: bool) -> None:
        s.relations.append((first, second, relation) if in_order else (second, first, relation))

    # predicates ------------------------------------------------------------------------------------------------------

    def predicate(self, s: Sentence, p: Proposition, subject: tuple, marked: bool, subject_word: int) -> int:
        """Write everything after the subject. `subject` = (head noun, start, end); returns the predicate's position."""
        start = len(s.words)
        plural = p.subject.plural != p.breaks_agreement
        root = self._copula(s, p, plural, marked) if p.frame in ("be", "be a") else self._verb_group(s, p, plural)
        passive = p.passive and p.object is not None
        s.attach(subject_word, root, "nsubj:pass" if passive else "nsubj")
        self._participants(s, p, root, subject, marked, passive)
        s.constituents.append((start, len(s.words), "VP"))
        return root

    def _copula(self, s: Sentence, p: Proposition, plural: bool, marked: bool) -> int:
        past = p.tense == "past"
        form = ("were" if plural else "was") if past else ("are" if plural else "is")
        held = [s.add(form, "AUX", "VBD" if past else "VBP" if plural else "VBZ", "cop")]
        if p.negated:
            held.append(s.add("not", "PART", "RB", "advmod"))
        if p.hedged:
            held.append(s.add("hardly", "ADV", "RB", "advmod"))
        at = len(s.words)
        if p.frame == "be":
            if p.degree:
                s.add(p.degree, "ADV", "RB", "advmod", at + 1)
            root = s.add(p.adjective, "ADJ", "JJ", "root")
            s.constituents.append((at, root + 1, "ADJP"))
        else:
            if not plural:
                held.append(s.add("a", "DET", "DT", "det"))
            root = s.add(p.category + "s" if plural else p.category, "NOUN", "NNS" if plural else "NN", "root")
            s.constituents.append((at, root + 1, "NP"))
        for word in held:
            s.heads[word] = root
        if p.negated:
            s.arguments.append((root, held[1], held[1] + 1, "ARGM-NEG"))
        return root

    def _verb_group(self, s: Sentence, p: Proposition, plural: bool) -> int:
        """Write auxiliaries, negation and the verb, with agreement; returns the verb's position."""
        verb, tense = p.verb, p.tense
        held: list[int] = []
        negation = modal = -1
        if p.passive and p.object is not None:
            past = tense != "present"
            form = ("were" if plural else "was") if past else ("are" if plural else "is")
            held.append(s.add(form, "AUX", "VBD" if past else "VBP" if plural else "VBZ", "aux:pass"))
            if p.negated:
                negation = s.add("not", "PART", "RB", "advmod")
            word, xpos = verb.past, "VBN"
        elif p.negated or tense == "modal":
            if tense == "modal":
                modal = s.add("will", "AUX", "MD", "aux")
                held.append(modal)
            elif tense == "past":
                held.append(s.add("did", "AUX", "VBD", "aux"))
            else:
                held.append(s.add("do" if plural else "does", "AUX", "VBP" if plural else "VBZ", "aux"))
            if p.negated:
                negation = s.add("not", "PART", "RB", "advmod")
            word, xpos = verb.base, "VB"
        elif tense == "past":
            word, xpos = verb.past, "VBD"
        else:
            word, xpos = (verb.base, "VBP") if plural else (verb.third, "VBZ")
        root = s.add(word, "VERB", xpos, "root")
        for position in held:
            s.heads[position] = root
        if negation >= 0:
            s.heads[negation] = root
            s.arguments.append((root, negation, negation + 1, "ARGM-NEG"))
        if modal >= 0:
            s.arguments.append((root, modal, modal + 1, "ARGM-MOD"))
        return root

    def _participants(
        self, s: Sentence, p: Proposition, root: int, subject: tuple, marked: bool, passive: bool
    ) -> None:
        frame, arguments = p.frame, s.arguments
        subject_head, start, end = subject
        agent = subject_head
        subject_label, object_label = ROLES.get(frame, ("ARG0", "ARG1"))
        of_subject, of_object = PROPERTIES.get(frame, (frozenset(), frozenset()))
        if passive:
            # `p` is already turned: the agent, now p.object, follows "by"
            arguments.append((root, start, end, object_label))
            self._note_properties(s, root, subject_head, p.subject, of_object)
            role = "Agent" if p.object.noun.sort in ANIMATE else "Causer"
            by = Oblique("by", p.object, role, "Agent", subject_label)
            agent, phrase_start, phrase_end = self.prepositional_phrase(s, by, root, "obl:agent", marked)
            arguments.append((root, phrase_start, phrase_end, subject_label))
            self._note_properties(s, root, agent, p.object, of_subject)
            if frame in RELATION_OF_FRAME:
                self._relate(s, agent, subject_head, *RELATION_OF_FRAME[frame])
        else:
            arguments.append((root, start, end, subject_label))
            self._note_properties(s, root, subject_head, p.subject, of_subject)
            if p.recipient and not p.obliques:
                self._bare(s, p.recipient, root, "iobj", "ARG2", marked)
            if p.object:
                noun = self._bare(s, p.object, root, "obj", object_label, marked)
                self._note_properties(s, root, noun, p.object, of_object)
                self._relate(s, subject_head, noun, *RELATION_OF_FRAME.get(frame, ("Other", True)))
            if p.recipient and p.obliques:
                to = Oblique("to", p.recipient, "Recipient", "Goal", "ARG2")
                _, phrase_start, phrase_end = self.prepositional_phrase(s, to, root, "obl", marked)
                arguments.append((root, phrase_start, phrase_end, "ARG2"))
        if p.adverb:
            at = s.add(p.adverb, "ADV", "RB", "advmod", root)
            arguments.append((root, at, at + 1, "ARGM-MNR"))
            s.constituents.append((at, at + 1, "ADVP"))
        for oblique in p.obliques:
            temporal = oblique.object.noun.sort == "time"
            noun, phrase_start, phrase_end = self.prepositional_phrase(
                s, oblique, root, "obl:tmod" if temporal else "obl", marked
            )
            arguments.append((root, phrase_start, phrase_end, oblique.argument))
            if oblique.role in RELATION_IN_CLAUSE:
                self._relate(s, agent, noun, *RELATION_OF_ROLE[oblique.role])
        if p.said:
            self._complement(s, p.said, root, marked)
        if p.also:
            self._second_predicate(s, p.also, root, subject, marked, "but" if p.contrast else "and")

    def _bare(self, s: Sentence, referent: Referent, root: int, deprel: str, label: str, marked: bool) -> int:
        start = len(s.words)
        noun = self.noun_phrase(s, referent, marked, is_object=True)
        s.attach(noun, root, deprel)
        s.arguments.append((root, start, len(s.words), label))
        return noun

    @staticmethod
    def _note_properties(s: Sentence, root: int, noun: int, referent: Referent, given: set) -> None:
        if given:
            sort = referent.noun.sort
            extra = {"sentient"} if sort in ("person", "creature") else {"existed_during"} if sort == "work" else set()
            s.properties.append((root, noun, sorted(given | extra)))

    def _complement(self, s: Sentence, said: Proposition, root: int, marked: bool) -> None:
        start = len(s.words)
        mark = s.add("that", "SCONJ", "IN", "mark")
        inner = self.clause(s, said, marked)
        s.heads[mark] = inner
        s.attach(inner, root, "ccomp")
        s.arguments.append((root, start, len(s.words), "ARG1"))
        s.constituents.append((start, len(s.words), "SBAR"))

    def _second_predicate(
        self, s: Sentence, also: Proposition, root: int, subject: tuple, marked: bool, word: str
    ) -> None:
        conjunction = s.add(word, "CCONJ", "CC", "cc")
        # the shared subject stays attached to the first predicate: in a tree each word has one head
        held_head, held_deprel = s.heads[subject[0]], s.deprels[subject[0]]
        inner = self.predicate(s, also, subject, marked, subject[0])
        s.attach(subject[0], held_head, held_deprel)
        s.heads[conjunction] = inner
        s.attach(inner, root, "conj")

    # clauses and sentences --------------------------------------------------------------------------------------------

    def clause(self, s: Sentence, p: Proposition, marked: bool) -> int:
        start = len(s.words)
        if p.passive and p.object is not None:
            p = _turned(p)
        noun = self.noun_phrase(s, p.subject, marked)
        root = self.predicate(s, p, (noun, start, len(s.words)), marked, noun)
        s.constituents.append((start, len(s.words), "S"))
        return root

    def sentence(self, p: Proposition, marked: bool = False) -> Sentence:
        s = Sentence()
        root = self.clause(s, p, marked)
        s.deprels[root] = "root"
        s.heads[root] = -1
        s.add(".", "PUNCT", ".", "punct", root)
        return s

    def question(self, p: Proposition, asked: str, oblique: Oblique | None = None) -> Sentence:
        """A wh-question about one participant ("subject", "object", "oblique"), or a yes/no question ("truth")."""
        s = Sentence()
        if asked == "subject":
            word = "who" if p.subject.noun.sort in ("person", "organisation") else "what"
            wh = s.add(word, "PRON", "WP", "nsubj")
            s.constituents.append((0, 1, "WHNP"))
            # the verb agrees with the question word, not with the answer
            asker = replace(p, subject=replace(p.subject, plural=False))
            root = self.predicate(s, asker, (wh, 0, 1), False, wh)
        else:
            root = self._inverted(s, p, asked, oblique)
        s.deprels[root] = "root"
        s.heads[root] = -1
        s.constituents.append((0, len(s.words), "SQ" if asked == "truth" else "SBARQ"))
        s.add("?", "PUNCT", ".", "punct", root)
        return s

    def _inverted(self, s: Sentence, p: Proposition, asked: str, oblique: Oblique | None) -> int:
        wh = -1
        if asked == "object":
            person = p.object.noun.sort in ("person", "organisation")
            wh = s.add("who" if person else "what", "PRON", "WP", "obj")
            s.constituents.append((0, 1, "WHNP"))
        elif asked == "oblique":
            wh = self._wh_oblique(s, oblique)
        asked_end = len(s.words)
        past, plural = p.tense != "present", p.subject.plural
        form = "did" if past else "do" if plural else "does"
        aux = s.add(form, "AUX", "VBD" if past else "VBP" if plural else "VBZ", "aux")
        start = len(s.words)
        noun = self.noun_phrase(s, p.subject, False)
        subject = (noun, start, len(s.words))
        root = s.add(p.verb.base, "VERB", "VB", "root")
        s.heads[aux] = root
        s.attach(noun, root, "nsubj")
        if wh >= 0:
            s.heads[wh] = root
            label = oblique.argument if oblique else ROLES.get(p.frame, ("ARG0", "ARG1"))[1]
            s.arguments.append((root, 0, asked_end, label))
        rest = Proposition(
            p.frame,
            p.subject,
            p.verb,
            object=None if asked == "object" else p.object,
            recipient=p.recipient,
            obliques=[other for other in p.obliques if other is not oblique],
        )
        self._participants(s, rest, root, subject, False, False)
        return root

    @staticmethod
    def _wh_oblique(s: Sentence, oblique: Oblique) -> int:
        sort = oblique.object.noun.sort
        if sort in ("place", "time"):
            s.constituents.append((0, 1, "WHADVP"))
            return s.add("where" if sort == "place" else "when", "ADV", "WRB", "advmod")
        case = s.add(oblique.preposition, "ADP", "TO" if oblique.preposition == "to" else "IN", "case")
        wh = s.add("who" if sort in ("person", "organisation") else "what", "PRON", "WP", "obl")
        s.heads[case] = wh
        s.constituents += [(1, 2, "WHNP"), (0, 2, "WHPP")]
        s.prepositions.append((case, oblique.role, oblique.function))
        return wh


def _turned(p: Proposition) -> Proposition:
    """Passive voice: the object becomes the grammatical subject, and the subject follows "by"."""
    return Proposition(
        p.frame, p.object, p.verb, object=p.subject, obliques=p.obliques, tense=p.tense, negated=p.negated,
        passive=True, adverb=p.adverb, breaks_agreement=p.breaks_agreement,
    )  # fmt: skip
