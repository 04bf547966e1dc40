"""Fine-tuning of an encoder on a task by a recipe. Several recipes of one task can share the rows once read."""

import copy
import gc
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.encoders.loading import load_encoder, load_tokenizer, max_tokens
from workflow.lib.encoders.recipes import apply_recipe
from workflow.lib.encoders.tokenization import longest_for
from workflow.lib.encoders.weights import digest_of_weights
from workflow.lib.training.heads import head_class
from workflow.lib.training.heads.tunable import Examples, Tunable, evaluate
from workflow.lib.training.loop import train
from workflow.lib.training.state import SavedState

log = logging.getLogger("finetuning")


def nested_rows(n_rows: int, fraction: float, seed: int) -> np.ndarray:
    """A random fraction of the rows; the first part of a permutation, so that larger fractions contain smaller ones."""
    return np.random.default_rng([seed, n_rows]).permutation(n_rows)[: max(1, round(fraction * n_rows))]


def seed_of_run(encoder: str | Path, seed: int) -> int:
    """Seed of all that is random in a run: rows, re-initialised weights, head, batches, dropout. Encoders have draws of
    their own, or a spread over encoders would leave these out."""
    return crc32(f"{Path(encoder).name} {seed}".encode())


def split_off(rows: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, held-out rows), evenly spaced, so that both parts of a smaller fraction are in a larger one's."""
    held_out = np.diff(np.floor(np.arange(len(rows) + 1) * share + 0.5)) > 0
    return rows[~held_out], rows[held_out]


SaveStep = Callable[[PreTrainedModel, Path], None]


@dataclass
class Outcome:
    model: Tunable
    history: list[dict]
    scores: dict[str, float]  # on the evaluation rows: test_<metric>, and n_train
    rows: dict[str, list[float]]  # the answers that these are made from, row by row: row_<outcome>
    examples: Examples  # trained on
    state: SavedState


class Task:
    """A task's training and evaluation rows, tokenised for one encoder."""

    def __init__(self, encoder: str, train: str, evaluated: str, settings: dict, modules: str = ""):
        """`modules`: the digest of the code, because a run started by other code must not be resumed."""
        self.folder, self.settings, self.modules = encoder, settings, modules
        self.encoder, self.weights_digest = load_encoder(encoder), digest_of_weights(encoder)
        self.head = head_class(settings["head"])
        self.digest = read_dataset(train)[1]["digest"]
        self.whole = self._read(train, None)
        self.tested = self._read(evaluated, self.whole.labels)

    def _read(self, path: str, labels: list[str] | None) -> Examples:
        table, info = read_dataset(path)
        # only treebanks and spans have lists of words
        tokenizer = load_tokenizer(self.folder, for_words=info["kind"] in ("treebank", "spans"))
        longest = longest_for(info, self.settings["max_tokens"], max_tokens(self.encoder, tokenizer))
        examples = self.head.read(table, info, tokenizer, longest, labels)
        if examples.n_truncated:
            log.warning("%s: %d of %d texts cut to %d tokens", path, examples.n_truncated, len(table), longest)
        return examples

    def scores_on(self, path: str, model: Tunable) -> dict[str, float]:
        """Metrics of a tuned model on another split."""
        return evaluate(model, self._read(path, self.whole.labels))

    def build(self, recipe: str, seed: int) -> Tunable:
        torch.manual_seed(seed)
        drawn = {key: value for key, value in self.settings.items() if key.startswith("reinit_")}
        encoder = apply_recipe(copy.deepcopy(self.encoder), recipe, seed, **drawn)
        head = self.head.on(encoder, self.whole.labels, self.settings)
        return Tunable(encoder, head, fixed=recipe == "frozen")

    def tune(
        self, recipe: str, fraction: float, seed: int, output: str | Path, save_step: SaveStep | None = None
    ) -> Outcome:
        """Train and score; intermediate state is saved beside `output`. If out of memory, retries in smaller parts.

        `save_step` is given the encoder at every saved step, and a folder beside the state (`Outcome.state.folder`)."""
        seed = seed_of_run(self.folder, seed)
        try:
            return self._attempt(recipe, fraction, seed, output, self.settings, save_step)
        except torch.OutOfMemoryError:
            pass  # retried below, because here the error still keeps the failed model in memory
        # the same effective batch in twice as many parts; a second failure is left to the user
        settings = self.settings | {"accumulation": 2 * self.settings["accumulation"]}
        log.warning("out of memory: once more with accumulation %d", settings["accumulation"])
        gc.collect()  # Accelerate's mixed precision leaves the failed model in a reference cycle
        torch.cuda.empty_cache()
        return self._attempt(recipe, fraction, seed, output, settings, save_step)

    def made_from(self, recipe: str, fraction: float, seed: int) -> list:
        """Everything that a run depends on: a run started with anything else is not resumed."""
        # except for accumulation: after running out of memory, training is resumed with smaller parts
        same = {key: value for key, value in self.settings.items() if key != "accumulation"}
        return [same, recipe, seed, fraction, self.modules, self.digest, self.weights_digest]

    def _attempt(
        self, recipe: str, fraction: float, seed: int, output: str | Path, settings: dict, save_step: SaveStep | None
    ) -> Outcome:
        kept, held_out = split_off(nested_rows(self.whole.n_rows, fraction, seed), settings["holdout"])
        if settings["keep_best"] and not len(held_out):
            raise UserError(f"keep_best needs held-out rows, but holdout {settings['holdout']} gives none")
        model = self.build(recipe, seed)
        state = SavedState(output, self.made_from(recipe, fraction, seed))

        def on_step(step: int, model: Tunable) -> None:
            if save_step:
                was_training = model.training
                save_step(model.encoder, state.folder / f"{step:05d}")
                model.train(was_training)

        examples = self.whole.part(kept)
        held = self.whole.part(held_out) if len(held_out) else None
        history = train(model, examples, settings, seed, state, held, on_step)
        outcomes = model.head.outcomes(model, self.tested)
        scores = {f"test_{name}": value for name, value in model.head.metrics(outcomes).items()}
        stored = outcomes if model.head.outcomes_are_rows else {}
        rows = {f"row_{name}": values.tolist() for name, values in stored.items()}
        return Outcome(model, history, scores | {"n_train": len(kept)}, rows, examples, state)
