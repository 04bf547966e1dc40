"""What analyses read from the activation cache. Only what some analysis reads is stored, and stored once."""

from dataclasses import dataclass

from workflow.lib.base.names import folder_name

# Which layers are stored: the last one; the outputs of all blocks (1..L); these and the embeddings (0..L).
LAYERS = ("last", "blocks", "all")
SAMPLED = ("sampled", "sampled_first")  # units that are a random selection of tokens


@dataclass(frozen=True)
class Cache:
    """A model's vectors of a dataset's units.

    unit  cls      the first token of every text            word    every word: the mean of its tokens
          sampled  random tokens of random rows (for RSA)   span    tokens of the words inside annotated spans
          sampled_first  the same of rows cut to their first text: the premise of a pair, the question of a passage
          steps/…  the same unit at every saved step of the model's fine-tuning
    """

    model: str
    unit: str
    place: str  # <dataset>/<split>
    layers: str = "all"
    labels: bool = True  # does the analysis read the rows' labels too?

    @property
    def item(self) -> str:
        return f"{self.model}/{self.unit}/{folder_name(self.place)}"


def widest(one: str, other: str) -> str:
    """The wider of two selections of layers, which serves both analyses."""
    return max(one, other, key=LAYERS.index)
