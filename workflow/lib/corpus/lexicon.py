"""The words of the embedded language and their meanings.

Open-class words are random syllables, so that their spelling says nothing about their class: a word's meaning can only
be learnt from its contexts. Closed-class words are English, so that sentences are readable.
"""

from dataclasses import dataclass, field
from functools import cache
from random import Random

# The fourteen kinds of nouns are DBpedia's classes, in its order; each belongs to a broader sort.
KINDS = {
    "company": "organisation",
    "school": "organisation",
    "artist": "person",
    "athlete": "person",
    "politician": "person",
    "vehicle": "machine",
    "building": "place",
    "landscape": "place",
    "village": "place",
    "animal": "creature",
    "plant": "creature",
    "album": "work",
    "film": "work",
    "book": "work",
}
# Nouns that are never a topic; as objects of prepositions they determine the preposition's sense.
SIDE_KINDS = {"season": "time", "metal": "material", "hammer": "tool", "festival": "event", "piece": "part"}
SORTS = tuple(dict.fromkeys(KINDS.values()))
ANIMATE = frozenset({"person", "organisation", "creature"})

NOUNS_PER_KIND, NAMES_PER_KIND, NOUNS_PER_SIDE_KIND = 12, 4, 6
ADJECTIVES_PER_POLARITY = 24
CLOSED = (
    "the", "a", "some", "no", "most", "few", "it", "they", "he", "she", "them", "him", "her", "who", "which", "that",
    "what", "where", "when", "how", "why", "many", "much", "often", "is", "are", "was", "were", "do", "does", "did",
    "will", "not", "hardly", "and", "but", "to", "of", "in", "on", "at", "by", "with", "from", "for", "about", "into",
    "very", "quite",
    "rather", "so", "two", "three", "four", "five", "six", ".", "?",
)  # fmt: skip
QUANTIFIERS = ("some", "most", "few")
NUMERALS = ("two", "three", "four", "five", "six")
STRONG, WEAK = ("very", "so"), ("quite", "rather")  # degree words that go with any quality

# frame: (number of verbs, sorts that can be its subject, sorts that can be its object)
FRAMES = {
    "rest": (6, None, None),
    "move": (6, {"person", "creature", "machine"}, None),
    "make": (6, {"person", "organisation"}, {"work", "machine"}),
    "give": (5, {"person", "organisation"}, {"work", "machine", "creature"}),
    "praise": (5, {"person", "organisation"}, None),
    "blame": (5, {"person", "organisation"}, None),
    "tell": (5, {"person"}, None),
    "doubt": (4, {"person"}, None),  # takes a clause, and denies it
    "strike": (6, {"person", "creature", "machine"}, {"person", "creature", "machine", "place"}),
    "hold": (4, {"place", "organisation", "work"}, {"person", "creature", "work", "machine"}),
    "cause": (3, {"event"}, {"event"}),
}


@dataclass(frozen=True, slots=True)
class Noun:
    singular: str
    plural: str
    kind: str
    sort: str
    is_name: bool = False
    feminine: bool = False


@dataclass(frozen=True, slots=True)
class Verb:
    base: str
    third: str
    past: str
    frame: str
    kind: str | None = None  # if set, the verb takes only subjects of this kind, and so marks their class


@dataclass(frozen=True, slots=True)
class Lexicon:
    nouns: dict[str, tuple[Noun, ...]]  # by kind, common nouns
    names: dict[str, tuple[Noun, ...]]  # by kind, proper names
    verbs: dict[str, tuple[Verb, ...]]  # by frame
    kind_verbs: dict[str, tuple[Verb, ...]]  # by kind, intransitive
    adjectives: dict[int, tuple[str, ...]]  # by polarity: 1, -1, 0
    degrees: dict[int, tuple[str, ...]]  # degree words that go with one polarity; 0 goes with any
    adverbs: tuple[str, ...]
    articles: dict[str, str]  # by kind: an article that agrees with the noun's class
    kinds_of_sort: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def words(self) -> set[str]:
        found = (
            set(CLOSED) | set(KINDS) | set(SIDE_KINDS) | set(SORTS) | set(self.adverbs) | set(self.articles.values())
        )
        for group in (*self.nouns.values(), *self.names.values()):
            found.update(
                form for noun in group for form in ((noun.singular,) if noun.is_name else (noun.singular, noun.plural))
            )
        for verbs in (*self.verbs.values(), *self.kind_verbs.values()):
            found.update(form for verb in verbs for form in (verb.base, verb.third, verb.past))
        for group in (*self.adjectives.values(), *self.degrees.values()):
            found.update(group)
        return found


@cache
def make_lexicon(seed: int = 0) -> Lexicon:
    """The lexicon of a language. Its seed is not the documents' seed: all datasets of a run share one language."""
    rng = Random(f"lexicon {seed}")
    taken = set(CLOSED) | set(KINDS) | set(SIDE_KINDS) | set(SORTS)

    def coin(syllables: tuple[int, ...]) -> str:
        while True:
            word = "".join(rng.choice("bdfghjklmnprtvwz") + rng.choice("aeiou") for _ in range(rng.choice(syllables)))
            word += rng.choice(["", "n", "r", "l", "k", "m"])
            # inflected forms must not collide with another word either
            if not taken & {word, word + "s", word + "ed"}:
                taken.update((word, word + "s", word + "ed"))
                return word

    def noun(kind: str, sort: str, is_name: bool = False) -> Noun:
        word = coin((2, 3))
        return Noun(word, word + "s", kind, sort, is_name, rng.random() < 0.5)

    def verb(frame: str, kind: str | None = None) -> Verb:
        word = coin((2,))
        return Verb(word, word + "s", word + "ed", frame, kind)

    nouns = {kind: tuple(noun(kind, sort) for _ in range(NOUNS_PER_KIND)) for kind, sort in KINDS.items()}
    nouns |= {kind: tuple(noun(kind, sort) for _ in range(NOUNS_PER_SIDE_KIND)) for kind, sort in SIDE_KINDS.items()}
    return Lexicon(
        nouns=nouns,
        names={kind: tuple(noun(kind, sort, True) for _ in range(NAMES_PER_KIND)) for kind, sort in KINDS.items()},
        verbs={frame: tuple(verb(frame) for _ in range(number)) for frame, (number, *_) in FRAMES.items()},
        kind_verbs={kind: (verb("rest", kind), verb("rest", kind)) for kind in KINDS},
        adjectives={polarity: tuple(coin((2, 3)) for _ in range(ADJECTIVES_PER_POLARITY)) for polarity in (1, -1, 0)},
        degrees={
            1: tuple(coin((2,)) for _ in range(3)),
            -1: tuple(coin((2,)) for _ in range(3)),
            0: STRONG + WEAK,
        },
        adverbs=tuple(coin((2,)) for _ in range(10)),
        articles={kind: coin((1,)) for kind in KINDS},
        kinds_of_sort={sort: tuple(kind for kind, of in KINDS.items() if of == sort) for sort in SORTS},
    )
