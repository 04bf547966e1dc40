"""What encoders take: fine-tuning, sweeps, and forward passes that fill the activation cache.

A forward pass multiplies each token with every weight matrix of the blocks, and with the other tokens of its text; a
training step takes three times that. Embeddings are looked up.
"""

from dataclasses import dataclass

from workflow.lib.activations.plan import BYTES_HELD
from workflow.lib.base.names import encoder_of, recipe_of
from workflow.lib.base.tasks import places_of_task
from workflow.lib.costs.sizes import Size, size_of
from workflow.lib.costs.work import Work
from workflow.lib.encoders.shapes import shape_of

BERTS_VOCABULARY, POSITIONS = 30522, 512
OF_TRAINING = 16  # bytes a weight: itself, its gradient and AdamW's two means, in float32


@dataclass(frozen=True)
class Shape:
    layers: int
    width: int
    feed_forward: int
    heads: int
    vocabulary: int

    @property
    def of_block(self) -> int:
        """Weights of a block that every token is multiplied with."""
        return 4 * self.width**2 + 2 * self.width * self.feed_forward

    @property
    def parameters(self) -> int:
        return self.layers * self.of_block + (self.vocabulary + POSITIONS) * self.width

    def forward(self, n_tokens: float, length: float) -> float:
        """Floating-point operations of a forward pass of so many tokens, in texts of this length."""
        return n_tokens * self.layers * (2 * self.of_block + 4 * length * self.width)

    def activations(self, n_texts: int, length: float) -> float:
        """Bytes that a training step keeps for its backward pass (Korthikanti et al. 2022, in float32)."""
        return 2 * n_texts * length * self.layers * (34 * self.width + 5 * self.heads * length)


def encoder_shape(config: dict, encoder: str, layers: int | None = None) -> Shape:
    """`layers`: fewer than it has, if some are cut off."""
    found = {what: shape_of(config, encoder, what) for what in ("layers", "width", "heads", "feed_forward")}
    name = encoder.split(".")[0]
    entry = config["encoders"][config["encoders"][name].get("like", name)]
    own = entry["source"] in ("pretrain", "shipped")
    width = found["width"] or 768  # where nobody says: BERT-base's
    return Shape(
        layers=layers or found["layers"] or 12,
        width=width,
        feed_forward=found["feed_forward"] or 4 * width,
        heads=found["heads"] or max(1, width // 64),
        vocabulary=config["pretraining"]["vocab_size"] if own else BERTS_VOCABULARY,
    )


def tuning(config: dict, model: str, settings: dict, steps: dict | None = None, is_sweep: bool = False) -> Work:
    """Fine-tuning a model; `settings` and `steps` as in Plan.training and Plan.steps."""
    task, recipe, fraction, _ = recipe_of(model)
    kept_layers = int(recipe.partition("-")[2]) if recipe.startswith("truncate") else None
    shape = encoder_shape(config, encoder_of(model), kept_layers)
    train, test = (size_of(config, place, settings["max_tokens"]) for place in places_of_task(config, task))
    rows = train.rows * float(fraction)
    n_updates = settings["epochs"] * -(-rows // settings["batch_size"])
    trained = shape.forward(rows * train.tokens * settings["epochs"], train.tokens)
    evaluated = shape.forward(test.rows * test.tokens + (0 if is_sweep else rows * train.tokens), train.tokens)
    held = OF_TRAINING * shape.parameters + of_rows(rows, train)
    if not config["gpu"]:
        held += shape.activations(settings["batch_size"] / settings["accumulation"], train.longest)
    work = Work(
        calls=shape.layers * (3 * n_updates + (rows + test.rows) / 64),
        flops=3 * trained + evaluated,
        held=held,
        kept=0 if is_sweep else 4 * shape.parameters,
        scratch=12 * shape.parameters,  # the state for resuming: weights and AdamW's two means
    )
    if steps is None:
        return work
    vectors = n_vectors(config, steps["unit"], [steps["place"]], steps) * shape.layers * shape.width
    n_steps = n_saved_steps(config, settings)
    size = n_steps * vectors * bytes_of(config)
    cached = {
        "calls": n_steps * shape.layers * rows / 64,
        "flops": n_steps * shape.forward(rows * train.tokens, train.tokens),
    }
    return work + Work(**cached, moved=size, held=work.held + 2 * min(BYTES_HELD, 4 * vectors), passing=size)


def of_rows(rows: float, size: Size) -> float:
    """Bytes of tokenised rows: arrays of their own for every row, some numbers a token."""
    return rows * (1300 + 6 * size.tokens)


def bytes_of(config: dict) -> int:
    """Of a stored number."""
    return 2 if config["activations"]["dtype"] == "float16" else 4


def n_vectors(config: dict, unit: str, places: list[str], settings: dict) -> float:
    """How many vectors a cache has, per layer; `settings` as in Plan.cache_settings."""
    sizes = [size_of(config, place, settings["max_tokens"]) for place in places]
    first = sizes[0]
    if unit == "span":  # of the same sentences: tokens of all datasets' spans, as far as there are so many
        most = max(sizes, key=lambda size: size.rows)
        return min(most.rows * most.tokens, sum(size.rows * size.inside for size in sizes))
    if unit == "word":
        return first.rows * first.words
    if unit == "target":
        return first.rows * first.targets
    if "per_row" in settings:
        return min(first.rows, settings["rows"] or first.rows) * min(settings["per_row"], first.tokens)
    return first.rows


def caching(config: dict, item: str, settings: dict, is_temporary: bool) -> Work:
    """Running a dataset through a model; `settings` as in Plan.cache_settings."""
    shape, how = encoder_shape(config, encoder_of(item)), config["activations"]
    sizes = [size_of(config, place, settings["max_tokens"]) for place in settings["places"]]
    size = max(sizes, key=lambda one: one.rows)
    rows = min(size.rows, settings.get("rows") or size.rows)
    n_layers = {"last": 1, "blocks": shape.layers, "all": shape.layers + 1}[settings["layers"]]
    vectors = n_vectors(config, settings["unit"], settings["places"], settings) * n_layers * shape.width
    stored = vectors * bytes_of(config)
    return Work(
        calls=shape.layers * rows / how["batch_size"],
        flops=shape.forward(rows * size.tokens, size.tokens),
        moved=stored,
        held=4 * shape.parameters + of_rows(rows, size) + 2 * min(BYTES_HELD, 4 * vectors),
        kept=0 if is_temporary else stored,
        passing=stored if is_temporary else 0,
    )


def n_saved_steps(config: dict, training: dict) -> float:
    """The first, every so many updates, and the last."""
    rows = size_of(config, f"{training['dataset']}/{training['train_split']}").rows
    n_updates = training["epochs"] * -(-rows // training["batch_size"])
    return 1 + -(-n_updates // training["save_every"])
