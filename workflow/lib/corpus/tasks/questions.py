"""Questions: squad (find the answer in a passage) and trec50 (what kind of question is it?)."""

from workflow.lib.corpus.documents import Writer
from workflow.lib.corpus.grammar import Sentence
from workflow.lib.corpus.lexicon import KINDS
from workflow.lib.corpus.meaning import Referent
from workflow.lib.corpus.tasks.example import Example, noisy
from workflow.lib.corpus.tasks.pairs import plain_fact

# Two short facts: with more, the demo's small BERT does not learn in a few seconds to find the right one
# (F1 with four facts 0.15, with two 0.55)
FACTS_PER_PASSAGE = 2
OTHER_TOPIC = 0.5  # of the facts: often only one thing in a passage is of the type that a question asks for
ASKED_ABOUT = ("company", "school", "artist", "athlete", "politician", "animal", "vehicle")
# 3 forms x 14 kinds + 8 = 50 fine types
FORMS = ("what", "who", "where")
OTHER_QUESTIONS = ("when", "why", "how", "how many", "how much", "how often", "which", "truth")
QUESTION_TYPES = tuple(f"{form}:{kind}" for form in FORMS for kind in KINDS) + tuple(
    f"other:{q}" for q in OTHER_QUESTIONS
)


def squad(writer: Writer) -> Example:
    """A question about one of several facts. If these share a topic, single words do not give the answer away."""
    world = writer.world
    topic = world.pick(ASKED_ABOUT)
    kinds = [world.pick(ASKED_ABOUT) if world.chance(OTHER_TOPIC) else topic for _ in range(FACTS_PER_PASSAGE)]
    facts = [plain_fact(writer, subject=world.referent(kind)) for kind in kinds]
    for fact in facts:
        fact.obliques = []
    asked = int(writer.rng.random() * FACTS_PER_PASSAGE)
    question, ident = writer.question_about(facts[asked])
    context, answer, sentences = "", None, []
    for number, fact in enumerate(facts):
        sentence = writer.grammar.sentence(fact)
        if number == asked:
            start, end = next((a, b) for a, b, of in sentence.mentions if of == ident)
            before = sum(len(word) + 1 for word in sentence.words[:start])
            answer = {"text": " ".join(sentence.words[start:end]), "start": len(context) + before}
        sentences.append(sentence.text())
        context += sentences[-1] + " "
    row = {"question": question.text(), "context": context.rstrip(), "answers": [answer]}
    return Example([row], sentences)


def trec50(writer: Writer) -> Example:
    """The fine type combines the question word with the noun's kind, which must be known from the lexicon."""
    world = writer.world
    label = int(writer.rng.random() * len(QUESTION_TYPES))
    form, detail = QUESTION_TYPES[label].split(":")
    if form == "other":
        words = _other_question(writer, detail)
    else:
        subject = world.referent(detail)
        if form == "what":
            noun = _noun_phrase(writer, subject)
            words = ["what", "are" if subject.plural else "is", *noun]
        elif form == "who":
            verb = world.verb(world.pick(("praise", "blame", "strike")), subject, False)
            words = ["who", verb.past, *_noun_phrase(writer, subject)]
        else:
            verb = world.verb("rest", subject, False)
            words = ["where", "do" if subject.plural else "does", *_noun_phrase(writer, subject), verb.base]
        words = [*words, "?"]
    text = " ".join(words)
    label = noisy(label, len(QUESTION_TYPES), writer.rng)
    return Example([{"text": text, "text_pair": None, "label": label}], [text])


def _other_question(writer: Writer, detail: str) -> list[str]:
    world = writer.world
    if detail == "truth":
        fact = plain_fact(writer)
        return writer.grammar.question(fact, "truth").words
    counted = detail in ("how many", "which")
    subject = world.referent(name=0.0) if counted else world.referent()  # a name has no plural
    verb = world.verb("rest", subject, False)
    if counted:
        return [*detail.split(), subject.noun.plural, verb.base, "?"]
    return [*detail.split(), "do" if subject.plural else "does", *_noun_phrase(writer, subject), verb.base, "?"]


def _noun_phrase(writer: Writer, referent: Referent) -> list[str]:
    sentence = Sentence()
    writer.grammar.noun_phrase(sentence, referent, marked=False)
    return sentence.words
