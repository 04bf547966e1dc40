"""The embedded language: every sentence is a tree, its annotations fit its words, and its verbs agree.

The checks know only words, lexicon and tree; none asks the generator what it meant to write.
"""

from collections import Counter
from dataclasses import replace

import pytest

from workflow.lib.corpus.documents import Writer
from workflow.lib.corpus.grammar import Sentence
from workflow.lib.corpus.lexicon import CLOSED, KINDS, NUMERALS, SIDE_KINDS, SORTS, make_lexicon
from workflow.lib.corpus.tasks.pairs import plain_fact

LEXICON = make_lexicon()
NOMINAL = {"NOUN", "PROPN", "PRON"}
PREDICATE = {"VERB", "ADJ", "NOUN"}
# deprel: (what the word can be, what its head can be)
PLAUSIBLE = {
    "det": ({"DET"}, {"NOUN"}),
    "nummod": ({"NUM"}, {"NOUN"}),
    "amod": ({"ADJ"}, {"NOUN"}),
    "case": ({"ADP"}, NOMINAL),
    "nmod": (NOMINAL, {"NOUN"}),
    "acl:relcl": (PREDICATE, {"NOUN"}),
    "nsubj": (NOMINAL, PREDICATE),
    "nsubj:pass": (NOMINAL, {"VERB"}),
    "obj": (NOMINAL, {"VERB"}),
    "iobj": (NOMINAL, {"VERB"}),
    "obl": (NOMINAL, {"VERB"}),
    "obl:agent": (NOMINAL, {"VERB"}),
    "obl:tmod": (NOMINAL, {"VERB"}),
    "cop": ({"AUX"}, {"ADJ", "NOUN"}),
    "aux": ({"AUX"}, {"VERB"}),
    "aux:pass": ({"AUX"}, {"VERB"}),
    "advmod": ({"ADV", "PART"}, PREDICATE),
    "mark": ({"SCONJ"}, PREDICATE),
    "ccomp": (PREDICATE, {"VERB"}),
    "cc": ({"CCONJ"}, PREDICATE),
    "conj": (PREDICATE, PREDICATE),
    "punct": ({"PUNCT"}, PREDICATE),
}


def statements(seed: str, number: int) -> list[Sentence]:
    """Sentences of documents of every kind and polarity, half of them with class marks."""
    writer, found = Writer(seed), []
    while len(found) < number:
        kind, polarity = writer.world.pick(tuple(KINDS)), writer.world.pick((1, -1))
        found += writer.document(kind, polarity, 3, marked=writer.world.chance(0.5), reactions=0.2).sentences
    return found


def questions(seed: str, number: int) -> list[Sentence]:
    writer = Writer(seed)
    asked = [writer.question_about(plain_fact(writer))[0] for _ in range(number)]
    return asked + [writer.grammar.question(plain_fact(writer), "truth") for _ in range(number // 4)]


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return statements("grammar", 20_000) + questions("grammar", 4000)


# the lexicon ---------------------------------------------------------------------------------------------------------


def open_class_forms() -> list[str]:
    """Every inflected form, once for each word that has it."""
    forms = [*LEXICON.adverbs, *LEXICON.articles.values()]
    for nouns in (*LEXICON.nouns.values(), *LEXICON.names.values()):
        forms += [form for noun in nouns for form in (noun.singular, noun.plural)]
    for verbs in (*LEXICON.verbs.values(), *LEXICON.kind_verbs.values()):
        forms += [form for verb in verbs for form in (verb.base, verb.third, verb.past)]
    for polarity in (1, -1, 0):
        forms += LEXICON.adjectives[polarity]
    return forms + [word for polarity in (1, -1) for word in LEXICON.degrees[polarity]]


def test_the_lexicon_is_large_enough():
    assert len(LEXICON.words()) >= 600
    assert len(KINDS) >= 14 and set(LEXICON.names) == set(KINDS) and set(LEXICON.nouns) == {*KINDS, *SIDE_KINDS}
    assert set(KINDS.values()) == set(SORTS) and len(SORTS) < len(KINDS)


def test_no_two_words_share_a_form():
    classes = {*CLOSED, *KINDS, *SIDE_KINDS, *SORTS}
    plurals = {word + "s" for word in (*KINDS, *SIDE_KINDS, *SORTS)}
    shared = [form for form, count in Counter(open_class_forms()).items() if count > 1]
    assert not shared and not set(open_class_forms()) & (classes | plurals)


def test_the_lexicon_follows_from_its_seed():
    again = make_lexicon.__wrapped__(0)
    assert again == LEXICON and again is not LEXICON
    assert make_lexicon(1).words() != LEXICON.words()


def test_sentences_hold_no_word_outside_the_lexicon(sentences):
    known = LEXICON.words() | {word + "s" for word in (*KINDS, *SIDE_KINDS, *SORTS)}
    assert {word for s in sentences for word in s.words} <= known


# trees ---------------------------------------------------------------------------------------------------------------


def tree_fault(s: Sentence) -> str | None:
    n = len(s.words)
    if {len(s.upos), len(s.xpos), len(s.heads), len(s.deprels)} != {n}:
        return "lists of different lengths"
    if not all(-1 <= head < n for head in s.heads) or s.heads.count(-1) != 1:
        return "heads out of range, or not exactly one root"
    for start in range(n):
        at, steps = start, 0
        while at != -1 and steps <= n:
            at, steps = s.heads[at], steps + 1
        if steps > n:
            return "a cycle"
    return None


def test_trees_are_trees(sentences):
    assert [(s.text(), fault) for s in sentences if (fault := tree_fault(s))] == []


def test_labels_are_plausible(sentences):
    implausible = set()
    for s in sentences:
        for at, (head, deprel) in enumerate(zip(s.heads, s.deprels)):
            if (head == -1) != (deprel == "root"):
                implausible.add((s.text(), at, deprel))
            elif head >= 0:
                own, above = PLAUSIBLE[deprel]
                if s.upos[at] not in own or s.upos[head] not in above:
                    implausible.add((s.text(), at, deprel))
    assert not implausible


def test_phrases_with_a_preposition_have_one_and_others_have_none(sentences):
    for s in sentences:
        with_case = {head for head, deprel in zip(s.heads, s.deprels) if deprel == "case"}
        oblique = {at for at, deprel in enumerate(s.deprels) if deprel.partition(":")[0] in ("obl", "nmod")}
        assert with_case == oblique, s.text()


def test_no_word_has_two_subjects_or_objects(sentences):
    for s in sentences:
        once = Counter(
            (head, deprel.partition(":")[0])
            for head, deprel in zip(s.heads, s.deprels)
            if deprel.partition(":")[0] in ("nsubj", "obj", "iobj", "cop", "ccomp", "det", "case")
        )
        assert all(count == 1 for count in once.values()), s.text()


def test_every_construction_occurs(sentences):
    seen = Counter(deprel for s in sentences for deprel in set(s.deprels))
    assert set(seen) == {*PLAUSIBLE, "root"}
    assert min(seen.values()) >= 10, seen
    words = Counter(word for s in sentences for word in set(s.words))
    expected = {"not", "will", "that", "and", "who", "which", "what", "where", "when", "they", "he", "she", "it"}
    assert not [word for word in (*expected, *NUMERALS) if words[word] < 5]
    assert sum(s.words[-1] == "?" for s in sentences) >= 1000
    openings = {s.words[0] for s in sentences if s.words[-1] == "?"}
    assert openings >= {"who", "what", "where", "when", "do", "does", "did"}


def test_parts_of_speech_go_with_the_words(sentences):
    """A word of the lexicon has one part of speech, and the fine tag says which form it is."""
    tags: dict[str, set] = {}
    for s in sentences:
        for word, upos, xpos in zip(s.words, s.upos, s.xpos):
            tags.setdefault(word, set()).add((upos, xpos))
    past_and_participle = {("VERB", "VBD"), ("VERB", "VBN")}
    base_and_plural = {("VERB", "VB"), ("VERB", "VBP")}
    for word, found in tags.items():
        if word in set(open_class_forms()) - set(CLOSED):
            assert len(found) == 1 or found <= past_and_participle or found <= base_and_plural, (word, found)


# spans ---------------------------------------------------------------------------------------------------------------


def head_of_span(s: Sentence, start: int, end: int) -> int:
    """The one word of a span whose own head lies outside: a span that is no phrase has several, and fails."""
    inside = [at for at in range(start, end) if not start <= s.heads[at] < end]
    assert len(inside) == 1, (s.text(), s.words[start:end])
    return inside[0]


def sentence_of(s: Sentence) -> list[int]:
    """The number of the sentence that each word of a document stands in."""
    numbers, number = [], 0
    for word in s.words:
        numbers.append(number)
        number += word in (".", "?")
    return numbers


def check_spans(s: Sentence) -> None:
    n, text, part = len(s.words), s.text(), sentence_of(s)
    phrases = {label: set() for _, _, label in s.constituents} | {"NP": set(), "PP": set(), "WHPP": set()}
    for start, end, label in s.constituents:
        assert 0 <= start < end <= n and part[start] == part[end - 1], text
        head_of_span(s, start, end)
        phrases[label].add((start, end))
    ordered = sorted({(start, -end) for start, end, _ in s.constituents})
    open_ends: list[int] = []
    for start, end in ordered:
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        assert not open_ends or -end <= open_ends[-1], f"crossing constituents: {text}"
        open_ends.append(-end)

    assert sorted((a, b) for a, b, _ in s.entities) == [(i, i + 1) for i in range(n) if s.upos[i] == "PROPN"], text
    for start, _, sort in s.entities:
        assert SORT_OF_NAME[s.words[start]] == sort, text

    for start, end, _ in s.mentions:
        assert (start, end) in phrases["NP"] and s.upos[head_of_span(s, start, end)] in NOMINAL, text
    assert len({(start, end) for start, end, _ in s.mentions}) == len(s.mentions), text

    for predicate, start, end, label in s.arguments:
        head = head_of_span(s, start, end)
        assert 0 <= predicate < n and part[predicate] == part[start] == part[end - 1], text
        assert not start <= predicate < end and s.upos[predicate] in PREDICATE and label, text
        # an argument hangs on its predicate, unless it is the subject shared with a first predicate
        shared = s.deprels[predicate] == "conj" and s.heads[head] == s.heads[predicate]
        assert s.heads[head] == predicate or shared, text
    once = Counter((predicate, label) for predicate, _, _, label in s.arguments if label in ("ARG0", "ARG1"))
    assert all(count == 1 for count in once.values()), (text, s.arguments)

    places = [at for at, _, _ in s.prepositions]
    assert sorted(places) == [at for at in range(n) if s.upos[at] == "ADP"], text
    prepositional = {start for start, _ in phrases["PP"] | phrases["WHPP"]}
    assert set(places) == prepositional and all(role and function for _, role, function in s.prepositions), text

    for first, second, relation in s.relations:
        assert first != second and part[first] == part[second] and relation, text
        assert s.upos[first] in NOMINAL and s.upos[second] in NOMINAL, text
    for predicate, noun, properties in s.properties:
        assert s.upos[predicate] == "VERB" and s.upos[noun] in NOMINAL and part[predicate] == part[noun], text
        assert properties and properties == sorted(set(properties)), text


SORT_OF_NAME = {name.singular: name.sort for names in LEXICON.names.values() for name in names}


def test_spans_fit_the_words(sentences):
    for s in sentences:
        check_spans(s)


def test_every_noun_is_in_a_noun_phrase(sentences):
    for s in sentences:
        inside = {at for start, end, label in s.constituents if label in ("NP", "WHNP") for at in range(start, end)}
        assert {at for at, tag in enumerate(s.upos) if tag in NOMINAL} <= inside, s.text()


def test_documents_of_several_sentences_stay_sound():
    parts = statements("extended", 1500) + questions("extended", 300)
    for first in range(0, len(parts) - 2, 3):
        trio = parts[first : first + 3]
        lengths = [len(s.words) for s in trio]
        roots = [s.heads.index(-1) for s in trio]
        whole = Sentence()
        for s in trio:
            whole.extend(s)
        assert whole.words == [word for s in trio for word in s.words]
        starts = [0, lengths[0], lengths[0] + lengths[1]]
        assert [at for at, head in enumerate(whole.heads) if head == -1] == [a + b for a, b in zip(starts, roots)]
        for name in ("arguments", "constituents", "entities", "mentions", "prepositions", "properties", "relations"):
            assert len(getattr(whole, name)) == sum(len(getattr(s, name)) for s in trio)
        check_spans(whole)


def test_mentions_of_one_thing_have_one_number_and_sort():
    """Coreferent mentions agree: a pronoun fits the nouns that share its ident."""
    writer, with_pronoun = Writer("coreference"), 0
    for _ in range(1000):
        whole = Sentence()
        for s in writer.document(writer.world.pick(tuple(KINDS)), 1, 3, marked=False).sentences:
            whole.extend(s)
        forms: dict[int, set] = {}
        pronouns: dict[int, set] = {}
        for start, end, ident in whole.mentions:
            head = head_of_span(whole, start, end)
            into = pronouns if whole.upos[head] == "PRON" else forms
            into.setdefault(ident, set()).add(whole.words[head])
        for ident, words in forms.items():
            assert len(words) == 1, (whole.text(), words)
            for found in pronouns.get(ident, ()):
                with_pronoun += 1
                word = min(words)
                assert (found in ("they", "them")) == is_plural_noun(word), whole.text()
                if found in ("he", "she", "him", "her"):
                    assert SORT_OF_FORM[word] == "person", whole.text()
    assert with_pronoun > 30


def actor_of(s: Sentence, verb: int) -> int:
    """Who acts: what follows "by", else the subject, else what a relative pronoun or a shared subject stands for."""
    below = {s.deprels[at]: at for at, head in enumerate(s.heads) if head == verb}
    if "obl:agent" in below:
        return below["obl:agent"]
    if s.deprels[verb] == "conj":
        return actor_of(s, s.heads[verb])
    return s.heads[verb] if s.deprels[verb] == "acl:relcl" else below["nsubj"]


def test_instruments_belong_to_who_acts(sentences):
    """In the passive, too: "it was struck by her with a stick" makes the stick hers."""
    in_passive = Counter()
    for s in sentences:
        for instrument, agency, relation in s.relations:
            if relation == "Instrument-Agency":
                verb = s.heads[instrument]
                assert agency == actor_of(s, verb) and SORT_OF_FORM[s.words[instrument]] == "tool", s.text()
                in_passive[s.deprels[agency] == "obl:agent"] += 1
    assert in_passive[True] and in_passive[False]


def test_the_nominals_of_a_question_are_arguments_too(sentences):
    """Whatever hangs on a verb as subject, object or oblique is one of its arguments, question words included."""
    for s in sentences:
        heads = {(predicate, head_of_span(s, start, end)) for predicate, start, end, _ in s.arguments}
        for at, (head, deprel) in enumerate(zip(s.heads, s.deprels)):
            if deprel.partition(":")[0] in ("nsubj", "obj", "iobj", "obl", "ccomp") or s.xpos[at] == "WRB":
                assert (head, at) in heads, (s.text(), s.words[at])


# agreement -----------------------------------------------------------------------------------------------------------

COMMON = [noun for nouns in LEXICON.nouns.values() for noun in nouns]
CLASS_WORDS = {*KINDS, *SIDE_KINDS, *SORTS}
PLURALS = {noun.plural for noun in COMMON} | {word + "s" for word in CLASS_WORDS}
SINGULARS = {noun.singular for noun in COMMON} | CLASS_WORDS | set(SORT_OF_NAME)
SORT_OF_FORM = {form: noun.sort for noun in COMMON for form in (noun.singular, noun.plural)} | SORT_OF_NAME
VERBS = [verb for verbs in (*LEXICON.verbs.values(), *LEXICON.kind_verbs.values()) for verb in verbs]
BASES, THIRDS = {verb.base for verb in VERBS}, {verb.third for verb in VERBS}
PLURAL_OF_AUXILIARY = {"is": False, "was": False, "does": False, "are": True, "were": True, "do": True}


def is_plural_noun(word: str) -> bool:
    assert (word in PLURALS) != (word in SINGULARS), word
    return word in PLURALS


def is_plural_subject(s: Sentence, at: int) -> bool:
    word = s.words[at]
    if word in ("who", "which", "what"):
        verb = s.heads[at]  # of a relative clause, where the word stands for a noun, or of a question
        return s.deprels[verb] == "acl:relcl" and is_plural_noun(s.words[s.heads[verb]])
    if word in ("they", "he", "she", "it"):
        return word == "they"
    return is_plural_noun(word)


def agreements(s: Sentence):
    """(subject, finite word, do they agree?) for every clause whose finite word shows number."""
    children: dict[int, dict[str, int]] = {}
    for at, (head, deprel) in enumerate(zip(s.heads, s.deprels)):
        children.setdefault(head, {})[deprel.partition(":")[0]] = at
    for at, tag in enumerate(s.upos):
        own = children.get(at, {})
        if tag != "VERB" and "cop" not in own:
            continue
        subject = own.get("nsubj", children[s.heads[at]].get("nsubj") if s.deprels[at] == "conj" else None)
        assert subject is not None, f"'{s.words[at]}' has no subject: {s.text()}"
        finite = own.get("cop", own.get("aux", at))
        word = s.words[finite]
        if word in PLURAL_OF_AUXILIARY:
            plural = PLURAL_OF_AUXILIARY[word]
        elif finite == at and (word in BASES or word in THIRDS):
            plural = word in BASES
        else:
            continue  # past tense and modals show no number
        yield subject, finite, plural == is_plural_subject(s, subject)


def nearest_noun_misleads(s: Sentence, subject: int, finite: int) -> bool:
    between = [at for at in range(subject + 1, finite) if s.upos[at] in ("NOUN", "PROPN")]
    return bool(between) and is_plural_noun(s.words[between[-1]]) != is_plural_subject(s, subject)


def test_verbs_agree_with_their_subjects(sentences):
    shown = Counter()
    for s in sentences:
        for subject, finite, agree in agreements(s):
            assert agree, (s.text(), s.words[subject], s.words[finite])
            head = s.heads[finite] if s.upos[finite] == "AUX" else finite
            shown["all"] += 1
            shown["attractor"] += nearest_noun_misleads(s, subject, finite)
            shown["relative"] += s.deprels[head] == "acl:relcl"
            shown["second"] += s.deprels[head] == "conj"
            shown["complement"] += s.deprels[head] == "ccomp"
            shown["passive"] += s.deprels[subject] == "nsubj:pass"
            shown["inverted"] += finite < subject
            shown["plural"] += is_plural_subject(s, subject)
    assert min(shown.values()) >= 20 and shown["plural"] > 0.2 * shown["all"], shown


def test_determiners_agree_with_their_nouns(sentences):
    for s in sentences:
        for at, (word, head, deprel) in enumerate(zip(s.words, s.heads, s.deprels)):
            if word == "a":
                assert not is_plural_noun(s.words[head]), s.text()
            if deprel == "nummod":
                assert is_plural_noun(s.words[head]) and at < head, s.text()
        with_determiner = {head for head, deprel in zip(s.heads, s.deprels) if deprel in ("det", "nummod")}
        for at, tag in enumerate(s.xpos):
            assert tag != "NN" or at in with_determiner, f"bare singular: {s.text()}"


def test_broken_agreement_breaks_exactly_the_main_verb():
    writer = Writer("broken")
    world = writer.world
    for _ in range(1500):
        fact = world.proposition(world.adorn(world.referent(), 1, False), 1, False)
        fact = replace(fact, tense="present", also=None)
        right, wrong = (writer.grammar.sentence(replace(fact, breaks_agreement=broken)) for broken in (False, True))
        assert all(agree for *_, agree in agreements(right)), right.text()
        root = wrong.heads.index(-1)
        at_fault = [at for _, at, agree in agreements(wrong) if not agree]
        assert len(at_fault) == 1 and (at_fault[0] == root or wrong.heads[at_fault[0]] == root), wrong.text()


# class marks ---------------------------------------------------------------------------------------------------------


def test_only_marked_text_marks_the_class_of_a_noun():
    writer = Writer("marks")
    marks = {*LEXICON.articles.values(), *LEXICON.degrees[1], *LEXICON.degrees[-1]}
    marks |= {form for verbs in LEXICON.kind_verbs.values() for v in verbs for form in (v.base, v.third, v.past)}
    kind_of_article = {article: kind for kind, article in LEXICON.articles.items()}
    kind_of_form = {form: noun.kind for noun in COMMON for form in (noun.singular, noun.plural)}
    seen = Counter()
    for _ in range(1000):
        assert not marks & set(writer.sentence(polarity=1).words)
        s = writer.sentence(polarity=1, marked=True)
        for word, head in zip(s.words, s.heads):
            seen[word] += word in marks
            assert word not in kind_of_article or kind_of_form[s.words[head]] == kind_of_article[word], s.text()
    assert sum(seen.values()) > 500


def test_people_praise_what_is_good_and_blame_what_is_bad():
    writer = Writer("reactions")
    for polarity, frame in ((1, "praise"), (-1, "blame")):
        forms = {form for verb in LEXICON.verbs[frame] for form in (verb.base, verb.third, verb.past)}
        document = writer.document("film", polarity, 30, marked=False, drift=0.0, reactions=1.0)
        reactions = document.sentences[1:]  # nobody reacts to what is not yet said
        assert all(forms & set(sentence.words) for sentence in reactions)
        assert len({sentence.text() for sentence in reactions}) > 15


def test_an_opinion_keeps_its_tone_whatever_it_is_about():
    writer = Writer("opinions")
    kind_of = {form: noun.kind for group in (LEXICON.nouns, LEXICON.names) for nouns in group.values() for noun in nouns
               for form in (noun.singular, noun.plural)}  # fmt: skip
    polarity_of = {word: sign for sign, words in LEXICON.adjectives.items() for word in words}
    for sign in (1, -1):
        said = writer.opinion(sign, 400, marked=False).sentences
        topics = {kind_of[word] for sentence in said for word in sentence.words if word in kind_of}
        plain = [sum(polarity_of.get(word, 0) for word in sentence.words) for sentence in said
                 if not {"not", "hardly", "but", "that"} & set(sentence.words)]  # fmt: skip
        agree = [score * sign > 0 for score in plain if score]
        assert len(agree) > 100 and 0.9 < sum(agree) / len(agree) < 1.0  # somebody contradicts here and there
        assert len(topics) >= 14  # about anything
