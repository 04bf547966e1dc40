"""Pre-train a BERT of any size on a text dataset: masked-language modelling and next-sentence prediction."""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import BertConfig, BertForPreTraining, PreTrainedTokenizerBase

from workflow.lib.batches import bucketed_batches
from workflow.lib.training.schedules import slanted_triangle

IGNORED = -100
REPORT_EVERY = 250  # steps


@dataclass
class Pairs:
    """Tokenised sentences, and for each sentence the one that follows it in its document (-1: none)."""

    ids: list[np.ndarray]
    following: np.ndarray


def read_pairs(table, tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> Pairs:
    """Sentences of one document share the part of their id before the last full stop."""
    room = (max_tokens - 3) // 2
    # without what transformers adds to the numbers: half the time
    encoded = tokenizer.backend_tokenizer.encode_batch_fast(table["text"].to_pylist(), add_special_tokens=False)
    documents = [name.rpartition(".")[0] for name in table["id"].to_pylist()]
    following = np.array(
        [at + 1 if here == then else -1 for at, (here, then) in enumerate(itertools.pairwise(documents))] + [-1]
    )
    return Pairs([np.array(text.ids[:room], dtype=np.int64) for text in encoded], following)


def draw_pairs(pairs: Pairs, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One epoch of (first, second, is second random?): half the seconds follow their first, half come from anywhere."""
    first = np.flatnonzero(pairs.following >= 0)
    is_random = rng.random(len(first)) < 0.5
    second = np.where(is_random, rng.integers(len(pairs.ids), size=len(first)), pairs.following[first])
    return first, second, is_random.astype(np.int64)


def collate(pairs: Pairs, first: np.ndarray, second: np.ndarray, special: dict[str, int]) -> dict[str, torch.Tensor]:
    """[CLS] first [SEP] second [SEP], padded to the longest of the batch."""
    width = 3 + max(len(pairs.ids[a]) + len(pairs.ids[b]) for a, b in zip(first, second))
    ids = np.full((len(first), width), special["pad"])
    types, mask = np.zeros_like(ids), np.zeros_like(ids)
    for row, (a, b) in enumerate(zip(first, second)):
        one, two = pairs.ids[a], pairs.ids[b]
        cut, end = len(one) + 2, len(one) + len(two) + 3
        ids[row, 0], ids[row, 1 : cut - 1], ids[row, cut - 1] = special["cls"], one, special["sep"]
        ids[row, cut : end - 1], ids[row, end - 1] = two, special["sep"]
        types[row, cut:end], mask[row, :end] = 1, 1
    return {
        name: torch.from_numpy(array)
        for name, array in (("input_ids", ids), ("token_type_ids", types), ("attention_mask", mask))
    }


def mask_tokens(
    ids: torch.Tensor, share: float, special: dict[str, int], vocab: int, generator: torch.Generator
) -> torch.Tensor:
    """Hide a share of the tokens in place (80 % [MASK], 10 % another, 10 % as they are); returns the labels."""
    ordinary = (ids != special["pad"]) & (ids != special["cls"]) & (ids != special["sep"])
    chosen = ordinary & (torch.rand(ids.shape, generator=generator) < share)
    labels = torch.where(chosen, ids, IGNORED)
    draw = torch.rand(ids.shape, generator=generator)
    ids[chosen & (draw < 0.8)] = special["mask"]
    other = chosen & (draw >= 0.9)
    ids[other] = torch.randint(vocab, ids.shape, generator=generator)[other]
    return labels


def losses(model: BertForPreTraining, batch: dict[str, torch.Tensor], labels: torch.Tensor, is_random: torch.Tensor):
    """Only hidden words go through the vocabulary projection: at a small width it costs as much as a layer."""
    out = model.bert(**batch)
    hidden = labels != IGNORED
    words = model.cls.predictions(out.last_hidden_state[hidden])
    # a sum, because the mean over no hidden word at all would be NaN
    word_loss = cross_entropy(words, labels[hidden], reduction="sum") / hidden.sum().clamp(min=1)
    return word_loss, cross_entropy(model.cls.seq_relationship(out.pooler_output), is_random)


def new_model(shape: dict, settings: dict, vocab_size: int, seed: int) -> BertForPreTraining:
    config = BertConfig(
        vocab_size=vocab_size,
        hidden_size=shape["width"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        intermediate_size=shape.get("feed_forward") or 4 * shape["width"],
        max_position_embeddings=settings["max_tokens"],
        initializer_range=settings["initializer_range"],
        hidden_dropout_prob=settings["dropout"],
        attention_probs_dropout_prob=settings["dropout"],
    )
    torch.manual_seed(seed)
    return BertForPreTraining(config)


def pretrain(
    model: BertForPreTraining, pairs: Pairs, special: dict[str, int], settings: dict, seed: int, state, log
) -> list[dict]:
    """Train in place; returns a row per report. The state is saved with each report, so that a kill costs little."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=settings["weight_decay"], fused=True)
    generator = torch.Generator().manual_seed(seed)
    lengths = np.array([len(ids) for ids in pairs.ids])
    history, step, n_steps = [], 0, settings["steps"]
    resumed = state.load()
    if resumed:
        model.load_state_dict(resumed["model"])
        optimizer.load_state_dict(resumed["optimizer"])
        generator.set_state(resumed["generator"])
        history, step = resumed["history"], resumed["step"]
        log.info("continuing after step %d", step)
    sums = torch.zeros(2)
    batches = every_batch(pairs, lengths, settings["batch_size"], seed)
    for number, (first, second, is_random) in enumerate(
        tqdm(batches, total=n_steps, desc="pre-training", leave=False, disable=None)
    ):
        if number < step:
            continue
        if step == n_steps:
            break
        batch = collate(pairs, first, second, special)
        labels = mask_tokens(batch["input_ids"], settings["mask_share"], special, model.config.vocab_size, generator)
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
        words, order = losses(model, batch, labels.to(device), torch.from_numpy(is_random).to(device))
        (words + settings["next_sentence_weight"] * order).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = settings["learning_rate"] * slanted_triangle(step + 1, n_steps + 1, settings["warmup"])
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        sums += torch.tensor([words.item(), order.item()])
        if step % REPORT_EVERY == 0 or step == n_steps:
            n_since = step - (history[-1]["step"] if history else 0)
            history.append(
                {"step": step, "word_loss": float(sums[0]) / n_since, "order_loss": float(sums[1]) / n_since}
            )
            sums.zero_()
            log.info("step %(step)d: words %(word_loss).3f, next sentence %(order_loss).3f", history[-1])
            state.save(model=model.state_dict(), optimizer=optimizer.state_dict(), generator=generator.get_state(),
                       history=history, step=step)  # fmt: skip
    return history


def every_batch(pairs: Pairs, lengths: np.ndarray, batch_size: int, seed: int):
    """Epoch after epoch, each with its own pairs and order; a function of the seed alone, so it can be replayed."""
    for epoch in itertools.count():
        rng = np.random.default_rng([seed, epoch])
        first, second, is_random = draw_pairs(pairs, rng)
        for rows in bucketed_batches(lengths[first] + lengths[second], batch_size, rng):
            yield first[rows], second[rows], is_random[rows]


if __name__ == "__main__":
    from workflow.lib.datasets import read_dataset
    from workflow.lib.encoders.loading import load_tokenizer
    from workflow.lib.files import whole_folder
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import write_table
    from workflow.lib.training.state import SavedState

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    settings, shape, seed = snakemake.params.settings, snakemake.params.shape, int(snakemake.wildcards.seed)
    tokenizer = load_tokenizer(snakemake.input.tokenizer)
    special = {name: getattr(tokenizer, f"{name}_token_id") for name in ("pad", "cls", "sep", "mask")}
    table, info = read_dataset(snakemake.input.data)
    pairs = read_pairs(table, tokenizer, settings["max_tokens"])
    model = new_model(shape, settings, len(tokenizer), seed)
    vocabulary = tokenizer.backend_tokenizer.to_str()
    made_from = [settings, shape, seed, snakemake.params.modules, info["digest"], vocabulary]
    state = SavedState(snakemake.output[0], made_from)
    history = pretrain(model, pairs, special, settings, seed, state, log)
    with whole_folder(snakemake.output[0]) as folder:
        model.bert.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        write_table(history, folder / "history.parquet")
    state.remove()
