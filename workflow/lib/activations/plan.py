"""What analyses read from the activation cache. Only what some analysis reads is stored, and stored once."""

from dataclasses import dataclass

from workflow.lib.base.names import folder_name, target_of

# Which layers are stored: the last one; the outputs of all blocks (1..L); these and the embeddings (0..L).
LAYERS = ("last", "blocks", "all")
BYTES_HELD = 512 << 20  # size of a chunk's vectors, all layers; two chunks are in memory at a time
STEPS = "steps"
SAMPLED = ("sampled", "sampled_first")  # units that are a random selection of tokens


@dataclass(frozen=True)
class Cache:
    """A model's vectors of a dataset's units.

    unit  cls      the first token of every text            word    every word: the mean of its tokens
          sampled  random tokens of random rows (for RSA)   span    tokens of the words inside annotated spans
          target   words of which an annotated span consists (for tasks that label some words)
          sampled_first  the same of rows cut to their first text: the premise of a pair, the question of a passage
          steps    the units of the model's own task on its training rows, cached while it is tuned
    """

    model: str
    unit: str
    place: str  # <dataset>/<split>
    layers: str = "all"
    labels: bool = True  # does the analysis read the rows' labels too?
    text: str | None = None  # <text>/<split> instead of the place, where several datasets annotate the same sentences

    @property
    def item(self) -> str:
        if self.unit == STEPS:
            return f"{self.model}/{STEPS}"
        return f"{self.model}/{self.unit}/{folder_name(self.text or self.place)}"


def matching(item: str, entries: list[str]) -> str | None:
    """The first of the entries `<unit>` and `<unit>/<dataset>` of activations.temporary that names a cache."""
    unit, _, folder = target_of(item).partition("/")
    return next((entry for entry in entries if entry in (unit, f"{unit}/{folder.partition('-')[0]}")), None)


def sentences_of(config: dict, place: str) -> str:
    """<text>/<split>: under which name the sentences of a dataset's split are cached. Real datasets may annotate the
    same ones."""
    dataset, _, split = place.partition("/")
    entry = config["registry"][dataset] if config["datasets"][dataset]["source"] == "real" else {}
    return f"{entry.get('sentences_of', dataset)}/{split}"


def widest(one: str, other: str) -> str:
    """The wider of two selections of layers, which serves both analyses."""
    return max(one, other, key=LAYERS.index)
