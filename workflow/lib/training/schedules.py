"""Learning-rate schedules: a factor for every step, from warm-up to the end."""


def slanted_triangle(step: int, n_steps: int, warmup: float, floor: float = 0.0) -> float:
    """Linear increase during `warmup` (a share of the steps), then linear decrease to `floor` (ULMFiT's schedule).

    With floor 0 this is BERT's linear schedule with warm-up, which Matton and de Oliveira use.
    """
    n_up = max(1, round(warmup * n_steps))
    if step < n_up:
        return floor + (1 - floor) * step / n_up
    return floor + (1 - floor) * max(0, n_steps - step) / max(1, n_steps - n_up)


def constant(step: int, n_steps: int, warmup: float, floor: float = 0.0) -> float:
    return 1.0


SCHEDULES = {"slanted": slanted_triangle, "linear": slanted_triangle, "constant": constant}
