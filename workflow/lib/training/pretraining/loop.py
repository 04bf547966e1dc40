"""Pre-training from scratch: masked-language modelling and next-sentence prediction."""

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import BertConfig, BertForPreTraining

from workflow.lib.base.work import count
from workflow.lib.encoders.device import device
from workflow.lib.encoders.states import forward
from workflow.lib.training.pretraining.pairs import IGNORED, Pairs, collate, draw_pairs, every_batch, mask_tokens
from workflow.lib.training.schedules import slanted_triangle

REPORT_EVERY = 250  # steps


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


def losses(model: BertForPreTraining, batch: dict[str, torch.Tensor], labels: torch.Tensor, is_random: torch.Tensor):
    """Masked-word and next-sentence loss. Only masked words pass through the vocabulary projection, which in a narrow
    model costs as much as a layer."""
    out = forward(model.bert, batch)
    hidden = labels != IGNORED
    words = model.cls.predictions(out.last_hidden_state[hidden])
    # a sum, because the mean over no masked word would be NaN
    word_loss = cross_entropy(words, labels[hidden], reduction="sum") / hidden.sum().clamp(min=1)
    return word_loss, cross_entropy(model.cls.seq_relationship(out.pooler_output), is_random)


@torch.no_grad()
def held_out_losses(model: BertForPreTraining, pairs: Pairs, special: dict[str, int], mask_share: float) -> dict:
    """Both losses on text that the model was not trained on, one pass with fixed pairs and masks."""
    model.eval()
    where, generator = next(model.parameters()).device, torch.Generator().manual_seed(0)
    first, second, is_random = draw_pairs(pairs, np.random.default_rng(0))
    sums, n_words, n_right = np.zeros(2), 0, 0
    for rows in np.array_split(np.arange(len(first)), max(1, len(first) // 256)):
        batch = collate(pairs, first[rows], second[rows], special)
        labels = mask_tokens(batch["input_ids"], mask_share, special, model.config.vocab_size, generator).to(where)
        out = forward(model.bert, {name: tensor.to(where) for name, tensor in batch.items()})
        hidden = labels != IGNORED
        words = model.cls.predictions(out.last_hidden_state[hidden])
        order, truth = model.cls.seq_relationship(out.pooler_output), torch.from_numpy(is_random[rows]).to(where)
        sums += [float(cross_entropy(words, labels[hidden], reduction="sum")),
                 float(cross_entropy(order, truth, reduction="sum"))]  # fmt: skip
        n_words, n_right = n_words + int(hidden.sum()), n_right + int((order.argmax(1) == truth).sum())
    return {"word_loss": float(sums[0]) / n_words, "next_sentence_loss": float(sums[1]) / len(first),
            "next_sentence_accuracy": n_right / len(first)}  # fmt: skip


def make_optimizers(model: BertForPreTraining, settings: dict) -> dict[torch.optim.Optimizer, float]:
    """Optimisers and their peak rates: Muon for the matrices of the blocks, if it has a rate, AdamW for the rest."""
    muon_rate, decay = settings["muon_learning_rate"], settings["weight_decay"]
    matrices = [weight for weight in model.bert.encoder.parameters() if muon_rate and weight.ndim == 2]
    of_muon = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in of_muon]
    made = {torch.optim.AdamW(others, lr=0.0, weight_decay=decay, fused=True): settings["learning_rate"]}
    if matrices:
        made[torch.optim.Muon(matrices, lr=0.0, momentum=settings["muon_momentum"], weight_decay=decay)] = muon_rate
    return made


def pretrain(
    model: BertForPreTraining, pairs: Pairs, special: dict[str, int], settings: dict, seed: int, state, log
) -> list[dict]:
    """Train in place; returns a row per report. The state is saved with each report, so that a kill costs little."""
    model.to(device()).train()
    optimizers = make_optimizers(model, settings)
    weights = list(model.parameters())
    generator = torch.Generator().manual_seed(seed)
    lengths = np.array([len(ids) for ids in pairs.ids])
    history, step, n_steps = [], 0, settings["steps"]
    resumed = state.load()
    if resumed:
        model.load_state_dict(resumed["model"])
        for optimizer, saved in zip(optimizers, resumed["optimizers"]):
            optimizer.load_state_dict(saved)
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
        batch = {name: tensor.to(device()) for name, tensor in batch.items()}
        words, order = losses(model, batch, labels.to(device()), torch.from_numpy(is_random).to(device()))
        (words + settings["next_sentence_weight"] * order).backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        for optimizer, rate in optimizers.items():
            for group in optimizer.param_groups:
                group["lr"] = rate * slanted_triangle(step + 1, n_steps + 1, settings["warmup"])
            optimizer.step()
            optimizer.zero_grad()
        step += 1
        count("steps")
        sums += torch.tensor([words.item(), order.item()])
        if step % REPORT_EVERY == 0 or step == n_steps:
            n_since = step - (history[-1]["step"] if history else 0)
            history.append(
                {"step": step, "word_loss": float(sums[0]) / n_since, "order_loss": float(sums[1]) / n_since}
            )
            sums.zero_()
            log.info("step %(step)d: words %(word_loss).3f, next sentence %(order_loss).3f", history[-1])
            state.save(model=model.state_dict(), optimizers=[one.state_dict() for one in optimizers],
                       generator=generator.get_state(), history=history, step=step)  # fmt: skip
    return history
