"""The fine-tuning loop. Accelerate handles devices, precision and gradient scaling (timings in CONTRIBUTING)."""

import logging
from collections.abc import Callable

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn
from tqdm import tqdm

from workflow.lib.base.work import count
from workflow.lib.encoders.batches import bucketed_batches
from workflow.lib.encoders.device import device
from workflow.lib.training.heads.tunable import Examples, Tunable, evaluate
from workflow.lib.training.learning_rates import parameter_groups
from workflow.lib.training.schedules import SCHEDULES
from workflow.lib.training.state import SavedState

log = logging.getLogger("training")

BETAS = (0.9, 0.999)  # of AdamW


def accelerator_for(precision: str) -> Accelerator:
    on_gpu = device() == "cuda"
    if precision == "auto":
        # older GPUs only emulate bf16, slowly
        half = "bf16" if on_gpu and torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"
        precision = half if on_gpu else "float32"
    return Accelerator(mixed_precision="no" if precision == "float32" else precision, cpu=device() == "cpu")


def make_optimizer(model: Tunable, settings: dict) -> torch.optim.Optimizer:
    groups = parameter_groups(
        model.encoder,
        model.head,
        settings["learning_rate"],
        layer_decay=settings["layer_decay"],
        weight_decay=settings["weight_decay"],
        head_lr=settings["head_learning_rate"],
        embeddings_lr_mode=settings["embeddings_rate"],
    )
    return torch.optim.AdamW(groups, betas=BETAS, eps=settings["adam_epsilon"], fused=True)


def train(
    model: Tunable,
    examples: Examples,
    settings: dict,
    seed: int,
    state: SavedState,
    held_out: Examples | None = None,
    on_step: Callable[[int, nn.Module], None] = lambda step, model: None,
) -> list[dict]:
    """Train in place; returns one row per epoch. `on_step` is called at step 0 and after every `save_every` updates."""
    accelerator = accelerator_for(settings["precision"])
    optimizer = make_optimizer(model, settings)
    model, optimizer = accelerator.prepare(model, optimizer)
    peak_rates = [group["lr"] for group in optimizer.param_groups]
    tuned = [weight for group in optimizer.param_groups for weight in group["params"]]
    n_steps = settings["epochs"] * -(-len(examples) // settings["batch_size"])
    resumed = state.load()
    history, best, first_epoch, step = [], None, 0, 0
    if resumed:
        model.load_state_dict(resumed["model"])
        optimizer.load_state_dict(resumed["optimizer"])
        if accelerator.scaler is not None:
            accelerator.scaler.load_state_dict(resumed["scaler"])
        history, best, first_epoch, step = (resumed[name] for name in ("history", "best", "epoch", "step"))
        log.info("continuing after epoch %d", first_epoch)
    elif settings["save_every"]:
        on_step(0, model)
    # disable=None: a progress bar on a terminal, none in a log file
    with tqdm(total=n_steps, initial=step, desc="fine-tuning", leave=False, disable=None) as bar:
        for epoch in range(first_epoch, settings["epochs"]):
            model.train()
            losses = []
            for rows in bucketed_batches(
                examples.lengths, settings["batch_size"], np.random.default_rng([seed, epoch])
            ):
                factor = SCHEDULES[settings["schedule"]](step + 1, n_steps + 1, settings["warmup"])
                for group, peak in zip(optimizer.param_groups, peak_rates):
                    group["lr"] = peak * factor
                losses.append(_update(accelerator, model, optimizer, tuned, examples, rows, settings))
                step += 1
                bar.update()
                if settings["save_every"] and (step % settings["save_every"] == 0 or step == n_steps):
                    on_step(step, model)
            row = {"epoch": epoch + 1, "step": step, "loss": float(np.mean(losses)), "held_out_score": float("nan")}
            if held_out is not None:
                row["held_out_score"] = next(iter(evaluate(model, held_out).values()))
            history.append(row)
            of_held_out = ", held-out score %(held_out_score).4f" if held_out is not None else ""
            log.info(f"epoch %(epoch)d: loss %(loss).4f{of_held_out}", row)
            if settings["keep_best"] and (best is None or row["held_out_score"] > best["score"]):
                copied = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
                best = {"score": row["held_out_score"], "epoch": epoch + 1, "model": copied}
            scaler = accelerator.scaler.state_dict() if accelerator.scaler is not None else {}  # for fp16 gradients
            state.save(model=model.state_dict(), optimizer=optimizer.state_dict(), scaler=scaler, history=history,
                       best=best, epoch=epoch + 1, step=step)  # fmt: skip
    if best is not None:
        model.load_state_dict(best["model"])
    return history


def _update(
    accelerator, model, optimizer, tuned: list[nn.Parameter], examples: Examples, rows: np.ndarray, settings: dict
) -> float:
    """One update of the `tuned` parameters; the batch runs in `accumulation` parts, weighted by their units."""
    total, n_units = 0.0, examples.n_units(rows)
    for part in np.array_split(rows, min(settings["accumulation"], len(rows))):
        batch = examples.batch(part, accelerator.device)
        with accelerator.autocast():
            loss = model.head.loss(model(batch), batch) / max(n_units, 1)
        accelerator.backward(loss)
        total += loss.item()
    # Accelerate's own clipping first looks for sharded parameters, which takes longer than clipping a small model
    accelerator.unscale_gradients(optimizer)
    torch.nn.utils.clip_grad_norm_(tuned, settings["clip_norm"])
    optimizer.step()
    optimizer.zero_grad()
    count("steps")
    return total
