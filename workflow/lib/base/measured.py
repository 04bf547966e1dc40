"""Measured numbers, named like the paper's published ones, with tolerated differences."""

import pandas as pd

from workflow.lib.base.repetitions import spread

KEYS = ["artifact", "series", "x"]
Tolerances = dict[tuple[str, ...], float]  # by artifact; by artifact and series, x or both where they differ


def tolerance_of(tolerances: Tolerances, artifact: str, series: str, x: str) -> float:
    """The most special one; NaN where none is set."""
    keys = ((artifact, series, x), (artifact, series), (artifact, x), (artifact,))
    return next((tolerances[key] for key in keys if key in tolerances), float("nan"))


def summarised(rows: list[tuple], tolerances: Tolerances) -> pd.DataFrame:
    """Columns artifact, series, x, measured, sd, n, tolerance. `rows`: (artifact, series, x, value) per repetition."""
    frame = spread(pd.DataFrame(rows, columns=[*KEYS, "value"]), KEYS, "value").rename(columns={"mean": "measured"})
    allowed = [tolerance_of(tolerances, *key) for key in zip(*(frame[name] for name in KEYS))]
    return frame.assign(tolerance=pd.Series(allowed, dtype=float))
