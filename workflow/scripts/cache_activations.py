"""Run models over datasets and keep what every layer says of their units; the same for their saved steps."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from workflow.lib.activations.extraction import extract
from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.encoders.loading import load_encoder, load_tokenizer, max_tokens
from workflow.lib.encoders.tokenization import Encoded, encode, longest_for
from workflow.lib.encoders.weights import digest_of_weights


@lru_cache(maxsize=1)
def encoder_of(weights: Path) -> tuple[PreTrainedModel, str]:
    """A model and the digest of its weights, once for all the datasets that are read with it."""
    return load_encoder(weights), digest_of_weights(weights)


@lru_cache
def tokenizer_of(folder: Path, for_words: bool) -> PreTrainedTokenizerBase:
    return load_tokenizer(folder, for_words=for_words)


def read_encoded(
    path: str, encoder: Path, unit: str, limit: int | None, longest: int, most: int
) -> tuple[Encoded, dict]:
    """A dataset's rows as an encoder's tokenizer has them, and what the file says of itself. `most`: what it takes."""
    table, info = read_dataset(path)
    if limit and len(table) > limit:
        # spread over the whole, because published files are often sorted
        table = table.take(np.linspace(0, len(table) - 1, limit).astype(np.int64))
    # whatever the unit: rows that are lists of words reach the tokenizer as such
    tokenizer = tokenizer_of(encoder, for_words=unit == "word" or "words" in table.column_names)
    return encode(table, info, tokenizer, longest_for(info, longest, most), by_word=unit == "word"), info


remembered = lru_cache(maxsize=None)(read_encoded)


def seen_again(plans: list[dict]) -> set[tuple[str, str]]:
    """(unit, dataset) that several models see, or several steps of one."""
    seen = Counter((unit, name) for plan in plans for unit, names in plan["units"].items() for name in names)
    followed = {(plan["followed"]["unit"], plan["followed"]["name"]) for plan in plans if plan["followed"]}
    return {place for place, times in seen.items() if times > 1} | followed


@dataclass
class Cache:
    """Activations of an encoder and of models tuned from it, or of their saved steps: all have its tokenizer."""

    encoder: Path
    settings: dict
    log: object
    spare: list  # memory, from dataset to dataset and model to model

    def write(
        self,
        weights: Path,
        unit: str,
        path: str,
        folder: Path,
        limit: int | None = None,
        longest: int | None = None,
        read: Callable = read_encoded,
    ) -> None:
        """`limit`: most rows; `longest`: most tokens of a text, where not all datasets have the same."""
        model, digest = encoder_of(weights)
        longest, most = longest or self.settings["max_tokens"], max_tokens(model, tokenizer_of(self.encoder, False))
        encoded, info = read(path, self.encoder, unit, limit, longest, most)
        about = {"model": digest, "dataset": info["digest"]}
        batch_size, dtype = self.settings["batch_size"], self.settings["dtype"]
        n_units = extract(model, encoded, unit, folder, about, batch_size, dtype, self.spare)
        self.log.info("%s %s of %s: %d units of %d rows, %d cut to %d tokens", weights.name, unit, info["dataset"],
                      n_units, len(encoded.lengths), encoded.n_truncated, longest_for(info, longest, most))  # fmt: skip


def saved_steps(model: Path) -> list[Path]:
    steps = sorted(path for path in (model / "steps").glob("*") if path.is_dir())
    if not steps:
        raise UserError(f"{model} holds no saved steps; delete it and run again")
    return steps


if __name__ == "__main__":
    from workflow.lib.base.files import whole_folder
    from workflow.lib.base.logs import to_rule_log

    torch.set_num_threads(snakemake.threads)
    log = to_rule_log(snakemake.log[0])
    files = {f"{Path(path).parent.name}-{Path(path).stem}": path for path in snakemake.input.data}
    models, plans = [Path(model) for model in snakemake.input.models], snakemake.params.plan
    cache, again = Cache(models[0], snakemake.params.settings, log, spare=[]), seen_again(list(plans.values()))
    with whole_folder(snakemake.output[0]) as folder:
        for model, (adapted, plan) in zip(models, plans.items()):
            for unit, names in plan["units"].items():
                for name in names:
                    limit, longest = plan["limits"].get(name), plan["longest"].get(name)
                    read = remembered if (unit, name) in again else read_encoded
                    cache.write(model, unit, files[name], folder / adapted / unit / name, limit, longest, read)
            if plan["followed"]:
                unit, name = plan["followed"]["unit"], plan["followed"]["name"]
                for step in saved_steps(model):
                    cache.write(step, unit, files[name], folder / adapted / "steps" / step.name, read=remembered)
