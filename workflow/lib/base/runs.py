"""Model names for repetitions that several papers use: encoders x fine-tuning seeds, and sweeps of recipes."""

from collections.abc import Callable

from workflow.lib.base.names import tuned
from workflow.lib.encoders.shapes import layers_of


def runs(section: dict) -> list[tuple[str, int]]:
    """(encoder, fine-tuning seed) of every repetition; spreads are computed over these."""
    return [(encoder, seed) for encoder in section["encoders"] for seed in section["seeds"]]


def spread_over(encoders: int, seeds: int = 1, seeds_are: str = "fine-tuning seeds") -> str:
    """For captions: what a standard deviation is taken over."""
    parts = [f"{n} {what}" for n, what in ((encoders, "pre-trained encoders"), (seeds, seeds_are)) if n > 1]
    return f"one standard deviation over {' x '.join(parts)}" if parts else "not shown (no repetitions)"


def tuned_models(section: dict, tasks: list[str]) -> list[str]:
    return [tuned(encoder, task, seed=seed) for task in tasks for encoder, seed in runs(section)]


def sweep_models(config: dict, section: dict, recipes: Callable[[int], list[str]]) -> list[str]:
    """Models of which only scores and weight distances are kept. `recipes`: number of layers -> recipes."""
    return [
        tuned(encoder, task, recipe, seed=seed)
        for task in section["tasks"]
        for encoder, seed in runs(section)
        for recipe in recipes(layers_of(config, encoder))
    ]
