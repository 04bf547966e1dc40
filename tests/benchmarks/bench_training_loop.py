"""What a training loop costs beyond its model: transformers' Trainer, an Accelerate loop and bare torch, side by side.

    .venv/bin/python -m tests.benchmarks.bench_training_loop

A tiny BERT (4 layers x 64) on one CPU thread, batches of 32 x 24 tokens in the same order, fused AdamW, clipping and a
linear schedule everywhere; no logging, evaluation or saving. Start-up is measured in fresh processes, steps in one
process, both in rounds that take the loops in turn, because the machine is noisy: ratios are taken within a round,
and of CPU time, which other people's jobs disturb less than the clock.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported, here and in the processes started below

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median, quantiles
from typing import NamedTuple

N_STEPS, BATCH, N_TOKENS = 16, 32, 24
# on a busy machine fewer rounds are made, so that the whole stays under two minutes
STEP_ROUNDS, STEP_SECONDS = 16, 40
STARTUP_ROUNDS, STARTUP_SECONDS = 4, 35
LR, WEIGHT_DECAY, CLIP, WARM_UP = 1e-3, 0.01, 1.0, 0.1
LOOPS = ("bare, sliced", "bare, loader", "accelerate", "trainer")  # the first is the yardstick


def rounds(at_most: int, seconds: float) -> Iterator[int]:
    """Count rounds until there are enough or the time is up, at least two of them."""
    began = time.perf_counter()
    for turn in range(at_most):
        if turn >= 2 and time.perf_counter() - began > seconds:
            return
        yield turn


class Now(NamedTuple):
    wall: float
    cpu: float


def now() -> Now:
    return Now(time.perf_counter(), time.process_time())


def children() -> Now:
    """The clock, and the CPU time of the processes started so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Now(time.perf_counter(), used.ru_utime + used.ru_stime)


def tiny_model():
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    # no dropout, so that all loops must end with the same weights
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=1000, hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=256,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=4,
        )
    )  # fmt: skip


def examples() -> dict:
    import torch

    generator = torch.Generator().manual_seed(1)
    n = N_STEPS * BATCH
    ids = torch.randint(5, 1000, (n, N_TOKENS), generator=generator)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids[:, 1] % 4}


def rows_of(columns: dict) -> list[dict]:
    return [{name: column[i] for name, column in columns.items()} for i in range(len(columns["labels"]))]


def stacked(rows: list[dict]) -> dict:
    import torch

    return {name: torch.stack([row[name] for row in rows]) for name in rows[0]}


def loader(rows: list[dict]):
    from torch.utils.data import DataLoader

    return DataLoader(rows, batch_size=BATCH, collate_fn=stacked)


def sliced(columns: dict) -> Iterator[dict]:
    for start in range(0, len(columns["labels"]), BATCH):
        yield {name: column[start : start + BATCH] for name, column in columns.items()}


def optimiser_and_schedule(model):
    import torch

    from workflow.lib.training.learning_rates import parameter_groups

    optimiser = torch.optim.AdamW(
        parameter_groups(model.bert, model.classifier, LR, weight_decay=WEIGHT_DECAY), fused=True
    )
    rising = max(1, round(WARM_UP * N_STEPS))

    def factor(step: int) -> float:
        return step / rising if step < rising else (N_STEPS - step) / (N_STEPS - rising)

    return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


# Each `prepare_…` returns a function that trains and yields the time after every step; data exist beforehand.


def prepare_bare(model, batches: Callable[[], Iterator[dict]]) -> Callable[[], list[Now]]:
    import torch

    optimiser, schedule = optimiser_and_schedule(model)
    parameters = list(model.parameters())

    def train() -> list[Now]:
        model.train()
        times = []
        for batch in batches():
            model(**batch).loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, CLIP)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            times.append(now())
        return times

    return train


def prepare_accelerate(model, rows: list[dict]) -> Callable[[], list[Now]]:
    import torch
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    ready, optimiser, batches, schedule = accelerator.prepare(model, *_with_loader(model, rows))

    def train() -> list[Now]:
        ready.train()
        times = []
        for batch in batches:
            with accelerator.accumulate(ready):
                accelerator.backward(ready(**batch).loss)
                if accelerator.sync_gradients:
                    accelerator.unscale_gradients()  # clipping as in workflow/lib/training/loop.py
                    torch.nn.utils.clip_grad_norm_(ready.parameters(), CLIP)
                optimiser.step()
                schedule.step()
                optimiser.zero_grad()
            times.append(now())
        return times

    return train


def _with_loader(model, rows: list[dict]) -> tuple:
    optimiser, schedule = optimiser_and_schedule(model)
    return optimiser, loader(rows), schedule


def prepare_trainer(model, rows: list[dict], folder: str) -> Callable[[], list[Now]]:
    from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

    times = []

    class Clock(TrainerCallback):
        def on_step_end(self, *_, **__):
            times.append(now())

    arguments = TrainingArguments(
        output_dir=folder, use_cpu=True, max_steps=N_STEPS, per_device_train_batch_size=BATCH,
        train_sampling_strategy="sequential", optim="adamw_torch_fused", learning_rate=LR, weight_decay=WEIGHT_DECAY,
        max_grad_norm=CLIP, lr_scheduler_type="linear", warmup_steps=round(WARM_UP * N_STEPS), logging_strategy="no",
        save_strategy="no", eval_strategy="no", report_to="none", disable_tqdm=True, dataloader_pin_memory=False,
        remove_unused_columns=False,
    )  # fmt: skip
    trainer = Trainer(model=model, args=arguments, train_dataset=rows, data_collator=stacked, callbacks=[Clock()])
    trainer.remove_callback(PrinterCallback)

    def train() -> list[Now]:
        trainer.train()
        return times

    return train


def prepare(loop: str, model, columns: dict, rows: list[dict], folder: str) -> Callable[[], list[Now]]:
    if loop == "trainer":
        return prepare_trainer(model, rows, folder)
    if loop == "accelerate":
        return prepare_accelerate(model, rows)
    if loop == "bare, loader":
        return prepare_bare(model, lambda: iter(loader(rows)))
    return prepare_bare(model, lambda: sliced(columns))


def start_up(loop: str) -> dict[str, float]:
    """In a fresh process: seconds to import what the loop needs (the model class included), and to build it."""
    began = time.perf_counter()
    import torch  # noqa: F401
    from transformers import BertForSequenceClassification  # noqa: F401

    import workflow.lib.training.learning_rates  # noqa: F401

    if loop == "accelerate":
        from accelerate import Accelerator  # noqa: F401
    elif loop == "trainer":
        from transformers import Trainer, TrainingArguments  # noqa: F401
    imported = time.perf_counter()
    model, columns = tiny_model(), examples()
    rows = rows_of(columns)
    ready = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        prepare(loop, model, columns, rows, folder)
        built = time.perf_counter()
    return {"import": imported - began, "build": built - ready}


def start_up_rounds() -> dict[str, list[dict[str, float]]]:
    loops = ("bare, sliced", "accelerate", "trainer")
    found = {loop: [] for loop in loops}
    for turn in rounds(STARTUP_ROUNDS, STARTUP_SECONDS):
        for loop in rotated(loops, turn):
            began = children()
            command = [sys.executable, "-m", "tests.benchmarks.bench_training_loop", loop]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            ended = children()
            whole = {"process": ended.wall - began.wall, "cpu": ended.cpu - began.cpu}
            found[loop].append(json.loads(answer.splitlines()[-1]) | whole)
    return found


def step_rounds() -> tuple[dict[str, list[dict[str, float]]], float]:
    """Seconds per step and per call around the steps, for each loop and round; and how far final weights differ."""
    import torch

    torch.set_num_threads(1)
    columns = examples()
    rows = rows_of(columns)
    found, finals = {loop: [] for loop in LOOPS}, {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in rounds(STEP_ROUNDS + 1, STEP_SECONDS):
            for loop in rotated(LOOPS, turn):
                model = tiny_model()
                train = prepare(loop, model, columns, rows, folder)
                began = now()
                times = train()
                ended = now()
                assert len(times) == N_STEPS
                # low quantiles, because others' jobs only ever slow a step down; the first step is left out, because
                # it pays for the optimiser's state
                step = lower_quartile([later.wall - earlier.wall for earlier, later in pairwise(times)])
                cpu = lower_quartile([later.cpu - earlier.cpu for earlier, later in pairwise(times)])
                call = (ended.cpu - times[-1].cpu) + max(0.0, times[0].cpu - began.cpu - cpu)
                if turn:  # the first round only warms up
                    found[loop].append({"step": step, "cpu": cpu, "call": call})
                finals[loop] = torch.cat([p.detach().flatten() for p in model.parameters()])
    return found, max(float((finals[loop] - finals[LOOPS[0]]).abs().max()) for loop in LOOPS)


def rotated(loops: tuple[str, ...], turn: int) -> tuple[str, ...]:
    shift = turn % len(loops)
    return loops[shift:] + loops[:shift]


def against_first(found: dict[str, list[dict[str, float]]], key: str) -> dict[str, list[float]]:
    first = found[next(iter(found))]
    return {loop: [mine[key] / base[key] for mine, base in zip(entries, first)] for loop, entries in found.items()}


def lower_quartile(values: list[float]) -> float:
    return quantiles(values, n=4)[0]


def middle(entries: list[dict[str, float]], key: str) -> float:
    return median(entry[key] for entry in entries)


def shown(ratios: list[float]) -> str:
    spread = f"({min(ratios):.2f} .. {max(ratios):.2f})"
    return f"{median(ratios):>8.2f}{spread:>17}"


def main() -> None:
    began = time.perf_counter()
    steps, difference = step_rounds()  # first, because it also warms the file cache for the imports
    starts = start_up_rounds()

    n_rounds = len(steps[LOOPS[0]])
    print(f"\nsteps: {n_rounds} rounds of {N_STEPS}, one thread; CPU ratio to '{LOOPS[0]}' within a round")
    print(f"{'loop':<14}{'wall ms':>9}{'cpu ms':>9}{'ratio':>8}{'(min .. max)':>17}{'ms around steps':>17}")
    for loop, ratios in against_first(steps, "cpu").items():
        wall, cpu, around = (1e3 * middle(steps[loop], key) for key in ("step", "cpu", "call"))
        print(f"{loop:<14}{wall:>9.2f}{cpu:>9.2f}{shown(ratios)}{around:>17.1f}")
    print(f"largest difference between final weights: {difference:.1e}")

    print(f"\nstart-up: {len(starts[LOOPS[0]])} fresh processes each, warm file cache; medians; ratio of CPU time")
    print(f"{'loop':<14}{'import s':>10}{'build ms':>10}{'process s':>11}{'cpu s':>8}{'ratio':>8}{'(min .. max)':>17}")
    for loop, ratios in against_first(starts, "cpu").items():
        imports, build, process, cpu = (middle(starts[loop], key) for key in ("import", "build", "process", "cpu"))
        print(f"{loop:<14}{imports:>10.2f}{1e3 * build:>10.1f}{process:>11.2f}{cpu:>8.2f}{shown(ratios)}")

    print("\na whole job in its own process (start-up + n steps), CPU seconds")
    print(f"{'loop':<14}" + "".join(f"{n:>9}" for n in (75, 300, 2500)))
    for loop, entries in starts.items():
        fixed, step = middle(entries, "cpu") + middle(steps[loop], "call"), middle(steps[loop], "cpu")
        print(f"{loop:<14}" + "".join(f"{fixed + n * step:>9.2f}" for n in (75, 300, 2500)))
    print(f"\nmeasured in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(start_up(sys.argv[1])))
    else:
        main()
